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

#include "connect_test.h"
#include "control.h"
#include "setup.h"
#include "tools/common/base/thread.h"
#include "tools/common/json/counters.h"
#include "tools/rpma-bench/measure/op/table.h"

struct item {
	struct rig rig;
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
	rig_init(&it->rig, run, place, seed_of(run, place));
	it->repeat.index = place->repeat;
	it->repeat.order = order;
}

/* Sleeps while the threads are at it; a signal, or a server that left, ends them too. */
static int await_workers(struct item *it)
{
	int ret = connection_wait(it->rig.remote, workers_done_fd(it->rig.workers));
	struct failure why = *failure_get();

	if (ret == 0)
		return workers_end(it->rig.workers);
	workers_stop(it->rig.workers);
	/* what the threads say of it is no news */
	workers_end(it->rig.workers);
	*failure_get() = why;
	return ret;
}

/* All who measure together begin a phase at the same time. */
static int start(struct item *it, enum message_phase phase)
{
	const struct together *together = it->rig.run->together;
	int ret = together != NULL ? together->meet(together->arg, phase) : 0;

	if (ret == 0 && phase == PHASE_MEASURE)
		interference_begin(&it->repeat.interference, &it->rig.run->record.sysroot);
	return ret ? ret : connection_start(it->rig.remote, phase);
}

static int warm_up(struct item *it)
{
	int ret;

	if (it->rig.begin.warmup_ns == 0)
		return 0;
	ret = start(it, PHASE_WARMUP);
	if (ret)
		return ret;
	workers_begin(it->rig.workers, it->rig.lanes.all, PHASE_WARMUP);
	ret = await_workers(it);
	return ret == 0 && cli_signal != 0 ? -ECANCELED : ret;
}

/* Processor time of this process, and what its device counted, around the measurement. */
struct around {
	uint64_t begin_ns;
	struct rusage before;
	json_t *counters;
};

static void look_before(const struct item *it, struct around *around)
{
	around->counters =
		counters_read(&it->rig.run->record.sysroot, it->rig.run->record.device.name);
	around->begin_ns = clock_raw_ns();
	getrusage(RUSAGE_SELF, &around->before);
}

static void look_after(struct item *it, const struct around *around)
{
	struct rusage now;

	getrusage(RUSAGE_SELF, &now);
	it->repeat.process_wall_ns = clock_raw_ns() - around->begin_ns;
	it->repeat.process_user_ns =
		thread_time_ns(now.ru_utime) - thread_time_ns(around->before.ru_utime);
	it->repeat.process_sys_ns =
		thread_time_ns(now.ru_stime) - thread_time_ns(around->before.ru_stime);
	counters_settle(&it->rig.run->record.sysroot, it->rig.run->record.device.name);
	it->repeat.counters =
		counters_between(around->counters, counters_read(&it->rig.run->record.sysroot,
								 it->rig.run->record.device.name));
}

/* -ECANCELED with figures in the repeat: what there was up to the signal. */
static int measure_lanes(struct item *it)
{
	struct around around;
	int ret = warm_up(it);

	if (ret == 0)
		ret = start(it, PHASE_MEASURE);
	if (ret)
		return ret;
	look_before(it, &around);
	workers_begin(it->rig.workers, it->rig.lanes.all, PHASE_MEASURE);
	ret = await_workers(it);
	look_after(it, &around);
	if (ret != 0 && ret != -ECANCELED)
		return ret;
	if (repeat_collect(&it->repeat, it->rig.workers, &it->rig.params) != 0)
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	if (ret == 0 && !it->repeat.complete)
		ret = -ECANCELED;
	return ret;
}

static int measure_connects(struct item *it)
{
	struct connect_test test = {
		.remote = it->rig.remote,
		.clock = &it->rig.run->record.clock,
		.ready = it->rig.ready,
		.workers = it->rig.workers,
		.begin = &it->rig.begin,
		.repeat = &it->repeat,
	};
	struct around around;
	int ret = start(it, PHASE_MEASURE);

	if (ret)
		return ret;
	look_before(it, &around);
	workers_begin_job(it->rig.workers, connect_test_run, &test);
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
	return start(it, PHASE_MEASURE);
}

static void describe(struct item *it)
{
	const struct operation *o = it->rig.operation;
	struct repeat *r = &it->repeat;

	r->params = it->rig.params;
	r->latency_kind = operation_latency_kind(&r->params, r->native_flush);
	if (o->flushes)
		r->flush = it->rig.lanes.all[0].flush_type == RPMA_FLUSH_TYPE_PERSISTENT
				   ? "persistent"
				   : "visibility";
	r->atomic_writes = operation_is_atomic(o);
	if (o->up_to_atomic_write != NULL)
		r->native_atomic_write = it->rig.native_atomic_write;
}

/* The server measures until its client ends the repeat; registrations it ends by itself. */
static int finish(struct item *it, uint32_t lanes)
{
	struct interference *seen = &it->repeat.interference;
	const struct sysroot *root = &it->rig.run->record.sysroot;
	bool waits = it->rig.params.test == BENCH_REGISTER;
	int ret;

	if (!waits)
		interference_end(seen, root);
	ret = connection_end(it->rig.remote, it->rig.lanes.all, lanes, &it->repeat.server);
	if (waits)
		interference_end(seen, root);
	return ret;
}

static int measure(struct item *it)
{
	uint32_t lanes = it->rig.params.test != BENCH_REGISTER ? params_lanes(&it->rig.params) : 0;
	int ret;

	if (it->rig.params.test == BENCH_CONNECT)
		ret = measure_connects(it);
	else if (it->rig.params.test == BENCH_REGISTER)
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
	ret = rig_open(&it.rig);
	if (ret == 0)
		ret = measure(&it);
	if (ret == 0 || (ret == -ECANCELED && it.repeat.ops > 0)) {
		*repeat = repeat_json(&it.repeat);
		if (*repeat == NULL)
			ret = failure_set(EXIT_INTERNAL, "measure", "out of memory");
	}
	rig_close(&it.rig);
	repeat_clear(&it.repeat);
	return ret;
}
