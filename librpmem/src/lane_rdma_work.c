/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_rdma_work.c -- posts the work of a lane, and waits for it.
 *
 * All of it completes in one queue. Work requests are numbered; one in each half of
 * the work queue is signalled, and its completion stands for all before it. A wait
 * polls for a while before it sleeps: an answer is there sooner than a thread wakes.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/failure.h"
#include "common/host/rlimits.h"
#include "lane_rdma.h"

#define BATCH	     4
#define SPINS_MIN    50 /* after waits that did not end while it polled */
#define BOUNCE_PIECE (RDMA_BOUNCE_BYTES / 2)

/* --- completions ---------------------------------------------------------- */

static int broken(struct lane *l, const char *what, int code)
{
	struct rdma_lane *c = l->state;

	if (connection_alive(c->connection, 0))
		librpma_failed(code, "connection", "lane %u to %s: %s failed: %s", l->index,
			       connection_peer_name(c->connection), what, connection_cause(code));
	return lanes_lost(l->lanes);
}

static int take_message(struct lane *l, const struct ibv_wc *wc)
{
	struct rdma_lane *c = l->state;
	const uint64_t slot = wc->wr_id & ~RDMA_RECEIVE;
	const size_t at = RDMA_ANSWERS_AT + slot * RDMA_ANSWER_BYTES;
	struct lane_answer answer;
	int ret;

	if (wc->byte_len != LANE_ANSWER_BYTES || c->answers_count == LANE_SLOTS ||
	    lane_decode_answer(c->messages + at, &answer) != 0 || answer.slot >= LANE_SLOTS) {
		failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "message",
				"lane %u: %s sent %u bytes that are not an answer", l->index,
				connection_peer_name(c->connection), wc->byte_len);
		return lanes_violated(l->lanes);
	}
	c->answers[(c->answers_first + c->answers_count++) % LANE_SLOTS] = answer;
	ret = rpma_recv(c->conn, c->messages_mr, at, RDMA_ANSWER_BYTES,
			(void *)(uintptr_t)wc->wr_id);
	return ret == 0 ? 0 : broken(l, "a receive", ret);
}

static int take(struct lane *l, const struct ibv_wc *wc)
{
	struct rdma_lane *c = l->state;
	char what[64];

	if (wc->status != IBV_WC_SUCCESS) {
		snprintf(what, sizeof(what), "an operation of lane %u", l->index);
		connection_work_failed(c->connection, "connection", what, wc);
		return lanes_lost(l->lanes);
	}
	if ((wc->wr_id & RDMA_RECEIVE) != 0)
		return take_message(l, wc);
	c->reaped = wc->wr_id;
	c->last = wc->opcode;
	return 0;
}

/* Takes what is there: how many, or a negative errno. */
static int poll_cq(struct lane *l)
{
	struct rdma_lane *c = l->state;
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
	struct rdma_lane *c = l->state;
	struct pollfd fds[] = {{c->cq_fd, POLLIN, 0},
			       {connection_event_fd(c->connection), POLLIN, 0},
			       {l->lanes->stop_fd, POLLIN, 0}};
	int ret = poll(fds, 3, -1);

	if (ret < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[0].revents != 0)
		return rpma_cq_wait(c->cq) == RPMA_E_PROVIDER
			       ? broken(l, "arming the completion queue", RPMA_E_PROVIDER)
			       : 0;
	if (fds[1].revents != 0 && !connection_alive(c->connection, 0)) {
		ret = poll_cq(l);
		return ret == 0 ? lanes_lost(l->lanes) : ret < 0 ? ret : 0;
	}
	return fds[2].revents != 0 ? -ECANCELED : 0;
}

/* Returns when something has completed, or may have. */
static int step(struct lane *l)
{
	struct rdma_lane *c = l->state;
	int got;

	for (unsigned i = 0; i < c->spins; i++) {
		got = poll_cq(l);
		if (got != 0) {
			c->spins += (RDMA_SPINS_MAX - c->spins) / 8;
			return got < 0 ? got : 0;
		}
	}
	c->spins = c->spins / 2 > SPINS_MIN ? c->spins / 2 : SPINS_MIN;
	return sleep_until_event(l);
}

/* --- work requests -------------------------------------------------------- */

/* Waits until fewer than `most` are under way. */
static int make_room(struct lane *l, uint64_t most)
{
	const struct rdma_lane *c = l->state;
	int ret = 0;

	while (ret == 0 && c->posted - c->reaped >= most)
		ret = step(l);
	return ret;
}

static int await(struct lane *l, uint64_t number)
{
	const struct rdma_lane *c = l->state;
	int ret = 0;

	while (ret == 0 && c->reaped < number)
		ret = step(l);
	return ret;
}

/* Numbers the next work request; `wanted`: its completion will be waited for. */
static const void *next_work(struct lane *l, bool wanted, int *flags)
{
	const struct rdma_device *d = l->lanes->shared;
	struct rdma_lane *c = l->state;

	c->posted++;
	if (!wanted && c->posted - c->signalled < d->stride) {
		*flags = RPMA_F_COMPLETION_ON_ERROR;
	} else {
		c->signalled = c->posted;
		*flags = RPMA_F_COMPLETION_ALWAYS;
	}
	return (const void *)(uintptr_t)c->posted;
}

static __always_inline int post_write(struct lane *l, size_t offset, size_t length, int more_flags)
{
	const struct rdma_device *d = l->lanes->shared;
	struct rdma_lane *c = l->state;
	const void *number;
	int flags, ret = make_room(l, d->writes_max);

	if (ret)
		return ret;
	number = next_work(l, false, &flags);
	ret = rpma_write(c->conn, c->remote.mr, offset, d->mr, offset, length, flags | more_flags,
			 number);
	return ret == 0 ? 0 : broken(l, "a write", ret);
}

