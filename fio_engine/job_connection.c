/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_connection.c -- finds the device, connects as often as it takes, and sends a
 * goodbye. What the server sends is hostile until it is checked here.
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

#define STEP	    "handshake"
#define failed(...) failure_set(EXIT_RUN_FAILED, STEP, __VA_ARGS__)
/* A descriptor this long is enough to read, write and flush by read. */
#define APM_BYTES  21
#define REGION_MIN 8

/* --- the answer ------------------------------------------------------------------ */

static int refused(const struct job_connection *c)
{
	switch (c->job_reply.refusal) {
	case REFUSAL_METHOD:
		return failed("%s is for mode=%s, and this job is for mode=%s: give both the same "
			      "mode, or the server none",
			      c->server, method_name(c->job_reply.method),
			      method_name(c->cfg.job_request.method));
	case REFUSAL_DEPTH:
		return failed("%s has room for %u messages of a client at once, and this job needs "
			      "%u: give the server iodepth=%u",
			      c->server, c->job_reply.depth, c->cfg.job_request.depth,
			      c->cfg.job_request.depth);
	default:
		return failed("%s already served all expected clients: their number is clients= "
			      "there, or numjobs= of its first client",
			      c->server);
	}
}

static int nonsense(const struct job_connection *c)
{
	return failed("%s answered with a malformed handshake: it is not a server of this engine",
		      c->server);
}

static int check_reply(struct job_connection *c, const struct handshake_reply *reply)
{
	const struct job_request *job_request = &c->cfg.job_request;

	if (job_reply_decode(reply->word, &c->job_reply) != 0)
		return nonsense(c);
	if (c->job_reply.refusal != REFUSAL_NONE)
		return refused(c);
	if (reply->desc.mr_bytes == 0 || c->job_reply.depth < job_request->depth ||
	    (c->job_reply.method != METHOD_ANY && c->job_reply.method != job_request->method))
		return nonsense(c);
	return 0;
}

/* --- the region ------------------------------------------------------------------ */

static int take_region(struct job_connection *c, const struct handshake_reply *reply, int *types,
		       bool *direct)
{
	struct region_desc desc = reply->desc;
	struct region_remote remote = {.mr = NULL};
	int ret;

	/* so that apm reads even where both devices know a flush, native is told of all */
	if (c->cfg.job_request.method != METHOD_NATIVE && desc.mr_bytes > APM_BYTES)
		desc.mr_bytes = APM_BYTES;
	ret = region_take(&remote, &desc, c->conn);
	c->remote = remote.mr;
	if (ret)
		return failed("%s describes its region in a way librpma refuses: %s", c->server,
			      connection_cause(ret));
	c->remote_addr = remote.addr;
	c->remote_bytes = remote.bytes;
	*types = remote.flush_types;
	*direct = remote.direct_write_to_pmem;
	if (c->remote_bytes < REGION_MIN)
		return failed("%s exports a region of %zu bytes, and %d are the least", c->server,
			      c->remote_bytes, REGION_MIN);
	return 0;
}

const char *job_connection_region_words(const struct job_connection *connection)
{
	static const char *const words[TARGET_KINDS] = {
		[TARGET_DRAM] = "dram",
		[TARGET_HUGEPAGES] = "hugepages",
		[TARGET_FILE] = "a file",
		[TARGET_FSDAX] = "a file on DAX (fsdax)",
		[TARGET_DEVDAX] = "device DAX (devdax)",
		[TARGET_MEMFILE] = "a file in memory (tmpfs or its like)",
		[TARGET_OTHERFILE] = "a file on an unknown kind of file system",
	};

	return words[connection->job_reply.kind];
}

/* --- the flush ------------------------------------------------------------------- */

static int no_survival(const struct job_connection *c)
{
	if (c->job_reply.kind == TARGET_OTHERFILE)
		return failed(
			"flush_type=persistent: the region of %s is a file of which it is unknown "
			"whether its file system keeps what is synced: give the server a file on a "
			"local disk or persistent memory, or this job flush_type=visibility",
			c->server);
	return failed(
		"flush_type=persistent: the region of %s is %s, which does not survive a power "
		"failure: give the server persistent memory, or this job flush_type=visibility",
		c->server, job_connection_region_words(c));
}

static int not_stated(const struct job_connection *c)
{
	if (target_is_cached(c->job_reply.kind))
		return failed("flush_type=persistent: the region of %s is %s, and mode=%s leaves "
			      "what it writes in the page cache: give this job mode=gpspm or "
			      "flush_type=visibility (direct_write_to_pmem=1 of the server vouches "
			      "for a file that is persistent memory)",
			      c->server, job_connection_region_words(c),
			      method_name(c->cfg.job_request.method));
	return failed("%s has persistent memory and does not say that direct writes reach it: give "
		      "it direct_write_to_pmem=1 where rpma-ddio-check reports that they do, or "
		      "this job mode=gpspm or flush_type=visibility",
		      c->server);
}

/* The server itself makes it durable, as far as its memory can be. */
static int settle_messages(struct job_connection *c)
{
	bool durable = persist_is_durable(c->job_reply.persist, c->job_reply.kind);

	c->flush_type = durable ? RPMA_FLUSH_TYPE_PERSISTENT : RPMA_FLUSH_TYPE_VISIBILITY;
	return !durable && c->cfg.settings->flush_type == FLUSH_TYPE_PERSISTENT ? no_survival(c)
										: 0;
}

static int settle_flush(struct job_connection *c, int types, bool direct)
{
	const struct settings *s = c->cfg.settings;
	bool persistent = (types & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT) != 0;

	c->flush_type = RPMA_FLUSH_TYPE_VISIBILITY;
	if (s->flush == FLUSH_NONE)
		return 0;
	if (target_is_memory(c->job_reply.kind)) /* whatever the server states */
		persistent = false;
	if (s->flush_type == FLUSH_TYPE_PERSISTENT && !persistent)
		return no_survival(c);
	/* writes into a page cache are never durable, and are not expected to be */
	if (s->flush_type == FLUSH_TYPE_VISIBILITY ||
	    (s->flush_type == FLUSH_TYPE_AUTO && target_is_cached(c->job_reply.kind) && !direct))
		persistent = false;
	if (persistent && !direct)
		return not_stated(c);
	if (!persistent && (types & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY) == 0)
		return failed("the region of %s takes no flush to visibility", c->server);
	if (persistent)
		c->flush_type = RPMA_FLUSH_TYPE_PERSISTENT;
	return 0;
}

/* The connection stands: takes reply and region, or refuses them with the error message set. */
static int job_connection_take_reply(struct job_connection *connection)
{
	struct handshake_reply reply;
	bool direct = false;
	int types = 0;
	int ret = dial_answer(&connection->dial, connection->rdma, HANDSHAKE_FIO, &reply);

	if (ret == 0)
		ret = check_reply(connection, &reply);
	if (ret == 0)
		ret = take_region(connection, &reply, &types, &direct);
	if (ret)
		return ret;
	return connection->cfg.job_request.method == METHOD_GPSPM
		       ? settle_messages(connection)
		       : settle_flush(connection, types, direct);
}

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
		return librpma_failed(ret, "register",
				      "cannot register %s of %s with %s: %s (ulimit -l limits what "
				      "may be locked)",
				      what, units_print_size(bytes, size), c->device,
				      connection_cause(ret));
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
				   "out of memory for zeros to trim with");
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
		return failure_set(EXIT_RUN_FAILED, "handshake",
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
