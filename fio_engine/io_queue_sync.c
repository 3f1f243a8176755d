/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_queue_sync.c -- flushes what the policy fsync has left dirty, and waits.
 *
 * A flush by read covers all writes before it. Where flushes have ranges there
 * is one for each dirty extent, as many at a time as the queues have room for
 * beside the operations that are out.
 */
#include <errno.h>

#include "io_queue_private.h"
#include "tools/common/base/failure.h"

/* What a server makes durable for one request: some ms, and a sign of progress. */
#define RANGE_MAX (64ULL << 20)

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* An operation that is out has two places in the send queue, and one message. The goodbye has one.
 */
static uint32_t room(const struct io_queue *f)
{
	uint32_t room = f->connection->cfg.sq_size - 2 * f->under_way - 1;

	if (f->method == METHOD_GPSPM)
		room = smaller(room, f->messages_size - f->under_way);
	return smaller(room, f->extents_size);
}

static int broken(const struct io_queue *f)
{
	return f->broken != 0 ? -f->broken : 0;
}

/* Polls until the sync has ended, or, before it begins, until there is room for it. */
static int await(struct io_queue *f, bool ended)
{
	const struct operation *sync = &f->operations[f->depth];
	struct wait wait = io_queue_wait_begin(f, UINT64_MAX);

	io_queue_poll(f);
	while (f->broken == 0 && (ended ? sync->pending > 0 : room(f) == 0)) {
		io_queue_wait_more(f, &wait);
		io_queue_poll(f);
	}
	return broken(f);
}

static int flush(struct io_queue *f, const struct extent *extents, uint32_t count)
{
	struct operation *sync = &f->operations[f->depth];
	int ret = 0;

	sync->error = 0;
	io_queue_begin(sync);
	for (uint32_t i = 0; i < count && ret == 0; i++)
		ret = io_queue_flush(f, sync, extents[i],
				     i + 1 < count ? RPMA_F_COMPLETION_ON_ERROR
						   : RPMA_F_COMPLETION_ALWAYS);
	if (ret)
		io_queue_post_failed(f, sync, "flush", ret);
	ret = await(f, true);
	if (ret == 0 && sync->error != 0)
		return failure_set(EXIT_RUN_FAILED, "data", "%s could not make the data durable",
				   f->connection->server);
	return ret;
}

static bool take_extent(struct io_queue *f, struct extent *e)
{
	if (!dirty_take(&f->dirty, e))
		return false;
	if (e->end - e->begin > RANGE_MAX) {
		dirty_mark(&f->dirty, e->begin + RANGE_MAX, e->end);
		e->end = e->begin + RANGE_MAX;
	}
	return true;
}

/* What could not be flushed stays dirty. */
static int flush_some(struct io_queue *f)
{
	uint32_t count = 0, most;
	int ret = await(f, false);

	if (ret)
		return ret;
	most = room(f);
	while (count < most && take_extent(f, &f->extents[count]))
		count++;
	ret = flush(f, f->extents, count);
	for (uint32_t i = 0; ret != 0 && i < count; i++)
		dirty_mark(&f->dirty, f->extents[i].begin, f->extents[i].end);
	return ret;
}

static int flush_all(struct io_queue *f)
{
	const struct extent any = {0, 0};
	int ret = await(f, false);

	if (ret == 0)
		ret = flush(f, &any, 1);
	if (ret == 0)
		dirty_clear(&f->dirty);
	return ret;
}

/* The server may be another one by now, and what was written may be gone: said once. */
static int say_lost(struct io_queue *f)
{
	f->lost = false;
	dirty_clear(&f->dirty);
	return failure_set(EXIT_RUN_FAILED, "data",
			   "the connection to %s broke when not all that was written was flushed: "
			   "it may be lost",
			   f->connection->server);
}

int io_queue_sync(struct io_queue *io_queue)
{
	struct io_queue *f = io_queue;
	int ret = broken(f);

	if (ret == 0 && f->lost)
		return say_lost(f);
	while (ret == 0 && io_queue_dirty(f))
		ret = f->method == METHOD_APM ? flush_all(f) : flush_some(f);
	return ret;
}
