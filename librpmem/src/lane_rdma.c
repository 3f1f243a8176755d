/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_rdma.c -- lanes over RDMA: the device that has the route to the daemon, and a
 * librpma connection for each lane.
 *
 * Receives for the answers are posted before a lane connects.
 */
#include "lane_rdma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/host/rlimits.h"
#include "common/rdma/librpma_1_4.h"
#include "common/rdma/limits.h"

#define SPARE_WORK 2 /* a flush, and the request that was posted before it */

/* --- a connection --------------------------------------------------------- */

static int make_messages(struct lane *l)
{
	const struct rdma_device *d = l->lanes->shared;
	struct rdma_lane *c = l->state;
	void *memory = mmap(NULL, RDMA_MESSAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char limit[UNITS_TEXT_BYTES];
	int ret;

	if (memory == MAP_FAILED)
		return failure_because(CAUSE_NO_MEMORY, EXIT_RUN_FAILED, "connect",
				       "no memory for the messages of lane %u: %s", l->index,
				       strerror(errno));
	c->messages = memory;
	ret = rpma_mr_reg(d->dial.peer, memory, RDMA_MESSAGE_BYTES,
			  RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &c->messages_mr);
	if (ret)
		return librpma_failed(ret, "connect",
				      "cannot register %zu bytes for the messages of lane %u: %s "
				      "(this process may lock %s: see ulimit -l)",
				      RDMA_MESSAGE_BYTES, l->index, connection_cause(ret),
				      memlock_print_limit(limit));
	return 0;
}

static int post_receives(struct rpma_conn_req *req, void *lane)
{
	const struct rdma_lane *c = lane;

	for (uint64_t i = 0; i < LANE_SLOTS; i++) {
		int ret = rpma_conn_req_recv(
			req, c->messages_mr, RDMA_ANSWERS_AT + i * RDMA_ANSWER_BYTES,
			RDMA_ANSWER_BYTES, (void *)(uintptr_t)(RDMA_RECEIVE | i));

		if (ret)
			return failure_set(EXIT_RUN_FAILED, "connect", "cannot post a receive: %s",
					   connection_cause(ret));
	}
	return 0;
}

/* The memory of the pool is registered with one device, which all lanes share. */
static int stay(void *unused, bool moved)
{
	(void)unused;
	(void)moved;
	return -1;
}

static int dial_daemon(struct lane *l)
{
	const struct rdma_device *d = l->lanes->shared;
	struct rdma_lane *c = l->state;
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_RPMEM, l->index,
						  l->lanes->daemon.token};
	struct connection_queues queues = d->queues;
	struct dial dial = d->dial;
	const struct connection_cfg cfg = {
		.stop_fd = l->lanes->stop_fd, .timeout_ms = LANE_CONNECT_MS, .queues = &queues};
	uint8_t handshake[HANDSHAKE_REQUEST_BYTES];
	int ret;

	queues.post = post_receives;
	queues.arg = c;
	dial.move = stay;
	handshake_encode_request(&request, handshake);
	ret = dial_connect(&c->connection, &dial, handshake, &cfg);
	if (ret)
		return ret;
	c->conn = connection_conn(c->connection);
	c->cq = connection_cq(c->connection);
	c->cq_fd = connection_cq_fd(c->connection);
	return 0;
}

/* Sharing a doorbell with a native flush takes more instructions than it saves. */
static int flags_before_flush(const struct rdma_lane *c)
{
	const struct librpma_1_4 newer = librpma_1_4_calls();
	enum rpma_flush_method method;

	if (newer.conn_get_flush_method == NULL ||
	    newer.conn_get_flush_method(c->conn, c->remote.mr, &method) != 0 ||
	    method != RPMA_FLUSH_METHOD_READ)
		return 0;
	return RPMA_F_MORE;
}

static int take_region(struct lane *l, const struct handshake_reply *reply)
{
	const struct rdma_device *d = l->lanes->shared;
	struct rdma_lane *c = l->state;
	int ret = region_take(&c->remote, &reply->desc, c->conn);

	if (ret)
		return failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "connect",
				       "%s describes its pool in a way that librpma refuses: %s",
				       d->dial.name, connection_cause(ret));
	if (c->remote.bytes < l->lanes->bytes)
		return failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "connect",
				       "%s offers %zu bytes for a pool of %zu", d->dial.name,
				       c->remote.bytes, l->lanes->bytes);
	c->before_flush = flags_before_flush(c);
	l->flushes = l->lanes->daemon.method == CONTROL_APM;
	if (l->flushes && ((c->remote.flush_types & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT) == 0 ||
			   !c->remote.direct_write_to_pmem))
		return failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "connect",
				       "%s promises APM for a pool that may not be flushed",
				       d->dial.name);
	return 0;
}

/* A flush by reading leaves the data in a CPU cache of the target: then its daemon flushes. */
static int check_native(struct lane *l)
{
	const struct lane_span some = {0, 8};
	const struct rdma_lane *c = l->state;
	int ret = rdma_flush(l, &some, true);

	l->flushes = ret == 0 && c->last != IBV_WC_RDMA_READ;
	return ret;
}

/*
 * A write that begins at a multiple of 8 keeps its words whole in the packets of
 * InfiniBand and RoCE, whose size is a power of two from 256 on (enum ibv_mtu). That the
 * platform stores them whole is what rpma_atomic_write() rests on, too, where the device
 * has no atomic write. A segment of iWARP may end anywhere (RFC 5041).
 */
static bool packets_keep_words(const struct device *device)
{
	return device->transport == NULL || strcmp(device->transport, "iwarp") != 0;
}

