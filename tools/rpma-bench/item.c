/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * item.c -- one repeat of one point: threads and memory, the server's side,
 * lanes, warm-up, measurement, the server's report.
 */
#include "item.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../common/counters.h"
#include "../common/thread.h"
#include "connect_test.h"
#include "connection.h"
#include "exposed.h"
#include "lane_memory.h"
#include "persisting.h"
#include "worker.h"

/* The probe is one operation; a device that never answers is a failure of its own. */
#define PROBE_NS 1000000000ULL

struct item {
	struct run *run;
	const struct remote *remote;
	struct params params; /* what is measured: persist and target are resolved */
	const struct operation *operation;
	struct message_begin begin;
	struct message_ready ready;
	struct workers *workers;
	struct lane *lanes;
	struct lane_memory *memory; /* of each thread */
	struct exposed exposed;
	struct repeat repeat;
};

/* Another seed for each repeat of each point, the same ones for the same seed of the run. */
static uint64_t seed_of(const struct run *run, const struct plan_item *item)
{
	uint64_t x = run->seed +
		     0x9e3779b97f4a7c15ULL * (item->point * PLAN_ITEMS_MAX + item->repeat + 1);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static void init(struct item *it, struct run *run, size_t order)
{
	const struct plan_item *place = &run->plan.items[order];
	const struct options *o = run->options;

	*it = (struct item){.run = run, .remote = &run->remote};
	it->params = run->plan.points[place->point];
	it->params.target = run->targets[it->params.target];
	it->begin = (struct message_begin){
		.repeat = place->repeat,
		.seed = seed_of(run, place),
		.warmup_ns = o->warmup_ns,
		.duration_ns = o->duration_ns,
		.ops = o->ops,
		.verify = o->verify && params_writes(&it->params),
	};
	it->repeat.index = place->repeat;
	it->repeat.order = order;
}

static uint64_t target_bytes(const struct item *it)
{
	return it->remote->offer.targets[it->params.target].bytes;
}

/* A job: the memory of a thread's lanes is made by that thread. */
static int make_memory(void *arg, uint32_t thread)
{
	struct item *it = arg;
	const struct lane_memory_cfg cfg = {
		.peer = it->run->peer,
		.params = &it->params,
		.operation = it->operation,
		.reads = it->params.test == BENCH_MIX ? operation_find(BENCH_READ, BENCH_NONE)
						      : NULL,
		.target_bytes = target_bytes(it),
		.seed = it->begin.seed,
		.topology = it->run->topology,
		.node = it->run->placement.node,
	};

	return lane_memory_make(&it->memory[thread], &cfg,
				&it->lanes[(size_t)thread * it->params.connections],
				it->params.connections);
}

static int make_lanes(struct item *it)
{
	uint32_t count = params_lanes(&it->params);
	enum rpma_flush_type flush = persisting_flush(&it->remote->offer, it->params.target);

	it->lanes = calloc(count, sizeof(*it->lanes));
	it->memory = calloc(it->params.threads, sizeof(*it->memory));
	if (it->lanes == NULL || it->memory == NULL)
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		it->lanes[i].index = i;
		it->lanes[i].flush_type = flush;
	}
	return workers_do(it->workers, make_memory, it);
}

/* Not being allowed to bind is worth a warning. */
static void note_unbound(struct item *it)
{
	struct placement *p = &it->run->placement;
	int cpu = -1, error = workers_unbound(it->workers, &cpu);

	if (error != 0)
		placement_pin_refused(p, cpu, error);
	for (uint32_t i = 0; it->memory != NULL && i < it->params.threads; i++) {
		if (it->memory[i].bind_error != 0)
			placement_memory_refused(p, it->memory[i].bind_error);
	}
}

static int start_workers(struct item *it)
{
	const struct workers_cfg cfg = {
		.params = &it->params,
		.clock = &it->run->clock,
		.topology = it->run->topology,
		.cpus = it->run->placement.cpus,
		.seed = it->begin.seed,
		.warmup_ns = it->begin.warmup_ns,
		.duration_ns = it->begin.duration_ns,
		.ops = it->begin.ops,
	};

	return workers_new(&it->workers, &cfg);
}

static bool has_lanes(const struct item *it)
{
	return it->params.test != BENCH_CONNECT && it->params.test != BENCH_REGISTER;
}

