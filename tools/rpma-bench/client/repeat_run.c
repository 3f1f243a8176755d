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

#include "common/base/random.h"
#include "common/base/thread.h"
#include "common/json/counters.h"
#include "connect_test.h"
#include "control.h"
#include "live_view.h"
#include "setup.h"
#include "tools/rpma-bench/measure/op/table.h"

struct trial {
	struct repeat_setup setup;
	struct repeat repeat;
};

/* Another seed for each repeat of each point, the same ones for the same seed of the run. */
static uint64_t seed_of(const struct run *run, const struct plan_trial *trial)
{
	return random_mix(run->record.seed +
			  RANDOM_STEP * (trial->point * PLAN_TRIALS_MAX + trial->repeat + 1));
}

static void init(struct trial *trial, struct run *run, size_t order)
{
	const struct plan_trial *planned = &run->record.plan.trials[order];

	memset(trial, 0, sizeof(*trial));
	repeat_setup_init(&trial->setup, run, planned, seed_of(run, planned));
	trial->repeat.index = planned->repeat;
	trial->repeat.order = order;
}

/* Sleeps while the threads are at it; a signal, or a server that left, ends them too. */
static int await_workers(struct trial *trial, const struct control_watch *watch)
{
	int ret = control_wait(trial->setup.control, workers_done_fd(trial->setup.workers), watch);
	struct failure why = *failure_get();

	if (ret == 0)
		return workers_end(trial->setup.workers);
	workers_stop(trial->setup.workers);
	/* their errors only repeat ours */
	workers_end(trial->setup.workers);
	*failure_get() = why;
	return ret;
}

/* All who measure together begin a phase at the same time. */
static int start(struct trial *trial, enum message_phase phase)
{
	const struct barrier *barrier = trial->setup.run->barrier;
	int ret = barrier != NULL ? barrier->wait(barrier->arg, phase) : 0;

	if (ret == 0 && phase == PHASE_MEASURE)
		interference_begin(&trial->repeat.interference, &trial->setup.run->record.sysroot);
	return ret ? ret : control_start(trial->setup.control, phase);
}

static const struct control_watch nothing_else = {.fd = -1};

static int warm_up(struct trial *trial)
{
	int ret;

	if (trial->setup.begin.warmup_ns == 0)
		return 0;
	ret = start(trial, PHASE_WARMUP);
	if (ret)
		return ret;
	workers_begin(trial->setup.workers, trial->setup.qps.all, PHASE_WARMUP);
	ret = await_workers(trial, &nothing_else);
	return ret == 0 && cli_signal != 0 ? -ECANCELED : ret;
}

/* Processor time of this process, and what its device counted, around the measurement. */
struct usage_snapshot {
	uint64_t begin_ns;
	struct rusage before;
	json_t *counters;
};

static void usage_begin(const struct trial *trial, struct usage_snapshot *usage)
{
	usage->counters = counters_read(&trial->setup.run->record.sysroot,
					trial->setup.run->record.device.name);
	usage->begin_ns = clock_raw_ns();
	getrusage(RUSAGE_SELF, &usage->before);
}

static void usage_end(struct trial *trial, const struct usage_snapshot *usage)
{
	struct rusage now;

	getrusage(RUSAGE_SELF, &now);
	trial->repeat.process_wall_ns = clock_raw_ns() - usage->begin_ns;
	trial->repeat.process_user_ns =
		thread_time_ns(now.ru_utime) - thread_time_ns(usage->before.ru_utime);
	trial->repeat.process_sys_ns =
		thread_time_ns(now.ru_stime) - thread_time_ns(usage->before.ru_stime);
	counters_settle(&trial->setup.run->record.sysroot, trial->setup.run->record.device.name);
	trial->repeat.counters = counters_between(
		usage->counters, counters_read(&trial->setup.run->record.sysroot,
					       trial->setup.run->record.device.name));
}

