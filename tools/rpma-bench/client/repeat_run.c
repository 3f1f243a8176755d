/* SPDX-License-Identifier: BSD-3-Clause */
/* repeat_run.c -- one repeat of one point: warm-up, measurement, the server's report. */
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/host/clock.h"
#include "control.h"
#include "names/random.h"
#include "progress.h"
#include "setup.h"
#include "tools/rpma-bench/measure/op/table.h"
#include "tools/rpma-bench/measure/workers.h"
#include "tools/rpma-bench/result/repeat.h"

/*
 * Connects and disconnects, one connection at a time.
 *
 * Steps are those of librpma's calls: a request is prepared (address, route,
 * queue pair), established, ended in order, and deleted. The latency is what
 * comes before a connection can be used: the first two.
 */

struct connect_test {
	const struct control *control;
	const struct clock *clock;
	struct message_ready ready;
	struct workers *workers; /* one thread's */
	const struct message_begin *begin;
	struct repeat *repeat; /* gets latency, steps, threads, ops and time */
};

enum step { STEP_PREPARE, STEP_ESTABLISH, STEP_DISCONNECT, STEP_DELETE, STEPS };

static const char *const step_names[STEPS] = {"prepare", "establish", "disconnect", "delete"};

static int failed(const struct connect_test *t, enum step step, const char *cause)
{
	return failure_set(EXIT_RUN_FAILED, "connect", "%s: the step %s of a connection failed: %s",
			   t->control->dial.name, step_names[step], cause);
}

static int await(const struct connect_test *t, struct rpma_conn *conn, enum step step,
		 enum rpma_conn_event wanted)
{
	struct pollfd fds[] = {{-1, POLLIN, 0}, {cli_stop_fd(), POLLIN, 0}};
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	int ret = rpma_conn_get_event_fd(conn, &fds[0].fd);

	if (ret)
		return failed(t, step, connection_cause(ret));
	ret = (int)TEMP_FAILURE_RETRY(poll(fds, 2, CONNECTION_TIMEOUT_MS));
	if (ret > 0 && fds[1].revents != 0 && fds[0].revents == 0)
		return -ECANCELED;
	if (ret <= 0)
		return failed(t, step, "no answer in time");
	ret = rpma_conn_next_event(conn, &event);
	if (ret)
		return failed(t, step, connection_cause(ret));
	return event == wanted ? 0 : failed(t, step, rpma_utils_conn_event_2str(event));
}

static int prepare(const struct connect_test *t, struct rpma_conn_req **req)
{
	static const struct connection_queues queues = {.sq_size = 1, .rq_size = 1, .cq_size = 2};
	const struct connection_cfg cfg = {.peer_name = t->control->dial.name,
					   .stop_fd = -1,
					   .queues = &queues,
					   .knobs = t->control->knobs};
	struct rpma_conn_cfg *conn_cfg = NULL;
	char service[8];
	int ret = connection_conn_cfg(&cfg, &conn_cfg);

	if (ret)
		return ret;
	snprintf(service, sizeof(service), "%u", t->ready.port);
	ret = rpma_conn_req_new(t->control->dial.peer, t->control->dial.address, service, conn_cfg,
				req);
	rpma_conn_cfg_delete(&conn_cfg);
	return ret ? failed(t, STEP_PREPARE, connection_cause(ret)) : 0;
}

static int establish(const struct connect_test *t, struct rpma_conn_req **req,
		     struct rpma_conn **conn)
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_MEASURE, 0,
						  t->ready.token};
	uint8_t handshake[HANDSHAKE_REQUEST_BYTES];
	const struct rpma_conn_private_data pdata = {handshake, sizeof(handshake)};
	int ret;

	handshake_encode_request(&request, handshake);
	ret = rpma_conn_req_connect(req, &pdata, conn);
	if (ret)
		return failed(t, STEP_ESTABLISH, connection_cause(ret));
	return await(t, *conn, STEP_ESTABLISH, RPMA_CONN_ESTABLISHED);
}

static int disconnect(const struct connect_test *t, struct rpma_conn *conn)
{
	int ret = rpma_conn_disconnect(conn);

	if (ret)
		return failed(t, STEP_DISCONNECT, connection_cause(ret));
	return await(t, conn, STEP_DISCONNECT, RPMA_CONN_CLOSED);
}

