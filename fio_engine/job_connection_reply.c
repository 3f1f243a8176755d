/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_connection_reply.c -- takes the server's description of itself and of its region, and
 * chooses the flush. All of it is hostile until it is checked here.
 */
#include "job_connection_reply.h"

#include "common/base/failure.h"
#include "common/rdma/region.h"

#define STEP "hello"
/* A descriptor this long is enough to read, write and flush by read. */
#define APM_BYTES  21
#define REGION_MIN 8

/* --- the answer ------------------------------------------------------------------ */

static int refused(const struct job_connection *c)
{
	switch (c->job_reply.refusal) {
	case REFUSAL_METHOD:
		return failure_set(EXIT_RUN_FAILED, STEP,
				   "%s is for mode=%s, and this job is for mode=%s: give both the "
				   "same mode, or the server none",
				   c->server, method_name(c->job_reply.method),
				   method_name(c->cfg.job_request.method));
	case REFUSAL_DEPTH:
		return failure_set(
			EXIT_RUN_FAILED, STEP,
			"%s has room for %u messages of a client at once, and this job needs "
			"%u: give the server iodepth=%u",
			c->server, c->job_reply.depth, c->cfg.job_request.depth,
			c->cfg.job_request.depth);
	default:
		return failure_set(EXIT_RUN_FAILED, STEP,
				   "%s already served all expected clients: their number is "
				   "clients= there, or numjobs= of its first client",
				   c->server);
	}
}

static int nonsense(const struct job_connection *c)
{
	return failure_set(EXIT_RUN_FAILED, STEP,
			   "%s answered with a malformed handshake: it is not a server of "
			   "this engine",
			   c->server);
}

static int check_reply(struct job_connection *c, const struct handshake_reply *reply)
{
	const struct job_request *job_request = &c->cfg.job_request;

	if (job_reply_decode(reply->word, &c->job_reply) != 0)
		return nonsense(c);
	if (c->job_reply.refusal != REFUSAL_NONE)
		return refused(c);
	if (reply->mr_desc_bytes == 0 || c->job_reply.depth < job_request->depth ||
	    (c->job_reply.method != METHOD_ANY && c->job_reply.method != job_request->method))
		return nonsense(c);
	return 0;
}

/* --- the region ------------------------------------------------------------------ */

/* So that apm reads even where both devices know a flush, native is told of all. */
static size_t descriptor_bytes(const struct job_connection *c, const struct handshake_reply *reply)
{
	if (c->cfg.job_request.method == METHOD_NATIVE || reply->mr_desc_bytes < APM_BYTES)
		return reply->mr_desc_bytes;
	return APM_BYTES;
}

static int take_region(struct job_connection *c, const struct handshake_reply *reply, int *types,
		       bool *direct)
{
	const struct region_desc desc = {reply->mr_desc, descriptor_bytes(c, reply),
					 reply->pcfg_desc, reply->pcfg_desc_bytes};
	struct region_remote remote = {.mr = NULL};
	int ret = region_take(&remote, &desc, c->conn);

	c->remote = remote.mr;
	if (ret)
		return failure_set(EXIT_RUN_FAILED, STEP,
				   "%s describes its region in a way librpma refuses: %s",
				   c->server, connection_cause(ret));
	c->remote_addr = remote.addr;
	c->remote_bytes = remote.bytes;
	*types = remote.flush_types;
	*direct = remote.direct_write_to_pmem;
	if (c->remote_bytes < REGION_MIN)
		return failure_set(EXIT_RUN_FAILED, STEP,
				   "%s exports a region of %zu bytes, and %d are the least",
				   c->server, c->remote_bytes, REGION_MIN);
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
		return failure_set(
			EXIT_RUN_FAILED, STEP,
			"flush_type=persistent: the region of %s is a file of which it "
			"is unknown whether its file system keeps what is synced: give "
			"the server a file on a local disk or persistent memory, or this "
			"job flush_type=visibility",
			c->server);
	return failure_set(EXIT_RUN_FAILED, STEP,
			   "flush_type=persistent: the region of %s is %s, which does not survive "
			   "a power failure: give the server persistent memory, or this job "
			   "flush_type=visibility",
			   c->server, job_connection_region_words(c));
}

static int not_stated(const struct job_connection *c)
{
	if (target_is_cached(c->job_reply.kind))
		return failure_set(EXIT_RUN_FAILED, STEP,
				   "flush_type=persistent: the region of %s is %s, and mode=%s "
				   "leaves what it writes in the page cache: give this job "
				   "mode=gpspm or flush_type=visibility (direct_write_to_pmem=1 of "
				   "the server vouches for a file that is persistent memory)",
				   c->server, job_connection_region_words(c),
				   method_name(c->cfg.job_request.method));
	return failure_set(EXIT_RUN_FAILED, STEP,
			   "%s has persistent memory and does not say that direct writes "
			   "reach it: give it direct_write_to_pmem=1 where rpma-ddio-check "
			   "reports that they do, or this job mode=gpspm or "
			   "flush_type=visibility",
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
		return failure_set(EXIT_RUN_FAILED, STEP,
				   "the region of %s takes no flush to visibility", c->server);
	if (persistent)
		c->flush_type = RPMA_FLUSH_TYPE_PERSISTENT;
	return 0;
}

int job_connection_take_reply(struct job_connection *connection)
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
