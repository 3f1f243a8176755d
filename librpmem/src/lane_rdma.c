/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_rdma.c -- lanes over RDMA: one librpma connection each.
 *
 * All work of a lane completes in one queue. Work requests are numbered; one in
 * each half of the work queue is signalled, and its completion stands for all
 * before it. Requests go out of a slot each; their answers come into receives
 * that are posted before the lane connects and again as soon as they are read.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lane_private.h"
#include "tools/common/base/failure.h"
#include "tools/common/base/units.h"
#include "tools/common/host/memlock.h"
#include "tools/common/rdma/dial.h"
#include "tools/common/rdma/limits.h"
#include "tools/common/rdma/region.h"

#define BATCH	      4
#define SPARE_WORK    2	   /* a flush, and the request that was posted before it */
#define SLOT_BYTES    8256 /* a request with its data, in whole cache lines */
#define ANSWER_BYTES  64
#define SEND_BYTES    ((size_t)LANE_SLOTS * SLOT_BYTES)
#define MESSAGE_BYTES (SEND_BYTES + (size_t)LANE_SLOTS * ANSWER_BYTES)
#define BOUNCE_BYTES  ((size_t)256 << 10)
#define BOUNCE_PIECE  (BOUNCE_BYTES / 2)
#define RECEIVE	      ((uint64_t)1 << 63) /* in a wr_id: a receive, and the number of its buffer */

/* Polls of an empty queue before a thread sleeps; fewer where that was in vain. */
#define SPINS_MAX 2000
#define SPINS_MIN 50

_Static_assert(SLOT_BYTES >= LANE_REQUEST_BYTES + LANE_DATA_MAX, "a slot has room for a request");

/* What the lanes have in common; read-only once it is open. */
struct device_side {
	struct dial dial;
	struct rpma_mr_local *mr; /* the local pool */
	struct link_lane queues;
	uint32_t writes_max; /* under way in a lane */
	uint32_t stride;     /* every Nth is signalled */
};

struct connection {
	struct link *link;
	struct rpma_conn *conn; /* borrowed from link, as cq is */
	struct rpma_cq *cq;
	int cq_fd;
	unsigned spins;
	struct region_remote remote;
	uint64_t posted;	 /* number of the last work request */
	uint64_t signalled;	 /* the last signalled one */
	uint64_t reaped;	 /* all up to this one are complete */
	enum ibv_wc_opcode last; /* opcode of that completion */
	unsigned char *messages; /* requests, then answers */
	struct rpma_mr_local *messages_mr;
	struct lane_answer answers[LANE_SLOTS]; /* arrived, not yet taken */
	unsigned answers_first, answers_count;
	unsigned char *bounce; /* NULL: not needed so far */
	struct rpma_mr_local *bounce_mr;
};

/* --- completions ------------------------------------------------------------------ */

static int broken(struct lane *l, const char *what, int code)
{
	struct connection *c = l->connection;

	if (link_alive(c->link, 0))
		failure_because(link_cause_of(code), EXIT_RUN_FAILED, "connection",
				"lane %u to %s: %s failed: %s", l->index, link_peer_name(c->link),
				what, link_cause(code));
	return lanes_lost(l->lanes);
}

static int take_message(struct lane *l, const struct ibv_wc *wc)
{
	struct connection *c = l->connection;
	const uint64_t slot = wc->wr_id & ~RECEIVE;
	const size_t at = SEND_BYTES + slot * ANSWER_BYTES;
	struct lane_answer answer;
	int ret;

	if (wc->byte_len != LANE_ANSWER_BYTES || c->answers_count == LANE_SLOTS ||
	    lane_decode_answer(c->messages + at, &answer) != 0) {
		failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "message",
				"lane %u: %s sent %u bytes that are not an answer", l->index,
				link_peer_name(c->link), wc->byte_len);
		return lanes_lost(l->lanes);
	}
	c->answers[(c->answers_first + c->answers_count++) % LANE_SLOTS] = answer;
	ret = rpma_recv(c->conn, c->messages_mr, at, ANSWER_BYTES, (void *)(uintptr_t)wc->wr_id);
	return ret == 0 ? 0 : broken(l, "a receive", ret);
}

