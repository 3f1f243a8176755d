/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_queue_wait.c -- waits for completions, busily or asleep, and looks up now
 * and then: at the time, at the connection, and at the job's request to stop.
 */
#include <errno.h>
#include <poll.h>
#include <sys/param.h>
#include <time.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "io_queue_private.h"

#define EMPTY_POLLS   256 /* busy polls between two looks at the clock */
#define MS	      1000000ULL
#define CHECK_NS      MS
#define SLEEP_NS      (100 * MS)
#define STANDSTILL_NS (60000 * MS)
#define STOP_NS	      (2000 * MS)

/* The time is looked at only where there is something to wait for. */
static struct wait io_queue_wait_begin(const struct io_queue *q, uint64_t timeout_ns)
{
	struct wait w = {.limit_ns = UINT64_MAX, .taken = q->taken};

	w.progress_ns = monotonic_ns();
	if (timeout_ns < UINT64_MAX - w.progress_ns)
		w.limit_ns = w.progress_ns + timeout_ns;
	return w;
}

static void give_up(struct io_queue *q, int error, const char *why)
{
	failure_set(EXIT_RUN_FAILED, "data", "%s: %u operations are not done %s",
		    q->connection->server, q->under_way, why);
	io_queue_break(q, error);
}

/* Checks what may end a wait before its time. */
static void check_limits(struct io_queue *q, struct wait *w, uint64_t now)
{
	const struct job_connection_cfg *cfg = &q->connection->cfg;

	if (q->taken != w->taken) {
		w->taken = q->taken;
		w->progress_ns = now;
	}
	if (w->stop_ns == 0 && cfg->stopped != NULL && cfg->stopped(cfg->arg))
		w->stop_ns = now;
	if (!connection_alive(q->connection->rdma, 0)) {
		/* what arrived before it still counts */
		io_queue_poll(q);
		io_queue_break(q, EIO);
	} else if (now - w->progress_ns >= STANDSTILL_NS) {
		give_up(q, ETIMEDOUT, "for 60 s");
	} else if (w->stop_ns != 0 && now - w->stop_ns >= STOP_NS) {
		give_up(q, ECANCELED, "2 s after the job was stopped");
	}
}

/* Until there may be a completion or an event of the connection. */
static void sleep_until(struct io_queue *q, uint64_t left_ns)
{
	struct job_connection *c = q->connection;
	const struct timespec left = timespec_of_ns(left_ns);
	struct pollfd fds[] = {{-1, POLLIN, 0}, {connection_event_fd(c->rdma), POLLIN, 0}};
	int ret = rpma_cq_get_fd(c->cq, &fds[0].fd);

	if (ret == 0 && ppoll(fds, 2, &left, NULL) > 0 && fds[0].revents != 0)
		ret = rpma_cq_wait(c->cq);
	if (ret != 0 && ret != RPMA_E_NO_COMPLETION) {
		failure_set(EXIT_RUN_FAILED, "data", "%s: cannot wait for completions: %s",
			    c->server, connection_cause(ret));
		io_queue_break(q, EIO);
	}
}

/* After a poll that did not bring what is waited for: false when the time has passed. */
static bool io_queue_wait_more(struct io_queue *q, struct wait *wait)
{
	bool poll = q->connection->cfg.settings->poll;
	uint64_t now;

	if (poll && ++wait->empty % EMPTY_POLLS != 0)
		return true;
	now = monotonic_ns();
	if (now >= wait->check_ns) {
		check_limits(q, wait, now);
		wait->check_ns = now + CHECK_NS;
	}
	if (q->broken != 0 || now >= wait->limit_ns)
		return false;
	if (!poll)
		sleep_until(q, MIN(SLEEP_NS, wait->limit_ns - now));
	return true;
}

bool io_queue_await_credit(struct io_queue *q)
{
	struct wait wait;

	if (q->credits > 0)
		return true;
	wait = io_queue_wait_begin(q, UINT64_MAX);
	while (q->broken == 0 && q->credits == 0) {
		io_queue_wait_more(q, &wait);
		io_queue_poll(q);
	}
	return q->broken == 0;
}

uint32_t io_queue_wait(struct io_queue *q, uint32_t count, uint64_t timeout_ns)
{
	struct wait wait;

	/* a poll brings many at once: most waits have theirs already */
	if (q->done_count >= count || io_queue_poll(q) >= count || q->under_way == 0)
		return q->done_count;
	wait = io_queue_wait_begin(q, timeout_ns);
	while (io_queue_poll(q) < count && q->under_way > 0) {
		if (!io_queue_wait_more(q, &wait))
			break;
	}
	return q->done_count;
}

/*
 * Flushes what the policy fsync has left dirty, and waits.
 *
 * A flush by read covers all writes before it. Where flushes have ranges there
 * is one for each dirty extent, as many at a time as the queues have room for
 * beside the operations that are out.
 */

/* The bytes that a server makes durable for one request: some ms, and a sign of progress. */
#define RANGE_MAX (64ULL << 20)

static uint32_t fewer(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* An operation that is out has two slots in the send queue, and one message. A goodbye: one. */
static uint32_t room(const struct io_queue *q)
{
	uint32_t room = q->connection->cfg.sq_size - 2 * q->under_way - 1;

	if (q->method == METHOD_GPSPM)
		room = fewer(room, q->messages_size - q->under_way);
	return fewer(room, q->extents_size);
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

int io_queue_sync(struct io_queue *q)
{
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
