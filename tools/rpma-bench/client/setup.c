/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setup.c -- threads first, then the memory they make, then the server's side,
 * and the lanes at last; taken down in reverse.
 */
#include "setup.h"

#include <stdio.h>
#include <stdlib.h>

#include "control.h"
#include "persist_choice.h"
#include "tools/common/host/open_files.h"
#include "tools/rpma-bench/measure/op/table.h"

/* The probe is one operation; a device that never answers is a failure of its own. */
#define PROBE_NS 1000000000ULL

static uint64_t target_bytes(const struct rig *rig)
{
	return rig->run->record.server.offer.targets[rig->params.target].bytes;
}

/* A job: the memory of a thread's lanes is made by that thread. */
static int make_memory(void *arg, uint32_t thread)
{
	struct rig *rig = arg;
	const struct lane_memory_cfg cfg = {
		.peer = rig->run->peer,
		.params = &rig->params,
		.operation = rig->operation,
		.reads = operation_of_reads(&rig->params),
		.target_bytes = target_bytes(rig),
		.seed = rig->begin.seed,
		.topology = rig->run->record.topology,
		.node = rig->run->record.placement.node,
	};

	return lane_memory_make(&rig->memory[thread], &cfg,
				&rig->lanes[(size_t)thread * rig->params.connections],
				rig->params.connections);
}

static int make_lanes(struct rig *rig)
{
	uint32_t count = params_lanes(&rig->params);
	enum rpma_flush_type flush =
		persisting_flush(&rig->run->record.server.offer, rig->params.target);

	rig->lanes = calloc(count, sizeof(*rig->lanes));
	rig->memory = calloc(rig->params.threads, sizeof(*rig->memory));
	if (rig->lanes == NULL || rig->memory == NULL)
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		rig->lanes[i].index = i;
		rig->lanes[i].flush_type = flush;
	}
	return workers_do(rig->workers, make_memory, rig);
}

/* Not being allowed to bind is worth a warning. */
static void note_unbound(struct rig *rig)
{
	struct placement *p = &rig->run->record.placement;
	int cpu = -1, error = workers_unbound(rig->workers, &cpu);

	if (error != 0)
		placement_pin_refused(p, cpu, error);
	for (uint32_t i = 0; rig->memory != NULL && i < rig->params.threads; i++) {
		if (rig->memory[i].bind_error != 0)
			placement_memory_refused(p, rig->memory[i].bind_error);
		if (rig->memory[i].bytes != NULL)
			placement_memory_made(p, rig->memory[i].bytes);
	}
}

static int start_workers(struct rig *rig)
{
	const struct workers_cfg cfg = {
		.params = &rig->params,
		.operation = rig->operation,
		.reads = operation_of_reads(&rig->params),
		.clock = &rig->run->record.clock,
		.topology = rig->run->record.topology,
		.cpus = rig->run->record.placement.cpus,
		.seed = rig->begin.seed,
		.warmup_ns = rig->begin.warmup_ns,
		.duration_ns = rig->begin.duration_ns,
		.ops = rig->begin.ops,
	};

	return workers_new(&rig->workers, &cfg);
}

void rig_init(struct rig *rig, struct run *run, const struct plan_item *item, uint64_t seed)
{
	const struct options *o = run->record.options;

	*rig = (struct rig){.run = run, .remote = &run->remote};
	rig->params = run->record.plan.points[item->point];
	rig->params.target = run->record.targets[rig->params.target];
	rig->begin = (struct message_begin){
		.repeat = item->repeat,
		.seed = seed,
		.warmup_ns = o->warmup_ns,
		.duration_ns = o->duration_ns,
		.ops = o->ops,
		.verify = o->verify && params_verifiable(&rig->params),
	};
}

bool rig_has_lanes(const struct rig *rig)
{
	return params_has_operations(&rig->params);
}

/* How many files a connection takes is its device's affair: the first ones tell of all. */
static int check_files(const struct rig *rig, size_t before)
{
	char what[LINK_PEER_MAX + 32];

	snprintf(what, sizeof(what), "%u connections to %s", params_lanes(&rig->params),
		 rig->remote->name);
	return open_files_check(what, before, params_lanes(&rig->params));
}

static int connect_lanes(struct rig *rig)
{
	size_t before = open_files_count();
	int ret = 0;

	for (uint32_t i = 0; i < params_lanes(&rig->params) && ret == 0; i++) {
		ret = connection_lane(rig->remote, rig->run->peer, &rig->ready, &rig->params,
				      &rig->lanes[i]);
		if (ret == 0 && i + 1 == OPEN_FILES_SAMPLE)
			ret = check_files(rig, before);
	}
	return ret;
}