static int connect_lanes(struct item *it)
{
	int ret = 0;

	for (uint32_t i = 0; i < params_lanes(&it->params) && ret == 0; i++)
		ret = connection_lane(it->remote, it->run->peer, &it->ready, &it->params,
				      &it->lanes[i]);
	return ret;
}

/* Both sides are ready when it gives 0; else close_stage is still to be called. */
static int open_stage(struct item *it, enum bench_persist persist)
{
	int ret;

	it->params.persist = persist;
	it->operation = operation_find(it->params.op, persist);
	if (it->operation == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "--op %s has no --persist %s",
				   params_ops[it->params.op], params_persists[persist]);
	it->begin.params = it->params;
	ret = start_workers(it);
	if (ret)
		return ret;
	if (has_lanes(it) && (ret = make_lanes(it)))
		return ret;
	note_unbound(it);
	if (it->params.bidirectional &&
	    (ret = exposed_make(&it->exposed, it->run->peer, target_bytes(it), &it->begin)))
		return ret;
	ret = connection_begin(it->remote, &it->begin, &it->ready);
	return ret || !has_lanes(it) ? ret : connect_lanes(it);
}

static void close_stage(struct item *it)
{
	for (uint32_t i = 0; it->lanes != NULL && i < params_lanes(&it->params); i++)
		lane_detach(&it->lanes[i]);
	for (uint32_t i = 0; it->memory != NULL && i < it->params.threads; i++)
		lane_memory_free(&it->memory[i]);
	exposed_free(&it->exposed);
	workers_delete(&it->workers);
	free(it->lanes);
	free(it->memory);
	it->lanes = NULL;
	it->memory = NULL;
}