static int rdma_connect(struct lane *l)
{
	const struct rdma_device *d = l->lanes->shared;
	struct rdma_lane *c = calloc(1, sizeof(*c));
	struct handshake_reply reply;
	int ret;

	if (c == NULL)
		return failure_because(CAUSE_NO_MEMORY, EXIT_RUN_FAILED, "connect",
				       "out of memory");
	l->state = c;
	c->spins = RDMA_SPINS_MAX;
	if ((ret = make_messages(l)) || (ret = dial_daemon(l)) ||
	    (ret = dial_answer(&d->dial, c->connection, HANDSHAKE_RPMEM, &reply)) ||
	    (ret = take_region(l, &reply)))
		return ret;
	if (l->flushes && (reply.word & LANE_WORD_NATIVE) != 0 && (ret = check_native(l)))
		return ret;
	l->writes_words = l->flushes && packets_keep_words(&d->dial.device);
	l->is_checked = region_marks_are_heard();
	return 0;
}

static void rdma_tell_durable(const struct lane *l, const struct lane_span *range)
{
	const struct rdma_lane *c = l->state;

	region_mark_durable(c->conn, c->remote.addr + range->begin, range->end - range->begin);
}

static void rdma_hang_up(struct lane *l)
{
	const struct rdma_lane *c = l->state;

	rpma_conn_disconnect(c->conn);
}

static void rdma_disconnect(struct lane *l, int wait_ms)
{
	struct rdma_lane *c = l->state;

	l->state = NULL;
	if (c == NULL)
		return;
	connection_close_within(&c->connection, wait_ms);
	rpma_mr_remote_delete(&c->remote.mr);
	rpma_mr_dereg(&c->messages_mr);
	rpma_mr_dereg(&c->bounce_mr);
	if (c->messages != NULL)
		munmap(c->messages, RDMA_MESSAGE_BYTES);
	if (c->bounce != NULL)
		munmap(c->bounce, RDMA_BOUNCE_BYTES);
	free(c);
}

/* --- the device ----------------------------------------------------------- */

static int find_route(struct lanes *lanes, const char *host)
{
	static const struct endpoint_options any = {.quiet = true};
	struct rdma_device *d = lanes->shared;
	int ret = dial_resolve(&d->dial, host, lanes->daemon.port);

	if (ret)
		return ret;
	lane_daemon_name(lanes, d->dial.address, d->dial.name);
	return dial_route(&d->dial, &any);
}

/* The daemon's own address; it may be one that only its network knows. */
static int find_daemon(struct lanes *lanes)
{
	struct rdma_device *d = lanes->shared;
	int ret = -EIO;

	if (lanes->daemon.address[0] != '\0')
		ret = find_route(lanes, lanes->daemon.address);
	if (ret) {
		rpma_peer_delete(&d->dial.peer);
		ret = find_route(lanes, lanes->host);
	}
	return ret;
}

static void size_queues(struct lanes *lanes, const struct limits *limits)
{
	const uint32_t others = LANE_SLOTS + SPARE_WORK;
	const uint32_t entries =
		MIN(limits->queue_entries, limits->completion_entries > LANE_SLOTS
						   ? limits->completion_entries - LANE_SLOTS
						   : 0);
	struct rdma_device *d = lanes->shared;
	uint32_t most = entries > others + 2 ? entries - others : 2;

	d->writes_max = MIN(lanes->work_queue > 2 ? lanes->work_queue : 2, most);
	d->stride = (d->writes_max + 1) / 2;
	d->queues = (struct connection_queues){
		.sq_size = d->writes_max + others,
		.cq_size = d->writes_max + others + LANE_SLOTS,
		.rq_size = LANE_SLOTS,
	};
	/* no transfer is so long that a busy lane looks too seldom */
	lanes->write_max =
		(limits->message_bytes < LANE_CHECK ? limits->message_bytes : LANE_CHECK) /
		LANE_CUT * LANE_CUT;
}

static int register_pool(struct lanes *lanes)
{
	struct rdma_device *d = lanes->shared;
	char size[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES];
	int ret = rpma_mr_reg(d->dial.peer, lanes->memory, lanes->bytes,
			      RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST, &d->mr);

	if (ret == 0)
		return 0;
	return librpma_failed(ret, "register",
			      "cannot register the pool of %s at the RDMA device %s: %s (this "
			      "process may lock %s: see ulimit -l)",
			      units_print_size(lanes->bytes, size), d->dial.device.name,
			      connection_cause(ret), memlock_print_limit(limit));
}

static int rdma_open(struct lanes *lanes)
{
	struct rdma_device *d = calloc(1, sizeof(*d));
	struct limits limits;
	int ret;

	if (d == NULL)
		return failure_because(CAUSE_NO_MEMORY, EXIT_RUN_FAILED, "open", "out of memory");
	lanes->shared = d;
	if ((ret = find_daemon(lanes)) ||
	    (ret = limits_get(&limits, d->dial.address, RPMA_UTIL_IBV_CONTEXT_REMOTE)))
		return ret;
	size_queues(lanes, &limits);
	return register_pool(lanes);
}

static void rdma_close(struct lanes *lanes)
{
	struct rdma_device *d = lanes->shared;

	if (d == NULL)
		return;
	rpma_mr_dereg(&d->mr);
	rpma_peer_delete(&d->dial.peer);
	free(d);
}

const struct lane_transport lane_rdma = {
	.open = rdma_open,
	.close = rdma_close,
	.connect = rdma_connect,
	.hang_up = rdma_hang_up,
	.disconnect = rdma_disconnect,
	.write = rdma_write,
	.flush = rdma_flush,
	.persist = rdma_persist,
	.request = rdma_request,
	.answer = rdma_answer,
	.read = rdma_read,
	.tell_durable = rdma_tell_durable,
};
