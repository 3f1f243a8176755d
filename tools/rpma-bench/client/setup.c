/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setup.c -- threads first, then the memory they make, then the server's side,
 * and the lanes at last; taken down in reverse.
 */
#include "setup.h"

#include <stdio.h>

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

static int make_lanes(struct rig *rig)
{
	const struct record *record = &rig->run->record;
	const struct lanes_cfg cfg = {
		.peer = rig->remote->dial.peer,
		.params = &rig->params,
		.operation = rig->operation,
		.reads = operation_of_reads(&rig->params),
		.target_bytes = target_bytes(rig),
		.seed = rig->begin.seed,
		.topology = record->topology,
		.node = record->placement.node,
		.flush_type = persisting_flush(&record->server.offer, rig->params.target),
	};

	return lanes_make(&rig->lanes, &cfg, rig->workers);
}

/* Not being allowed to bind is worth a warning. */
static void note_unbound(struct rig *rig)
{
	struct placement *p = &rig->run->record.placement;
	int cpu = -1, error = workers_unbound(rig->workers, &cpu);

	if (error != 0)
		placement_pin_refused(p, cpu, error);
	for (uint32_t i = 0; rig->lanes.memory != NULL && i < rig->params.threads; i++) {
		const struct lane_memory *memory = &rig->lanes.memory[i];

		if (memory->bind_error != 0)
			placement_memory_refused(p, memory->bind_error);
		if (memory->bytes != NULL)
			placement_memory_made(p, memory->bytes);
	}
}

static int start_workers(struct rig *rig)
{
	const struct workers_cfg cfg = {
		.begin = &rig->begin,
		.operation = rig->operation,
		.reads = operation_of_reads(&rig->params),
		.clock = &rig->run->record.clock,
		.topology = rig->run->record.topology,
		.cpus = rig->run->record.placement.cpus,
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
		 rig->remote->dial.name);
	return open_files_check(what, before, params_lanes(&rig->params));
}

static int connect_lanes(struct rig *rig)
{
	size_t before = open_files_count();
	int ret = 0;

	for (uint32_t i = 0; i < params_lanes(&rig->params) && ret == 0; i++) {
		ret = connection_lane(rig->remote, &rig->ready, &rig->params, &rig->lanes.all[i]);
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
	    (ret = exposed_make(&rig->exposed, rig->remote->dial.peer,
				rig->remote->dial.device.name, target_bytes(rig), &rig->begin)))
		return ret;
	ret = connection_begin(rig->remote, &rig->begin, &rig->ready);
	return ret || !rig_has_lanes(rig) ? ret : connect_lanes(rig);
}

void rig_close(struct rig *rig)
{
	lanes_free(&rig->lanes);
	exposed_free(&rig->exposed);
	workers_delete(&rig->workers);
}

/* One operation shows how flushes, or atomic writes, complete here. */
static int probe(struct rig *rig, const struct operation *operation, struct measured *measured)
{
	const struct measure_cfg cfg = {
		.operation = operation,
		.lanes = rig->lanes.all,
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
	int ret = connection_end(rig->remote, rig->lanes.all, params_lanes(&rig->params), &report);

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
	return ret ? ret : persisting_not_native(rig->remote->dial.name);
}