static int take(struct lane *l, const struct ibv_wc *wc)
{
	struct connection *c = l->connection;
	char what[64];

	if (wc->status != IBV_WC_SUCCESS) {
		snprintf(what, sizeof(what), "an operation of lane %u", l->index);
		link_work_failed(c->link, "connection", what, wc);
		return lanes_lost(l->lanes);
	}
	if ((wc->wr_id & RECEIVE) != 0)
		return take_message(l, wc);
	c->reaped = wc->wr_id;
	c->last = wc->opcode;
	return 0;
}

/* Takes what is there: how many, or a negative errno. */
static int look(struct lane *l)
{
	struct connection *c = l->connection;
	struct ibv_wc wc[BATCH];
	int got = 0, ret = rpma_cq_get_wc(c->cq, BATCH, wc, &got);

	if (ret == RPMA_E_NO_COMPLETION)
		return 0;
	if (ret)
		return broken(l, "polling for completions", ret);
	for (int i = 0; ret == 0 && i < got; i++)
		ret = take(l, &wc[i]);
	return ret ? ret : got;
}

/* The end of the connection counts when the queue is empty: what arrived before is good. */
static int sleep_until_event(struct lane *l)
{
	struct connection *c = l->connection;
	struct pollfd fds[] = {{c->cq_fd, POLLIN, 0},
			       {link_event_fd(c->link), POLLIN, 0},
			       {l->lanes->stop_fd, POLLIN, 0}};
	int ret = poll(fds, 3, -1);

	if (ret < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[0].revents != 0)
		return rpma_cq_wait(c->cq) == RPMA_E_PROVIDER
			       ? broken(l, "arming the completion queue", RPMA_E_PROVIDER)
			       : 0;
	if (fds[1].revents != 0 && !link_alive(c->link, 0)) {
		ret = look(l);
		return ret == 0 ? lanes_lost(l->lanes) : ret < 0 ? ret : 0;
	}
	return fds[2].revents != 0 ? -ECANCELED : 0;
}

/* Returns when something has completed, or may have. */
static int step(struct lane *l)
{
	struct connection *c = l->connection;
	int got;

	for (unsigned i = 0; i < c->spins; i++) {
		got = look(l);
		if (got != 0) {
			c->spins += (SPINS_MAX - c->spins) / 8;
			return got < 0 ? got : 0;
		}
	}
	c->spins = c->spins / 2 > SPINS_MIN ? c->spins / 2 : SPINS_MIN;
	return sleep_until_event(l);
}

/* --- work requests ------------------------------------------------------------------ */

/* Waits until fewer than `most` are under way. */
static int make_room(struct lane *l, uint64_t most)
{
	const struct connection *c = l->connection;
	int ret = 0;

	while (ret == 0 && c->posted - c->reaped >= most)
		ret = step(l);
	return ret;
}

static int await(struct lane *l, uint64_t number)
{
	const struct connection *c = l->connection;
	int ret = 0;

	while (ret == 0 && c->reaped < number)
		ret = step(l);
	return ret;
}

/* Numbers the next work request; `wanted`: its completion will be waited for. */
static const void *next_work(struct lane *l, bool wanted, int *flags)
{
	const struct device_side *d = l->lanes->shared;
	struct connection *c = l->connection;

	c->posted++;
	if (!wanted && c->posted - c->signalled < d->stride) {
		*flags = RPMA_F_COMPLETION_ON_ERROR;
	} else {
		c->signalled = c->posted;
		*flags = RPMA_F_COMPLETION_ALWAYS;
	}
	return (const void *)(uintptr_t)c->posted;
}

static int rdma_write(struct lane *l, size_t offset, size_t length)
{
	const struct device_side *d = l->lanes->shared;
	struct connection *c = l->connection;
	const void *number;
	int flags, ret = make_room(l, d->writes_max);

	if (ret)
		return ret;
	number = next_work(l, false, &flags);
	ret = rpma_write(c->conn, c->remote.mr, offset, d->mr, offset, length, flags, number);
	return ret == 0 ? 0 : broken(l, "a write", ret);
}

static int rdma_flush(struct lane *l, const struct lane_range *range, bool wait)
{
	const struct device_side *d = l->lanes->shared;
	struct connection *c = l->connection;
	const void *number;
	int flags, ret = make_room(l, d->queues.sq_size);

	if (ret)
		return ret;
	number = next_work(l, wait, &flags);
	ret = rpma_flush(c->conn, c->remote.mr, range->begin, range->end - range->begin,
			 RPMA_FLUSH_TYPE_PERSISTENT, flags, number);
	if (ret)
		return broken(l, "a flush", ret);
	return wait ? await(l, c->posted) : 0;
}

