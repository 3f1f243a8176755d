/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_queue_wait.c -- waits for completions, busily or asleep, and looks up now
 * and then: at the time, at the connection, and at the job's request to stop.
 */
#include <errno.h>
#include <poll.h>
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
struct wait io_queue_wait_begin(const struct io_queue *q, uint64_t timeout_ns)
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

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Until there may be a completion or an event of the connection. */
static void sleep_until(struct io_queue *q, uint64_t left_ns)
{
	struct job_connection *c = q->connection;
	const struct timespec left = {(time_t)(left_ns / 1000000000), (long)(left_ns % 1000000000)};
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

bool io_queue_wait_more(struct io_queue *q, struct wait *wait)
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
		sleep_until(q, smaller(SLEEP_NS, wait->limit_ns - now));
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

uint32_t io_queue_wait(struct io_queue *io_queue, uint32_t count, uint64_t timeout_ns)
{
	struct io_queue *q = io_queue;
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
