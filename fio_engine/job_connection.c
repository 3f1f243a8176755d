/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_connection.c -- finds the device, connects as often as it takes, and sends a
 * goodbye. job_connection_reply.c judges what the server sends once connected.
 */
#include "job_connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "common/base/units.h"
#include "common/rdma/librpma_1_4.h"
#include "common/rdma/region.h"
#include "job_connection_reply.h"

#define RETRY_MS	100
#define SILENT_MS	1000 /* silence before it prints that it waits for a server */
#define TRY_MS		3000 /* the shortest try; CONNECTION_TIMEOUT_MS is the longest */
#define GOODBYE_WAIT_MS 1000
#define BATCH_MAX	65535 /* the most that RPMA_CONN_OPT_BATCH_SIZE takes */
#define GOODBYE		(ANSWER_CONTEXT - 1)

static bool stopped(const struct job_connection *c)
{
	return c->cfg.stopped != NULL && c->cfg.stopped(c->cfg.arg);
}

/* --- memory --------------------------------------------------------------------- */

static int enroll(struct job_connection *c, void *memory, size_t bytes, int usage, const char *what,
		  struct rpma_mr_local **mr)
{
	char size[UNITS_TEXT_BYTES];
	int ret = rpma_mr_reg(c->dial.peer, memory, bytes, usage, mr);

	if (ret)
		return failure_because(
			connection_cause_of(ret), EXIT_RUN_FAILED, "register",
			"cannot register %s of %s with %s: %s (ulimit -l limits what "
			"may be locked)",
			what, units_print_size(bytes, size), c->device, connection_cause(ret));
	return 0;
}

int job_connection_register_buffers(struct job_connection *connection, void *memory, size_t bytes)
{
	connection->buffer_memory = memory;
	return enroll(connection, memory, bytes, RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC,
		      "the job's buffers", &connection->buffers);
}

int job_connection_make_zeros(struct job_connection *connection, size_t bytes)
{
	connection->zero_memory = calloc(1, bytes);
	if (connection->zero_memory == NULL)
		return failure_set(EXIT_RUN_FAILED, "register",
				   "out of memory for zeros to trim "
				   "with");
	return enroll(connection, connection->zero_memory, bytes, RPMA_MR_USAGE_WRITE_SRC, "zeros",
		      &connection->zeros);
}

static int make_messages(struct job_connection *c)
{
	uint32_t depth = c->cfg.job_request.depth;
	size_t bytes = job_connection_answer_offset(c, depth);

	if (job_connection_receives(c) == 0)
		return 0;
	c->message_memory = calloc(1, bytes);
	if (c->message_memory == NULL)
		return failure_set(EXIT_RUN_FAILED, "register", "out of memory for %u messages",
				   depth);
	return enroll(c, c->message_memory, bytes, RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV,
		      "messages", &c->messages);
}

/* To another device; what the job has registered stays where it is. */
static int move_messages(void *arg, bool moved)
{
	struct job_connection *c = arg;

	if (moved)
		return make_messages(c);
	if (c->buffers != NULL || c->zeros != NULL)
		return -EBUSY;
	rpma_mr_dereg(&c->messages);
	free(c->message_memory);
	c->message_memory = NULL;
	return 0;
}

/* --- leaving ----------------------------------------------------------------------- */

/* Other completions are of no interest any more. */
void job_connection_goodbye(struct job_connection *connection)
{
	struct failure kept = *failure_get();
	int64_t limit = monotonic_ms() + GOODBYE_WAIT_MS;
	struct ibv_wc wc = {.wr_id = 0};
	bool alive = true;
	int ret = rpma_send(connection->conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS,
			    (void *)(uintptr_t)GOODBYE);

	while ((ret == 0 || ret == RPMA_E_NO_COMPLETION) && wc.wr_id != GOODBYE && alive &&
	       monotonic_ms() < limit) {
		ret = rpma_cq_get_wc(connection->cq, 1, &wc, NULL);
		alive = ret != RPMA_E_NO_COMPLETION || connection_alive(connection->rdma, 1);
	}
	*failure_get() = kept;
}

static void disconnect(struct job_connection *c)
{
	c->conn = NULL;
	c->cq = NULL;
	connection_close(&c->rdma);
	rpma_mr_remote_delete(&c->remote);
}

/* --- connecting ----------------------------------------------------------------- */

/* A server may answer as soon as it is asked: there is a receive for each message. */
static int post_receives(struct rpma_conn_req *req, void *arg)
{
	struct job_connection *c = arg;

	for (uint32_t i = 0; i < job_connection_receives(c); i++) {
		int ret = rpma_conn_req_recv(req, c->messages, job_connection_answer_offset(c, i),
					     PERSIST_ANSWER_BYTES,
					     (void *)(uintptr_t)(ANSWER_CONTEXT | i));

		if (ret)
			return failure_set(EXIT_RUN_FAILED, "connect", "cannot post a receive: %s",
					   connection_cause(ret));
	}
	return 0;
}

/* A try has what is left, but time enough for a server that is there. */
static int try_ms(int64_t limit)
{
	int64_t left = limit - monotonic_ms();

	return left < TRY_MS		      ? TRY_MS
	       : left > CONNECTION_TIMEOUT_MS ? CONNECTION_TIMEOUT_MS
					      : (int)left;
}

/* All that a commit posts may wait for its last one, if librpma has that. */
static uint32_t batch_size(const struct job_connection *c)
{
	if (librpma_1_4_calls().conn_cfg_set_option == NULL)
		return 0;
	return c->cfg.sq_size < BATCH_MAX ? c->cfg.sq_size : BATCH_MAX;
}