/* One operation tells how flushes complete here. */
static int probe(struct item *it, bool *native)
{
	const struct measure_cfg cfg = {
		.operation = it->operation,
		.lanes = it->lanes,
		.lanes_count = 1,
		.clock = &it->run->clock,
		.depth = it->params.depth,
		.signal_every = 1,
		.completion = BENCH_POLL,
		.duration_ns = PROBE_NS,
		.limit_ns = PROBE_NS,
		.max_ops = 1,
	};
	struct measure_slots *slots = measure_slots_new(1, it->params.depth);
	struct measured measured;
	int ret;

	if (slots == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	ret = measure_run(&cfg, slots, &measured);
	measure_slots_delete(slots);
	*native = ret == 0 && measured.native_flush;
	return ret;
}

/* Nothing was measured: the report is of no interest. */
static int give_up_stage(struct item *it)
{
	json_t *report = NULL;
	int ret = connection_end(it->remote, it->lanes, params_lanes(&it->params), &report);

	json_decref(report);
	close_stage(it);
	return ret;
}

/* auto: native where the first flush was one, and on that stage; else another stage. */
static int open_chosen(struct item *it)
{
	struct persist_choice *choice = &it->run->chosen[it->params.target];
	enum bench_persist first = persisting_first(&it->remote->offer, it->params.target, choice);
	bool native = false;
	int ret = open_stage(it, first);

	if (ret || choice->made)
		return ret;
	ret = probe(it, &native);
	if (ret)
		return ret;
	persisting_settle(choice, native);
	if (native)
		return 0;
	ret = give_up_stage(it);
	return ret ? ret : open_stage(it, choice->persist);
}

static int open_any(struct item *it)
{
	bool native = false;
	int ret;

	if (it->params.persist == BENCH_AUTO)
		return open_chosen(it);
	ret = open_stage(it, it->params.persist);
	if (ret || it->params.persist != BENCH_NATIVE)
		return ret;
	ret = probe(it, &native);
	return ret || native ? ret : persisting_not_native(it->remote);
}

/* Sleeps while the threads are at it; a signal, or a server that left, ends them too. */
static int await_workers(struct item *it)
{
	int waited = connection_wait(it->remote, workers_done_fd(it->workers));
	struct failure why = *failure_get();
	int ret;

	if (waited)
		workers_stop(it->workers);
	ret = workers_end(it->workers);
	/* what ended them is the cause, whatever they say of it */
	if (waited == 0)
		return ret;
	*failure_get() = why;
	return waited == -ECANCELED && ret != 0 && cli_signal == 0 ? ret : waited;
}

static int warm_up(struct item *it)
{
	int ret;

	if (it->begin.warmup_ns == 0)
		return 0;
	ret = connection_start(it->remote, PHASE_WARMUP);
	if (ret)
		return ret;
	workers_begin(it->workers, it->lanes, PHASE_WARMUP);
	ret = await_workers(it);
	return ret == 0 && cli_signal != 0 ? -ECANCELED : ret;
}

/* Processor time of this process, and what its device counted, around the measurement. */
struct around {
	struct rusage before;
	json_t *counters;
};

static void look_before(const struct item *it, struct around *around)
{
	around->counters = counters_read(&it->run->sysroot, it->run->device.name);
	getrusage(RUSAGE_SELF, &around->before);
}

static void look_after(struct item *it, const struct around *around)
{
	struct rusage now;

	getrusage(RUSAGE_SELF, &now);
	it->repeat.process_user_ns =
		thread_time_ns(now.ru_utime) - thread_time_ns(around->before.ru_utime);
	it->repeat.process_sys_ns =
		thread_time_ns(now.ru_stime) - thread_time_ns(around->before.ru_stime);
	it->repeat.counters = counters_between(
		around->counters, counters_read(&it->run->sysroot, it->run->device.name));
}

/* -ECANCELED with figures in the repeat: what there was up to the signal. */
static int measure_lanes(struct item *it)
{
	struct around around;
	int ret = warm_up(it);

	if (ret == 0)
		ret = connection_start(it->remote, PHASE_MEASURE);
	if (ret)
		return ret;
	look_before(it, &around);
	workers_begin(it->workers, it->lanes, PHASE_MEASURE);
	ret = await_workers(it);
	look_after(it, &around);
	if (ret != 0 && ret != -ECANCELED)
		return ret;
	if (workers_collect(it->workers, &it->repeat) != 0)
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	if (ret == 0 && !it->repeat.complete)
		ret = -ECANCELED;
	return ret;
}

static int measure_connects(struct item *it)
{
	struct connect_test test = {
		.remote = it->remote,
		.peer = it->run->peer,
		.clock = &it->run->clock,
		.ready = it->ready,
		.workers = it->workers,
		.warmup_ns = it->begin.warmup_ns,
		.duration_ns = it->begin.duration_ns,
		.ops = it->begin.ops,
		.repeat = &it->repeat,
	};
	struct around around;
	int ret = connection_start(it->remote, PHASE_MEASURE);

	if (ret)
		return ret;
	look_before(it, &around);
	workers_begin_job(it->workers, connect_test_run, &test);
	ret = await_workers(it);
	look_after(it, &around);
	if (ret == 0 && !it->repeat.complete)
		ret = -ECANCELED;
	return ret;
}

/* The server measures; all figures are in its report. */
static int measure_registrations(struct item *it)
{
	it->repeat.complete = true;
	return connection_start(it->remote, PHASE_MEASURE);
}

static void describe(struct item *it)
{
	const struct operation *o = it->operation;
	struct repeat *r = &it->repeat;

	r->params = it->params;
	r->latency_kind = o->latency_kind;
	if (it->params.test == BENCH_CONNECT)
		r->latency_kind = "connect";
	else if (it->params.test == BENCH_REGISTER)
		r->latency_kind = "mr_reg";
	/* only the completions tell how the device flushed */
	else if (it->params.persist == BENCH_APM && r->native_flush)
		r->latency_kind = operation_find(it->params.op, BENCH_NATIVE)->latency_kind;
	if (o->flushes)
		r->flush = it->lanes[0].flush_type == RPMA_FLUSH_TYPE_PERSISTENT ? "persistent"
										 : "visibility";
}

static int measure(struct item *it)
{
	uint32_t lanes = it->params.test != BENCH_REGISTER ? params_lanes(&it->params) : 0;
	int ret;

	if (it->params.test == BENCH_CONNECT)
		ret = measure_connects(it);
	else if (it->params.test == BENCH_REGISTER)
		ret = measure_registrations(it);
	else
		ret = measure_lanes(it);
	describe(it);
	if (ret == 0)
		ret = connection_end(it->remote, it->lanes, lanes, &it->repeat.server);
	return ret;
}

int item_measure(struct run *run, size_t order, json_t **repeat)
{
	struct item it;
	int ret;

	init(&it, run, order);
	ret = open_any(&it);
	if (ret == 0)
		ret = measure(&it);
	if (ret == 0 || (ret == -ECANCELED && it.repeat.ops > 0)) {
		*repeat = repeat_json(&it.repeat);
		if (*repeat == NULL)
			ret = failure_set(EXIT_INTERNAL, "measure", "out of memory");
	}
	close_stage(&it);
	repeat_clear(&it.repeat);
	return ret;
}
