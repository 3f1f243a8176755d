/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_queue_sync.c -- flushes what the policy fsync has left dirty, and waits.
 *
 * A flush by read covers all writes before it. Where flushes have ranges there
 * is one for each dirty extent, as many at a time as the queues have room for
 * beside the operations that are out.
 */
#include <errno.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "io_queue_private.h"

/* The bytes that a server makes durable for one request: some ms, and a sign of progress. */
#define RANGE_MAX (64ULL << 20)

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* An operation that is out has two places in the send queue, and one message. The goodbye has one.
 */
static uint32_t room(const struct io_queue *q)
{
	uint32_t room = q->connection->cfg.sq_size - 2 * q->under_way - 1;

	if (q->method == METHOD_GPSPM)
		room = smaller(room, q->messages_size - q->under_way);
	return smaller(room, q->extents_size);
}

static int broken(const struct io_queue *q)
{
	return q->broken != 0 ? -q->broken : 0;
}

/*
 * Polls. What is done by now is handed back only after the sync, whose time it is not part
 * of: those of the ring that have no time yet are its last ones.
 */
static void poll_for_sync(struct io_queue *q)
{
	uint32_t left = io_queue_poll(q);

	while (left-- > 0) {
		uint32_t index = (q->done_first + left) % q->depth;
		struct operation *o = &q->operations[q->done[index]];

		if (o->done_ns != 0)
			return;
		o->done_ns = monotonic_ns();
	}
}

/* Polls until the sync has ended, or, before it begins, until there is room for it. */
static int await(struct io_queue *q, bool ended)
{
	const struct operation *sync = &q->operations[q->depth];
	struct wait wait = io_queue_wait_begin(q, UINT64_MAX);

	poll_for_sync(q);
	while (q->broken == 0 && (ended ? sync->pending > 0 : room(q) == 0)) {
		io_queue_wait_more(q, &wait);
		poll_for_sync(q);
	}
	return broken(q);
}

static int flush(struct io_queue *q, const struct extent *extents, uint32_t count)
{
	struct operation *sync = &q->operations[q->depth];
	int ret = 0;

	sync->error = 0;
	io_queue_begin(sync);
	for (uint32_t i = 0; i < count && ret == 0; i++)
		ret = io_queue_flush(q, sync, extents[i],
				     i + 1 < count ? RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE
						   : RPMA_F_COMPLETION_ALWAYS);
	if (ret)
		io_queue_post_failed(q, sync, "flush", ret);
	ret = await(q, true);
	if (ret == 0 && sync->error != 0)
		return failure_set(EXIT_RUN_FAILED, "data", "%s could not make the data durable",
				   q->connection->server);
	if (ret == 0)
		q->counts.flushes += sync->flushes;
	return ret;
}

static bool take_extent(struct io_queue *q, struct extent *e)
{
	if (!dirty_take(&q->dirty, e))
		return false;
	if (e->end - e->begin > RANGE_MAX) {
		dirty_mark(&q->dirty, e->begin + RANGE_MAX, e->end);
		e->end = e->begin + RANGE_MAX;
	}
	return true;
}

/* Bytes that could not be flushed stay dirty. */
static int flush_some(struct io_queue *q)
{
	uint32_t count = 0, most;
	int ret = await(q, false);

	if (ret)
		return ret;
	most = room(q);
	while (count < most && take_extent(q, &q->extents[count]))
		count++;
	ret = flush(q, q->extents, count);
	for (uint32_t i = 0; ret != 0 && i < count; i++)
		dirty_mark(&q->dirty, q->extents[i].begin, q->extents[i].end);
	return ret;
}

static int flush_all(struct io_queue *q)
{
	const struct extent any = {0, 0};
	int ret = await(q, false);

	if (ret == 0)
		ret = flush(q, &any, 1);
	if (ret == 0)
		dirty_clear(&q->dirty);
	return ret;
}

/* The server may be another one by now, and what was written may be gone: said once. */
static int say_lost(struct io_queue *q)
{
	q->lost = false;
	return failure_set(EXIT_RUN_FAILED, "data",
			   "the connection to %s broke when not all that was written was flushed: "
			   "it may be lost",
			   q->connection->server);
}

int io_queue_sync(struct io_queue *io_queue)
{
	struct io_queue *q = io_queue;
	int ret = broken(q);
	bool flushed = false;

	if (ret == 0 && q->lost)
		ret = say_lost(q);
	while (ret == 0 && io_queue_dirty(q)) {
		ret = q->method == METHOD_APM ? flush_all(q) : flush_some(q);
		flushed = true;
	}
	if (q->policy != FLUSH_FSYNC)
		return ret;
	/* as with a file: no later sync makes good for one that failed */
	if (ret == 0 && flushed)
		q->counts.covered += q->counts.pending;
	q->counts.pending = 0;
	return ret;
}