static int once(void *arg, uint64_t *stamps)
{
	const struct connect_test *t = arg;
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;
	int ret;

	stamps[STEP_PREPARE] = clock_now(t->clock);
	ret = prepare(t, &req);
	stamps[STEP_ESTABLISH] = clock_now(t->clock);
	if (ret == 0)
		ret = establish(t, &req, &conn);
	stamps[STEP_DISCONNECT] = clock_now(t->clock);
	if (ret == 0)
		ret = disconnect(t, conn);
	stamps[STEP_DELETE] = clock_now(t->clock);
	rpma_conn_delete(&conn);
	stamps[STEPS] = clock_now(t->clock);
	return ret;
}

static bool stopped(void *arg)
{
	const struct connect_test *t = arg;

	return workers_stopping(t->workers) || cli_signal != 0;
}

/* A job of one thread. arg is a struct connect_test. */
static int connect_test_run(void *arg, uint32_t thread)
{
	const struct connect_test *t = arg;
	struct steps steps = {.clock = t->clock,
			      .names = step_names,
			      .count = STEPS,
			      .until_ready = STEP_DISCONNECT,
			      .once = once,
			      .stopped = stopped,
			      .arg = arg};

	(void)thread;
	return repeat_measure_steps(t->repeat, &steps, t->begin);
}

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

/* -ECANCELED with figures in the repeat: what there was up to the signal. */
static int measure_qps(struct trial *trial)
{
	const struct record *record = &trial->setup.run->record;
	struct live_view view;
	int ret = warm_up(trial);

	if (ret == 0)
		ret = start(trial, PHASE_MEASURE);
	if (ret)
		return ret;
	process_usage_begin(&trial->repeat.usage, &record->sysroot, record->device.name);
	workers_begin(trial->setup.workers, trial->setup.qps.all, PHASE_MEASURE);
	live_view_open(&view, trial->setup.run, trial->repeat.order, trial->setup.workers);
	ret = await_workers(trial, &view.watch);
	live_view_close(&view);
	process_usage_end(&trial->repeat.usage, &record->sysroot, record->device.name);
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
	const struct record *record = &trial->setup.run->record;
	struct connect_test test = {
		.control = trial->setup.control,
		.clock = &record->clock,
		.ready = trial->setup.ready,
		.workers = trial->setup.workers,
		.begin = &trial->setup.begin,
		.repeat = &trial->repeat,
	};
	int ret = start(trial, PHASE_MEASURE);

	if (ret)
		return ret;
	process_usage_begin(&trial->repeat.usage, &record->sysroot, record->device.name);
	workers_begin_job(trial->setup.workers, connect_test_run, &test);
	ret = await_workers(trial, &nothing_else);
	process_usage_end(&trial->repeat.usage, &record->sysroot, record->device.name);
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

	r->params = trial->setup.begin.params;
	r->latency_kind = operation_latency_kind(r->params.test, o, r->native_flush);
	if (o->flushes)
		r->flush = trial->setup.qps.all[0].flush_type == RPMA_FLUSH_TYPE_PERSISTENT
				   ? "persistent"
				   : "visibility";
	r->rpmem = trial->setup.pool != NULL;
	if (r->rpmem)
		r->rpmem_facts = remote_pool_facts(trial->setup.pool);
	if (params_has_operations(&r->params))
		connection_facts_take(&r->connection, trial->setup.qps.all[0].connection);
	/* it names this host */
	if (trial->setup.run->record.options->anonymous)
		r->connection.gid[0] = '\0';
	r->huge_buffers = trial->setup.run->record.options->huge_buffers;
	r->atomic_writes = (params_facts(&r->params) & OP_ATOMIC) != 0;
	if (o->up_to_atomic_write != NULL)
		r->native_atomic_write = trial->setup.native_atomic_write;
}

/* The server measures until its client ends the repeat; registrations it ends by itself. */
static int finish(struct trial *trial, uint32_t qps)
{
	struct interference *seen = &trial->repeat.interference;
	const struct sysroot *root = &trial->setup.run->record.sysroot;
	bool waits = trial->setup.begin.params.test == BENCH_REGISTER;
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
	uint32_t qps = trial->setup.begin.params.test != BENCH_REGISTER
			       ? params_qps(&trial->setup.begin.params)
			       : 0;
	int ret;

	if (trial->setup.begin.params.test == BENCH_CONNECT)
		ret = measure_connects(trial);
	else if (trial->setup.begin.params.test == BENCH_REGISTER)
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