static int rdma_request(struct lane *l, const struct lane_request *request, const void *data)
{
	const struct device_side *d = l->lanes->shared;
	struct connection *c = l->connection;
	const size_t at = request->slot * SLOT_BYTES;
	const size_t bytes = data != NULL ? request->length : 0;
	const void *number;
	int flags, ret = make_room(l, d->queues.sq_size);

	if (ret)
		return ret;
	lane_encode_request(request, c->messages + at);
	if (bytes > 0)
		memcpy(c->messages + at + LANE_REQUEST_BYTES, data, bytes);
	number = next_work(l, false, &flags);
	ret = rpma_send(c->conn, c->messages_mr, at, LANE_REQUEST_BYTES + bytes, flags, number);
	return ret == 0 ? 0 : broken(l, "a request", ret);
}

static int rdma_answer(struct lane *l, struct lane_answer *answer)
{
	struct connection *c = l->connection;
	int ret = 0;

	while (ret == 0 && c->answers_count == 0)
		ret = step(l);
	if (ret)
		return ret;
	*answer = c->answers[c->answers_first];
	c->answers_first = (c->answers_first + 1) % LANE_SLOTS;
	c->answers_count--;
	return 0;
}

/* --- reads ----------------------------------------------------------------------- */

static int post_read(struct lane *l, struct rpma_mr_local *mr, size_t at, size_t offset,
		     size_t length, bool wanted)
{
	const struct device_side *d = l->lanes->shared;
	struct connection *c = l->connection;
	const void *number;
	int flags, ret = make_room(l, d->writes_max);

	if (ret)
		return ret;
	number = next_work(l, wanted, &flags);
	ret = rpma_read(c->conn, mr, at, c->remote.mr, offset, length, flags, number);
	return ret == 0 ? 0 : broken(l, "a read", ret);
}

/* The buffer lies in the local pool, `at` bytes from its begin. */
static int read_directly(struct lane *l, size_t at, size_t offset, size_t length)
{
	const struct device_side *d = l->lanes->shared;
	const struct connection *c = l->connection;
	int ret = 0;

	while (ret == 0 && length > 0) {
		size_t max = l->lanes->write_max, piece = length < max ? length : max;

		ret = post_read(l, d->mr, at, offset, piece, piece == length);
		at += piece;
		offset += piece;
		length -= piece;
	}
	return ret ? ret : await(l, c->posted);
}

static int make_bounce(struct lane *l)
{
	const struct device_side *d = l->lanes->shared;
	struct connection *c = l->connection;
	void *memory;
	int ret;

	if (c->bounce != NULL)
		return 0;
	memory = mmap(NULL, BOUNCE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED) {
		failure_set(EXIT_RUN_FAILED, "read", "no memory for a buffer of %zu bytes: %s",
			    BOUNCE_BYTES, strerror(errno));
		return -ENOMEM;
	}
	ret = rpma_mr_reg(d->dial.peer, memory, BOUNCE_BYTES, RPMA_MR_USAGE_READ_DST,
			  &c->bounce_mr);
	if (ret) {
		munmap(memory, BOUNCE_BYTES);
		return lane_errno(failure_because(
			link_cause_of(ret), EXIT_RUN_FAILED, "read",
			"cannot register a buffer of %zu bytes at the RDMA device %s: %s "
			"(ulimit -l limits what may be locked)",
			BOUNCE_BYTES, d->dial.device.name, link_cause(ret)));
	}
	c->bounce = memory;
	return 0;
}

/* Two pieces are under way: one is copied while the other arrives. */
static int read_by_copy(struct lane *l, char *buffer, size_t offset, size_t length)
{
	struct connection *c = l->connection;
	size_t asked = 0, taken = 0;
	uint64_t number[2];
	int ret = make_bounce(l);

	while (ret == 0 && taken < length) {
		size_t half = asked / BOUNCE_PIECE % 2, left = length - asked;

		if (left > 0 && asked - taken < BOUNCE_BYTES) {
			size_t piece = left < BOUNCE_PIECE ? left : BOUNCE_PIECE;

			ret = post_read(l, c->bounce_mr, half * BOUNCE_PIECE, offset + asked, piece,
					true);
			number[half] = c->posted;
			asked += piece;
			continue;
		}
		half = taken / BOUNCE_PIECE % 2;
		ret = await(l, number[half]);
		if (ret == 0) {
			left = length - taken;
			left = left < BOUNCE_PIECE ? left : BOUNCE_PIECE;
			memcpy(buffer + taken, c->bounce + half * BOUNCE_PIECE, left);
			taken += left;
		}
	}
	return ret;
}