/* -ECANCELED with figures in the repeat: what there was up to the signal. */
static int measure_qps(struct trial *trial)
{
	struct usage_snapshot usage;
	struct live_view view;
	int ret = warm_up(trial);

	if (ret == 0)
		ret = start(trial, PHASE_MEASURE);
	if (ret)
		return ret;
	usage_begin(trial, &usage);
	workers_begin(trial->setup.workers, trial->setup.qps.all, PHASE_MEASURE);
	live_view_open(&view, trial->setup.run, trial->repeat.order, trial->setup.workers);
	ret = await_workers(trial, &view.watch);
	live_view_close(&view);
	usage_end(trial, &usage);
	if (ret != 0 && ret != -ECANCELED)
		return ret;
	if (repeat_collect(&trial->repeat, trial->setup.workers, &trial->setup.begin) != 0)
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	if (ret == 0 && !trial->repeat.complete)
		ret = -ECANCELED;
	return ret;
}

static int measure_connects(struct trial *trial)
{
	struct connect_test test = {
		.control = trial->setup.control,
		.clock = &trial->setup.run->record.clock,
		.ready = trial->setup.ready,
		.workers = trial->setup.workers,
		.begin = &trial->setup.begin,
		.repeat = &trial->repeat,
	};
	struct usage_snapshot usage;
	int ret = start(trial, PHASE_MEASURE);

	if (ret)
		return ret;
	usage_begin(trial, &usage);
	workers_begin_job(trial->setup.workers, connect_test_run, &test);
	ret = await_workers(trial, &nothing_else);
	usage_end(trial, &usage);
	if (ret == 0 && !trial->repeat.complete)
		ret = -ECANCELED;
	return ret;
}

/* The server measures; all figures are in its report. */
static int measure_registrations(struct trial *trial)
{
	trial->repeat.complete = true;
	return start(trial, PHASE_MEASURE);
}

static void describe(struct trial *trial)
{
	const struct operation *o = trial->setup.operation;
	struct repeat *r = &trial->repeat;

	r->params = trial->setup.params;
	r->latency_kind = operation_latency_kind(&r->params, r->native_flush);
	if (o->flushes)
		r->flush = trial->setup.qps.all[0].flush_type == RPMA_FLUSH_TYPE_PERSISTENT
				   ? "persistent"
				   : "visibility";
	r->rpmem = trial->setup.pool != NULL;
	if (r->rpmem)
		r->rpmem_facts = remote_pool_facts(trial->setup.pool);
	if (repeat_setup_has_qps(&trial->setup))
		connection_facts_take(&r->connection, trial->setup.qps.all[0].connection);
	/* it names this host */
	if (trial->setup.run->record.options->anonymous)
		r->connection.gid[0] = '\0';
	r->huge_buffers = trial->setup.run->record.options->huge_buffers;
	r->atomic_writes = operation_is_atomic(o);
	if (o->up_to_atomic_write != NULL)
		r->native_atomic_write = trial->setup.native_atomic_write;
}

/* The server measures until its client ends the repeat; registrations it ends by itself. */
static int finish(struct trial *trial, uint32_t qps)
{
	struct interference *seen = &trial->repeat.interference;
	const struct sysroot *root = &trial->setup.run->record.sysroot;
	bool waits = trial->setup.params.test == BENCH_REGISTER;
	int ret;

	if (!waits)
		interference_end(seen, root);
	ret = control_end(trial->setup.control, trial->setup.qps.all, qps, &trial->repeat.server);
	if (waits)
		interference_end(seen, root);
	return ret;
}

static int measure(struct trial *trial)
{
	uint32_t qps =
		trial->setup.params.test != BENCH_REGISTER ? params_qps(&trial->setup.params) : 0;
	int ret;

	if (trial->setup.params.test == BENCH_CONNECT)
		ret = measure_connects(trial);
	else if (trial->setup.params.test == BENCH_REGISTER)
		ret = measure_registrations(trial);
	else
		ret = measure_qps(trial);
	/* a queue pair that failed as the signal came did not see it */
	if (ret != 0)
		trial->repeat.complete = false;
	describe(trial);
	return ret == 0 ? finish(trial, qps) : ret;
}

int trial_measure(struct run *run, size_t order, json_t **repeat)
{
	struct trial trial;
	int ret;

	init(&trial, run, order);
	ret = repeat_setup_open(&trial.setup);
	if (ret == 0)
		ret = measure(&trial);
	if (ret == 0 || (ret == -ECANCELED && trial.repeat.ops > 0)) {
		*repeat = repeat_json(&trial.repeat);
		if (*repeat == NULL)
			ret = failure_set(EXIT_INTERNAL, "measure", "out of memory");
	}
	repeat_setup_close(&trial.setup);
	repeat_clear(&trial.repeat);
	return ret;
}