/* Both sides are ready when it gives 0; else close_stage is still to be called. */
static int open_with(struct rig *rig, enum bench_persist persist)
{
	int ret;

	rig->params.persist = persist;
	rig->operation = operation_find(rig->params.op, persist);
	if (rig->operation == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "--op %s has no --persist %s",
				   params_ops[rig->params.op], params_persists[persist]);
	rig->begin.params = rig->params;
	ret = start_workers(rig);
	if (ret)
		return ret;
	if (rig_has_lanes(rig) && (ret = make_lanes(rig)))
		return ret;
	note_unbound(rig);
	if (rig->params.bidirectional &&
	    (ret = exposed_make(&rig->exposed, rig->run->peer, target_bytes(rig), &rig->begin)))
		return ret;
	ret = connection_begin(rig->remote, &rig->begin, &rig->ready);
	return ret || !rig_has_lanes(rig) ? ret : connect_lanes(rig);
}

void rig_close(struct rig *rig)
{
	for (uint32_t i = 0; rig->lanes != NULL && i < params_lanes(&rig->params); i++)
		lane_detach(&rig->lanes[i]);
	for (uint32_t i = 0; rig->memory != NULL && i < rig->params.threads; i++)
		lane_memory_free(&rig->memory[i]);
	exposed_free(&rig->exposed);
	workers_delete(&rig->workers);
	free(rig->lanes);
	free(rig->memory);
	rig->lanes = NULL;
	rig->memory = NULL;
}

/* One operation shows how flushes, or atomic writes, complete here. */
static int probe(struct rig *rig, const struct operation *operation, struct measured *measured)
{
	const struct measure_cfg cfg = {
		.operation = operation,
		.lanes = rig->lanes,
		.lanes_count = 1,
		.clock = &rig->run->record.clock,
		.depth = rig->params.depth,
		.signal_every = 1,
		.completion = BENCH_POLL,
		.duration_ns = PROBE_NS,
		.limit_ns = PROBE_NS,
		.max_ops = 1,
	};
	struct measure_slots *slots = measure_slots_new(1, rig->params.depth);
	int ret;

	if (slots == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	ret = measure_run(&cfg, slots, measured);
	measure_slots_delete(slots);
	return ret;
}

static int probe_flush(struct rig *rig, bool *native)
{
	struct measured measured = {0};
	int ret = probe(rig, rig->operation, &measured);

	*native = ret == 0 && measured.native_flush;
	return ret;
}

static int probe_atomic_write(struct rig *rig)
{
	struct measured measured = {0};
	int ret = probe(rig, rig->operation->up_to_atomic_write, &measured);

	rig->native_atomic_write = ret == 0 && measured.native_atomic_write;
	return ret;
}

int rig_give_up(struct rig *rig)
{
	json_t *report = NULL;
	int ret = connection_end(rig->remote, rig->lanes, params_lanes(&rig->params), &report);

	json_decref(report);
	rig_close(rig);
	return ret;
}

/* auto: native where the first flush was one, and on that stage; else another stage. */
static int open_chosen(struct rig *rig)
{
	struct persist_choice *choice = &rig->run->record.chosen[rig->params.target];
	enum bench_persist first =
		persisting_first(&rig->run->record.server.offer, rig->params.target, choice);
	bool native = false;
	int ret = open_with(rig, first);

	if (ret || choice->made)
		return ret;
	ret = probe_flush(rig, &native);
	if (ret)
		return ret;
	persisting_settle(choice, native);
	if (native)
		return 0;
	ret = rig_give_up(rig);
	return ret ? ret : open_with(rig, choice->persist);
}

int rig_open(struct rig *rig)
{
	bool native = false;
	int ret;

	if (rig->params.persist == BENCH_AUTO)
		return open_chosen(rig);
	ret = open_with(rig, rig->params.persist);
	if (ret == 0 && rig->operation->up_to_atomic_write != NULL)
		return probe_atomic_write(rig);
	if (ret || rig->params.persist != BENCH_NATIVE)
		return ret;
	ret = probe_flush(rig, &native);
	if (ret || native)
		return ret;
	ret = rig_give_up(rig);
	return ret ? ret : persisting_not_native(rig->remote->name);
}