static int connect_once(struct job_connection *c, int64_t limit)
{
	/* a queue of no receives is no queue to some devices */
	const struct connection_queues queues = {
		.sq_size = c->cfg.sq_size,
		.cq_size = c->cfg.cq_size,
		.rq_size = job_connection_receives(c) > 0 ? job_connection_receives(c) : 1,
		.post = post_receives,
		.arg = c,
		.batch = batch_size(c),
	};
	const struct connection_cfg cfg = {
		.stop_fd = -1, .timeout_ms = try_ms(limit), .queues = &queues};
	uint8_t handshake[HANDSHAKE_REQUEST_BYTES];

	job_request_encode(&c->cfg.job_request, handshake);
	connection_cause_clear();
	return dial_connect(&c->rdma, &c->dial, handshake, &cfg);
}

static void take_breath(void)
{
	const struct timespec pause = {0, RETRY_MS * 1000000};

	nanosleep(&pause, NULL);
}

/*
 * A server that refuses, or is not to be reached, may be there in a moment; what
 * a call of librpma fails with is wrong here, but for the route that a network
 * which broke has to find again. One that is full may not have seen yet that we
 * left.
 */
static bool may_pass(const struct job_connection *c, bool again)
{
	const struct failure *failure = failure_get();

	if (c->rdma != NULL)
		return again && c->job_reply.refusal == REFUSAL_FULL;
	if (failure->code != EXIT_RUN_FAILED)
		return false;
	switch (failure->cause) {
	case CAUSE_REFUSED:
	case CAUSE_NO_ANSWER:
	case CAUSE_CLOSED:
		return true;
	case CAUSE_UNREACHABLE:
	case CAUSE_UNKNOWN:
		return connection_cause_code() == 0 ||
		       (again && strcmp(failure->step, "request") == 0);
	default:
		return false;
	}
}

static int attach_once(struct job_connection *c, bool again, int64_t limit, bool *pass)
{
	int ret = connect_once(c, limit);

	if (ret == 0) {
		c->conn = connection_conn(c->rdma);
		c->cq = connection_cq(c->rdma);
		ret = job_connection_take_reply(c);
	}
	*pass = ret != 0 && may_pass(c, again);
	if (ret && c->remote != NULL) /* the server has taken us in, and waits */
		job_connection_goodbye(c);
	if (ret)
		disconnect(c);
	return ret;
}

static int too_late(const struct job_connection *c)
{
	const struct failure last = *failure_get();

	return failure_because(last.cause, last.code, last.step,
			       "%.600s (connect_timeout=%u is over)", last.text,
			       c->cfg.settings->connect_timeout_s);
}

static int attach(struct job_connection *c, bool again)
{
	int64_t begun = monotonic_ms(),
		limit = begun + (int64_t)c->cfg.settings->connect_timeout_s * 1000;
	bool told = false, pass;
	int ret;

	while ((ret = attach_once(c, again, limit, &pass)) != 0 && pass) {
		if (stopped(c))
			return -ECANCELED;
		if (monotonic_ms() >= limit)
			return too_late(c);
		if (!told && monotonic_ms() >= begun + SILENT_MS) {
			fprintf(stderr, "librpma: waiting for the server: %s\n",
				failure_get()->text);
			told = true;
		}
		take_breath();
	}
	return ret;
}

int job_connection_open(struct job_connection *connection, const struct job_connection_cfg *cfg)
{
	const struct endpoint_options options = {.device = NULL, .quiet = true, .argv = NULL};
	int ret;

	*connection = (struct job_connection){.cfg = *cfg};
	connection->server = connection->dial.name;
	connection->device = connection->dial.device.name;
	/* which of several runs on this host it is; without it all are 0 */
	if (getrandom(&connection->cfg.job_request.tag, sizeof(connection->cfg.job_request.tag),
		      GRND_NONBLOCK) < 0)
		connection->cfg.job_request.tag = 0;
	connection_log_to_failures(false);
	connection->dial.move = move_messages;
	connection->dial.arg = connection;
	ret = dial_resolve(&connection->dial, cfg->settings->address, cfg->settings->port);
	if (ret == 0)
		ret = dial_route(&connection->dial, &options);
	if (ret == 0)
		ret = make_messages(connection);
	if (ret == 0)
		ret = attach(connection, false);
	if (ret)
		job_connection_close(connection);
	return ret;
}

int job_connection_reconnect(struct job_connection *connection)
{
	size_t bytes = connection->remote_bytes;
	int ret;

	disconnect(connection);
	connection->cfg.job_request.again = true;
	ret = attach(connection, true);
	if (ret == 0 && connection->remote_bytes != bytes) {
		job_connection_goodbye(connection);
		disconnect(connection);
		return failure_set(EXIT_RUN_FAILED, "hello",
				   "%s came back with a region of another size: %zu bytes, and %zu "
				   "before",
				   connection->server, connection->remote_bytes, bytes);
	}
	return ret;
}

void job_connection_mark_durable(const struct job_connection *connection)
{
	if (connection->flush_type == RPMA_FLUSH_TYPE_PERSISTENT)
		region_mark_durable(connection->conn, connection->remote_addr,
				    connection->remote_bytes);
}

/* --- the end -------------------------------------------------------------------- */

void job_connection_close(struct job_connection *connection)
{
	struct failure kept = *failure_get();

	if (connection->conn != NULL)
		job_connection_goodbye(connection);
	disconnect(connection);
	rpma_mr_dereg(&connection->zeros);
	free(connection->zero_memory);
	rpma_mr_dereg(&connection->messages);
	free(connection->message_memory);
	rpma_mr_dereg(&connection->buffers);
	rpma_peer_delete(&connection->dial.peer);
	*connection = (struct job_connection){.rdma = NULL};
	*failure_get() = kept;
}