static int rdma_read(struct lane *l, void *buffer, size_t offset, size_t length)
{
	const struct lanes *lanes = l->lanes;
	const uintptr_t at = (uintptr_t)buffer - (uintptr_t)lanes->memory;

	if (at < lanes->bytes && length <= lanes->bytes - at)
		return read_directly(l, at, offset, length);
	return read_by_copy(l, buffer, offset, length);
}

/* --- a connection ------------------------------------------------------------------ */

static int make_messages(struct lane *l)
{
	const struct device_side *d = l->lanes->shared;
	struct connection *c = l->connection;
	void *memory = mmap(NULL, MESSAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret;

	if (memory == MAP_FAILED)
		return failure_because(CAUSE_NO_MEMORY, EXIT_RUN_FAILED, "connect",
				       "no memory for the messages of lane %u: %s", l->index,
				       strerror(errno));
	c->messages = memory;
	ret = rpma_mr_reg(d->dial.peer, memory, MESSAGE_BYTES,
			  RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &c->messages_mr);
	if (ret)
		return failure_because(link_cause_of(ret), EXIT_RUN_FAILED, "connect",
				       "cannot register %zu bytes for the messages of lane %u: %s "
				       "(ulimit -l limits what may be locked)",
				       MESSAGE_BYTES, l->index, link_cause(ret));
	return 0;
}

static int post_receives(struct rpma_conn_req *req, void *connection)
{
	const struct connection *c = connection;

	for (uint64_t i = 0; i < LANE_SLOTS; i++) {
		int ret = rpma_conn_req_recv(req, c->messages_mr, SEND_BYTES + i * ANSWER_BYTES,
					     ANSWER_BYTES, (void *)(uintptr_t)(RECEIVE | i));

		if (ret)
			return failure_set(EXIT_RUN_FAILED, "connect", "cannot post a receive: %s",
					   link_cause(ret));
	}
	return 0;
}

static int dial_daemon(struct lane *l)
{
	const struct device_side *d = l->lanes->shared;
	struct connection *c = l->connection;
	const struct greeting_request request = {GREETING_VERSION, GREETING_RPMEM, l->index,
						 l->lanes->daemon.token};
	struct link_lane queues = d->queues;
	const struct link_cfg cfg = {
		.stop_fd = l->lanes->stop_fd, .timeout_ms = LANE_CONNECT_MS, .lane = &queues};
	uint8_t greeting[GREETING_REQUEST_BYTES];
	int ret;

	queues.post = post_receives;
	queues.arg = c;
	greeting_encode_request(&request, greeting);
	ret = dial_connect(&c->link, &d->dial, greeting, &cfg);
	if (ret)
		return ret;
	c->conn = link_conn(c->link);
	c->cq = link_cq(c->link);
	ret = rpma_cq_get_fd(c->cq, &c->cq_fd);
	return ret == 0 ? 0
			: failure_set(EXIT_INTERNAL, "connect", "%s: %s", d->dial.name,
				      link_cause(ret));
}

static int take_region(struct lane *l, const struct greeting_reply *reply)
{
	const struct device_side *d = l->lanes->shared;
	struct connection *c = l->connection;
	const struct region_desc desc = {reply->mr_desc, reply->mr_desc_bytes, reply->pcfg_desc,
					 reply->pcfg_desc_bytes};
	int ret = region_take(&c->remote, &desc, c->conn);

	if (ret)
		return failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "connect",
				       "%s describes its pool in a way that librpma refuses: %s",
				       d->dial.name, link_cause(ret));
	if (c->remote.bytes < l->lanes->bytes)
		return failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "connect",
				       "%s offers %zu bytes for a pool of %zu", d->dial.name,
				       c->remote.bytes, l->lanes->bytes);
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
	const struct lane_range some = {0, 8};
	const struct connection *c = l->connection;
	int ret = rdma_flush(l, &some, true);

	l->flushes = ret == 0 && c->last != IBV_WC_RDMA_READ;
	return ret;
}

