/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect_test.c -- connects and disconnects, one connection at a time.
 *
 * Steps are those of librpma's calls: a request is prepared (address, route,
 * queue pair), established, ended in order, and deleted. The latency is what
 * comes before a connection can be used: the first two.
 */
#include "connect_test.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "control.h"

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
	do {
		ret = poll(fds, 2, CONNECTION_TIMEOUT_MS);
	} while (ret < 0 && errno == EINTR);
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

int connect_test_run(void *arg, uint32_t thread)
{
	const struct connect_test *t = arg;
	struct steps steps = {.clock = t->clock,
			      .count = STEPS,
			      .until_ready = STEP_DISCONNECT,
			      .once = once,
			      .stopped = stopped,
			      .arg = arg};
	struct repeat *r = t->repeat;
	struct measured measured = {0};
	int ret;

	(void)thread;
	r->threads = calloc(1, sizeof(*r->threads));
	if (r->threads == NULL || repeat_make_steps(r, &steps, step_names) != 0)
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	ret = steps_measure(&steps, t->begin, &r->warmup, &measured, &r->threads[0]);
	r->threads_count = 1;
	r->ops = measured.ops;
	r->elapsed_ns = measured.elapsed_ns;
	r->complete = !measured.interrupted;
	return ret;
}