static __always_inline int post_flush(struct lane *l, size_t offset, size_t length, bool wait)
{
	struct rdma_lane *c = l->state;
	int flags, ret;
	const void *number = next_work(l, wait, &flags);

	ret = rpma_flush(c->conn, c->remote.mr, offset, length, RPMA_FLUSH_TYPE_PERSISTENT, flags,
			 number);
	if (ret)
		return broken(l, "a flush", ret);
	return wait ? await(l, c->posted) : 0;
}

int rdma_write(struct lane *l, size_t offset, size_t length)
{
	return post_write(l, offset, length, 0);
}

int rdma_flush(struct lane *l, const struct lane_span *range, bool wait)
{
	const struct rdma_device *d = l->lanes->shared;
	int ret = make_room(l, d->queues.sq_size);

	return ret == 0 ? post_flush(l, range->begin, range->end - range->begin, wait) : ret;
}

/* One doorbell for both where flushes are reads; SPARE_WORK has room for the flush. */
int rdma_persist(struct lane *l, size_t offset, size_t length)
{
	const struct rdma_lane *c = l->state;
	int ret = post_write(l, offset, length, c->before_flush);

	return ret == 0 ? post_flush(l, offset, length, true) : ret;
}

int rdma_request(struct lane *l, const struct lane_request *request, const void *data)
{
	const struct rdma_device *d = l->lanes->shared;
	struct rdma_lane *c = l->state;
	const size_t at = request->slot * RDMA_SLOT_BYTES;
	const size_t bytes = data != NULL ? request->length : 0;
	const void *number;
	int flags, ret = make_room(l, d->queues.sq_size);

	if (ret)
		return ret;
	lane_encode_request(request, c->messages + at);
	if (bytes > 0)
		memcpy(c->messages + at + LANE_REQUEST_BYTES, data, bytes);
	number = next_work(l, true, &flags);
	c->sent[request->slot] = c->posted;
	ret = rpma_send(c->conn, c->messages_mr, at, LANE_REQUEST_BYTES + bytes, flags, number);
	return ret == 0 ? 0 : broken(l, "a request", ret);
}

int rdma_answer(struct lane *l, struct lane_answer *answer)
{
	struct rdma_lane *c = l->state;
	int ret = 0;

	while (ret == 0 && c->answers_count == 0)
		ret = step(l);
	if (ret)
		return ret;
	*answer = c->answers[c->answers_first];
	c->answers_first = (c->answers_first + 1) % LANE_SLOTS;
	c->answers_count--;
	/*
	 * It may overtake the completion that gives back the memory of the request, and of the
	 * writes before it: ibv_post_send(3).
	 */
	return await(l, c->sent[answer->slot]);
}

/* --- reads ---------------------------------------------------------------- */

static int post_read(struct lane *l, struct rpma_mr_local *mr, size_t at, size_t offset,
		     size_t length, bool wanted)
{
	const struct rdma_device *d = l->lanes->shared;
	struct rdma_lane *c = l->state;
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
	const struct rdma_device *d = l->lanes->shared;
	const struct rdma_lane *c = l->state;
	int ret = 0;

	while (ret == 0 && length > 0) {
		size_t max = l->lanes->write_max, piece = length < max ? length : max;

		ret = post_read(l, d->mr, at, offset, piece, piece == length);
		at += piece;
		offset += piece;
		length -= piece;
		if (ret == 0 && length > 0)
			ret = lane_check(l, offset, piece);
	}
	return ret ? ret : await(l, c->posted);
}

static int make_bounce(struct lane *l)
{
	const struct rdma_device *d = l->lanes->shared;
	struct rdma_lane *c = l->state;
	char limit[UNITS_TEXT_BYTES];
	void *memory;
	int ret;

	if (c->bounce != NULL)
		return 0;
	memory = mmap(NULL, RDMA_BOUNCE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED) {
		failure_set(EXIT_RUN_FAILED, "read", "no memory for a buffer of %zu bytes: %s",
			    RDMA_BOUNCE_BYTES, strerror(errno));
		return -ENOMEM;
	}
	ret = rpma_mr_reg(d->dial.peer, memory, RDMA_BOUNCE_BYTES, RPMA_MR_USAGE_READ_DST,
			  &c->bounce_mr);
	if (ret) {
		munmap(memory, RDMA_BOUNCE_BYTES);
		return lane_errno(
			librpma_failed(ret, "read",
				       "cannot register a buffer of %zu bytes at the RDMA device "
				       "%s: %s (this process may lock %s: see ulimit -l)",
				       RDMA_BOUNCE_BYTES, d->dial.device.name,
				       connection_cause(ret), memlock_print_limit(limit)));
	}
	c->bounce = memory;
	return 0;
}

/* Two pieces are under way: one is copied while the other arrives. */
static int read_by_copy(struct lane *l, char *buffer, size_t offset, size_t length)
{
	struct rdma_lane *c = l->state;
	size_t asked = 0, taken = 0;
	uint64_t number[2];
	int ret = make_bounce(l);

	while (ret == 0 && taken < length) {
		size_t half = asked / BOUNCE_PIECE % 2, left = length - asked;

		if (left > 0 && asked - taken < RDMA_BOUNCE_BYTES) {
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
			ret = lane_check(l, taken, left);
		}
	}
	return ret;
}

int rdma_read(struct lane *l, void *buffer, size_t offset, size_t length)
{
	const struct lanes *lanes = l->lanes;
	const uintptr_t at = (uintptr_t)buffer - (uintptr_t)lanes->memory;

	if (at < lanes->bytes && length <= lanes->bytes - at)
		return read_directly(l, at, offset, length);
	return read_by_copy(l, buffer, offset, length);
}