static int rdma_connect(struct lane *l)
{
	const struct device_side *d = l->lanes->shared;
	struct connection *c = calloc(1, sizeof(*c));
	struct greeting_reply reply;
	int ret;

	if (c == NULL)
		return failure_because(CAUSE_NO_MEMORY, EXIT_RUN_FAILED, "connect",
				       "out of memory");
	l->connection = c;
	c->spins = SPINS_MAX;
	if ((ret = make_messages(l)) || (ret = dial_daemon(l)) ||
	    (ret = dial_answer(&d->dial, c->link, GREETING_RPMEM, &reply)) ||
	    (ret = take_region(l, &reply)))
		return ret;
	return l->flushes && (reply.word & LANE_WORD_NATIVE) != 0 ? check_native(l) : 0;
}

static void rdma_hang_up(struct lane *l)
{
	const struct connection *c = l->connection;

	rpma_conn_disconnect(c->conn);
}

static void rdma_disconnect(struct lane *l)
{
	struct connection *c = l->connection;

	l->connection = NULL;
	if (c == NULL)
		return;
	link_close(&c->link);
	rpma_mr_remote_delete(&c->remote.mr);
	rpma_mr_dereg(&c->messages_mr);
	rpma_mr_dereg(&c->bounce_mr);
	if (c->messages != NULL)
		munmap(c->messages, MESSAGE_BYTES);
	if (c->bounce != NULL)
		munmap(c->bounce, BOUNCE_BYTES);
	free(c);
}

/* --- the device ------------------------------------------------------------------- */

static int find_route(struct lanes *lanes, const char *host)
{
	static const struct endpoint_wish any = {.quiet = true};
	struct device_side *d = lanes->shared;
	int ret = dial_resolve(&d->dial, host, lanes->daemon.port);

	if (ret)
		return ret;
	lane_daemon_name(lanes, d->dial.address, d->dial.name);
	return dial_route(&d->dial, &any);
}

/* The daemon's own address; it may be one that only its network knows. */
static int find_daemon(struct lanes *lanes)
{
	struct device_side *d = lanes->shared;
	int ret = -EIO;

	if (lanes->daemon.address[0] != '\0')
		ret = find_route(lanes, lanes->daemon.address);
	if (ret) {
		rpma_peer_delete(&d->dial.peer);
		ret = find_route(lanes, lanes->host);
	}
	return ret;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void size_queues(struct lanes *lanes, const struct limits *limits)
{
	const uint32_t others = LANE_SLOTS + SPARE_WORK;
	const uint32_t entries =
		least(limits->queue_entries, limits->completion_entries > LANE_SLOTS
						     ? limits->completion_entries - LANE_SLOTS
						     : 0);
	struct device_side *d = lanes->shared;
	uint32_t most = entries > others + 2 ? entries - others : 2;

	d->writes_max = least(lanes->work_queue > 2 ? lanes->work_queue : 2, most);
	d->stride = (d->writes_max + 1) / 2;
	d->queues = (struct link_lane){
		.sq_size = d->writes_max + others,
		.cq_size = d->writes_max + others + LANE_SLOTS,
		.rq_size = LANE_SLOTS,
	};
	lanes->write_max = limits->message_bytes / LANE_CUT * LANE_CUT;
}

static int register_pool(struct lanes *lanes)
{
	struct device_side *d = lanes->shared;
	char size[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES];
	uint64_t memlock;
	int ret = rpma_mr_reg(d->dial.peer, lanes->memory, lanes->bytes,
			      RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST, &d->mr);

	if (ret == 0)
		return 0;
	memlock = memlock_limit();
	return failure_because(
		link_cause_of(ret), EXIT_RUN_FAILED, "register",
		"cannot register the pool of %s at the RDMA device %s: %s; this "
		"process may lock %s (ulimit -l)",
		units_print_size(lanes->bytes, size), d->dial.device.name, link_cause(ret),
		memlock == UINT64_MAX ? "as much as there is" : units_print_size(memlock, limit));
}

static int rdma_open(struct lanes *lanes)
{
	struct device_side *d = calloc(1, sizeof(*d));
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
	struct device_side *d = lanes->shared;

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
	.request = rdma_request,
	.answer = rdma_answer,
	.read = rdma_read,
};
