/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat_run.c -- one repeat of one point: warm-up, measurement, the server's
 * report.
 */
#include "repeat_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base/thread.h"
#include "common/json/counters.h"
#include "connect_test.h"
#include "control.h"
#include "live_view.h"
#include "setup.h"
#include "tools/rpma-bench/measure/op/table.h"

struct item {
	struct repeat_setup setup;
	struct repeat repeat;
};

/* Another seed for each repeat of each point, the same ones for the same seed of the run. */
static uint64_t seed_of(const struct run *run, const struct plan_item *item)
{
	uint64_t x = run->record.seed +
		     0x9e3779b97f4a7c15ULL * (item->point * PLAN_ITEMS_MAX + item->repeat + 1);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static void init(struct item *it, struct run *run, size_t order)
{
	const struct plan_item *place = &run->record.plan.items[order];

	memset(it, 0, sizeof(*it));
	repeat_setup_init(&it->setup, run, place, seed_of(run, place));
	it->repeat.index = place->repeat;
	it->repeat.order = order;
}

/* Sleeps while the threads are at it; a signal, or a server that left, ends them too. */
static int await_workers(struct item *it, const struct connection_watch *watch)
{
	int ret = connection_wait(it->setup.remote, workers_done_fd(it->setup.workers), watch);
	struct failure why = *failure_get();

	if (ret == 0)
		return workers_end(it->setup.workers);
	workers_stop(it->setup.workers);
	/* their errors only repeat ours */
	workers_end(it->setup.workers);
	*failure_get() = why;
	return ret;
}

/* All who measure together begin a phase at the same time. */
static int start(struct item *it, enum message_phase phase)
{
	const struct barrier *barrier = it->setup.run->barrier;
	int ret = barrier != NULL ? barrier->wait(barrier->arg, phase) : 0;

	if (ret == 0 && phase == PHASE_MEASURE)
		interference_begin(&it->repeat.interference, &it->setup.run->record.sysroot);
	return ret ? ret : connection_start(it->setup.remote, phase);
}

static const struct connection_watch nothing_else = {.fd = -1};

static int warm_up(struct item *it)
{
	int ret;

	if (it->setup.begin.warmup_ns == 0)
		return 0;
	ret = start(it, PHASE_WARMUP);
	if (ret)
		return ret;
	workers_begin(it->setup.workers, it->setup.lanes.all, PHASE_WARMUP);
	ret = await_workers(it, &nothing_else);
	return ret == 0 && cli_signal != 0 ? -ECANCELED : ret;
}

/* Processor time of this process, and what its device counted, around the measurement. */
struct usage_snapshot {
	uint64_t begin_ns;
	struct rusage before;
	json_t *counters;
};

static void look_before(const struct item *it, struct usage_snapshot *usage)
{
	usage->counters =
		counters_read(&it->setup.run->record.sysroot, it->setup.run->record.device.name);
	usage->begin_ns = clock_raw_ns();
	getrusage(RUSAGE_SELF, &usage->before);
}

static void look_after(struct item *it, const struct usage_snapshot *usage)
{
	struct rusage now;

	getrusage(RUSAGE_SELF, &now);
	it->repeat.process_wall_ns = clock_raw_ns() - usage->begin_ns;
	it->repeat.process_user_ns =
		thread_time_ns(now.ru_utime) - thread_time_ns(usage->before.ru_utime);
	it->repeat.process_sys_ns =
		thread_time_ns(now.ru_stime) - thread_time_ns(usage->before.ru_stime);
	counters_settle(&it->setup.run->record.sysroot, it->setup.run->record.device.name);
	it->repeat.counters =
		counters_between(usage->counters, counters_read(&it->setup.run->record.sysroot,
								it->setup.run->record.device.name));
}

/* -ECANCELED with figures in the repeat: what there was up to the signal. */
static int measure_lanes(struct item *it)
{
	struct usage_snapshot usage;
	struct live_view view;
	int ret = warm_up(it);

	if (ret == 0)
		ret = start(it, PHASE_MEASURE);
	if (ret)
		return ret;
	look_before(it, &usage);
	workers_begin(it->setup.workers, it->setup.lanes.all, PHASE_MEASURE);
	live_view_open(&view, it->setup.run, it->repeat.order, it->setup.workers);
	ret = await_workers(it, &view.watch);
	live_view_close(&view);
	look_after(it, &usage);
	if (ret != 0 && ret != -ECANCELED)
		return ret;
	if (repeat_collect(&it->repeat, it->setup.workers, &it->setup.begin) != 0)
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	if (ret == 0 && !it->repeat.complete)
		ret = -ECANCELED;
	return ret;
}

static int measure_connects(struct item *it)
{
	struct connect_test test = {
		.remote = it->setup.remote,
		.clock = &it->setup.run->record.clock,
		.ready = it->setup.ready,
		.workers = it->setup.workers,
		.begin = &it->setup.begin,
		.repeat = &it->repeat,
	};
	struct usage_snapshot usage;
	int ret = start(it, PHASE_MEASURE);

	if (ret)
		return ret;
	look_before(it, &usage);
	workers_begin_job(it->setup.workers, connect_test_run, &test);
	ret = await_workers(it, &nothing_else);
	look_after(it, &usage);
	if (ret == 0 && !it->repeat.complete)
		ret = -ECANCELED;
	return ret;
}

/* The server measures; all figures are in its report. */
static int measure_registrations(struct item *it)
{
	it->repeat.complete = true;
	return start(it, PHASE_MEASURE);
}

static void describe(struct item *it)
{
	const struct operation *o = it->setup.operation;
	struct repeat *r = &it->repeat;

	r->params = it->setup.params;
	r->latency_kind = operation_latency_kind(&r->params, r->native_flush);
	if (o->flushes)
		r->flush = it->setup.lanes.all[0].flush_type == RPMA_FLUSH_TYPE_PERSISTENT
				   ? "persistent"
				   : "visibility";
	r->rpmem = it->setup.pool != NULL;
	if (r->rpmem)
		r->rpmem_facts = remote_pool_facts(it->setup.pool);
	if (repeat_setup_has_lanes(&it->setup))
		link_facts_take(&r->connection, it->setup.lanes.all[0].link);
	/* it names this host */
	if (it->setup.run->record.options->anonymous)
		r->connection.gid[0] = '\0';
	r->huge_buffers = it->setup.run->record.options->huge_buffers;
	r->atomic_writes = operation_is_atomic(o);
	if (o->up_to_atomic_write != NULL)
		r->native_atomic_write = it->setup.native_atomic_write;
}

/* The server measures until its client ends the repeat; registrations it ends by itself. */
static int finish(struct item *it, uint32_t lanes)
{
	struct interference *seen = &it->repeat.interference;
	const struct sysroot *root = &it->setup.run->record.sysroot;
	bool waits = it->setup.params.test == BENCH_REGISTER;
	int ret;

	if (!waits)
		interference_end(seen, root);
	ret = connection_end(it->setup.remote, it->setup.lanes.all, lanes, &it->repeat.server);
	if (waits)
		interference_end(seen, root);
	return ret;
}

static int measure(struct item *it)
{
	uint32_t lanes =
		it->setup.params.test != BENCH_REGISTER ? params_lanes(&it->setup.params) : 0;
	int ret;

	if (it->setup.params.test == BENCH_CONNECT)
		ret = measure_connects(it);
	else if (it->setup.params.test == BENCH_REGISTER)
		ret = measure_registrations(it);
	else
		ret = measure_lanes(it);
	/* a lane that failed as the signal came did not see it */
	if (ret != 0)
		it->repeat.complete = false;
	describe(it);
	return ret == 0 ? finish(it, lanes) : ret;
}

int item_measure(struct run *run, size_t order, json_t **repeat)
{
	struct item it;
	int ret;

	init(&it, run, order);
	ret = repeat_setup_open(&it.setup);
	if (ret == 0)
		ret = measure(&it);
	if (ret == 0 || (ret == -ECANCELED && it.repeat.ops > 0)) {
		*repeat = repeat_json(&it.repeat);
		if (*repeat == NULL)
			ret = failure_set(EXIT_INTERNAL, "measure", "out of memory");
	}
	repeat_setup_close(&it.setup);
	repeat_clear(&it.repeat);
	return ret;
}
