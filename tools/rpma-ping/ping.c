/* SPDX-License-Identifier: BSD-3-Clause */
/* ping.c -- posts, waits and compares; nothing here but what is timed. */
#include "ping.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "common/base/cli.h"
#include "common/base/monotonic.h"

const char *step_name(enum step step)
{
	static const char *const names[STEPS] = {
		"parse",    "resolve", "device", "request", "connect", "handshake",  "region",
		"register", "write",   "flush",	 "read",    "compare", "disconnect",
	};

	return names[step];
}

void steps_init(struct steps *steps)
{
	for (int i = 0; i < STEPS; i++)
		steps->ns[i] = -1;
	steps_begin(steps, STEP_PARSE);
}

void steps_begin(struct steps *steps, enum step step)
{
	steps->current = step;
	steps->begun_ns = monotonic_ns();
}

void steps_done(struct steps *steps)
{
	steps->ns[steps->current] = (int64_t)(monotonic_ns() - steps->begun_ns);
}

/* How often a busy wait looks at the time, the connection and signals. */
#define EMPTY_POLLS 1024
#define MS	    1000000ULL

#define BIT(step)   (1U << (step))

static int end(struct ping_report *r, enum ping_end how, enum step step)
{
	r->end = how;
	r->step = step;
	return -1;
}

static int end_with_code(struct ping_report *r, enum step step, int code)
{
	r->code = code;
	return end(r, PING_FAILED, step);
}

static int end_with_connection(struct ping_report *r, enum step step)
{
	r->ended = true;
	return end(r, PING_FAILED, step);
}

/* Sleeps until there may be a completion. */
static int sleep_for_completion(struct ping *p, enum step step, uint64_t left_ns,
				struct ping_report *r)
{
	struct pollfd fds[] = {{p->cq_fd, POLLIN, 0},
			       {connection_event_fd(p->connection), POLLIN, 0},
			       {cli_stop_fd(), POLLIN, 0}};
	const struct timespec left = timespec_of_ns(left_ns);
	int ret = ppoll(fds, 3, &left, NULL);

	if (ret < 0 && errno != EINTR)
		return end_with_code(r, step, RPMA_E_PROVIDER);
	if (ret <= 0)
		return 0;
	if (fds[0].revents != 0) {
		ret = rpma_cq_wait(p->cq);
		return ret == 0 || ret == RPMA_E_NO_COMPLETION ? 0 : end_with_code(r, step, ret);
	}
	return fds[2].revents != 0 ? end(r, PING_STOPPED, step) : 0;
}

/* A wait may end by the time, the peer or a signal. */
static int check_limits(struct ping *p, enum step step, uint64_t deadline_ns, struct ping_report *r)
{
	uint64_t now = monotonic_ns();

	if (cli_signal != 0)
		return end(r, PING_STOPPED, step);
	if (now >= deadline_ns)
		return end(r, PING_LATE, step);
	if (!connection_alive(p->connection, 0))
		return end_with_connection(r, step);
	return p->by_event ? sleep_for_completion(p, step, deadline_ns - now, r) : 0;
}

static int take(struct ping *p, const struct ibv_wc *wc, struct ping_report *r)
{
	enum step step = (enum step)wc->wr_id;

	p->under_way &= ~BIT(step);
	if (wc->status != IBV_WC_SUCCESS) {
		r->wc_status = wc->status;
		return end(r, PING_FAILED, step);
	}
	if (step == STEP_FLUSH)
		p->native_flush = wc->opcode != IBV_WC_RDMA_READ;
	return 0;
}

/* Takes completions until that of a step has come. */
static int await(struct ping *p, enum step step, uint64_t deadline_ns, struct ping_report *r)
{
	unsigned empty = 0;
	struct ibv_wc wc;

	while ((p->under_way & BIT(step)) != 0) {
		int ret = rpma_cq_get_wc(p->cq, 1, &wc, NULL);

		if (ret == 0)
			ret = take(p, &wc, r);
		else if (ret != RPMA_E_NO_COMPLETION)
			ret = end_with_code(r, step, ret);
		else if (p->by_event || ++empty % EMPTY_POLLS == 0)
			ret = check_limits(p, step, deadline_ns, r);
		else
			ret = 0;
		if (ret)
			return ret;
	}
	return 0;
}

static size_t pattern_at(const struct ping *p)
{
	return p->turn.last * p->stride_bytes;
}

/* Another pattern than what is there, whichever pings came to nothing between. */
static int post_write(struct ping *p, struct ping_report *r)
{
	int ret;

	pattern_next(&p->turn, p->size_bytes);
	ret = rpma_write(p->conn, p->remote, 0, p->mr, pattern_at(p), p->size_bytes,
			 RPMA_F_COMPLETION_ALWAYS, (void *)(uintptr_t)STEP_WRITE);
	if (ret)
		return end_with_code(r, STEP_WRITE, ret);
	p->under_way |= BIT(STEP_WRITE);
	r->posted = true;
	ret = rpma_flush(p->conn, p->remote, 0, p->size_bytes, p->flush, RPMA_F_COMPLETION_ALWAYS,
			 (void *)(uintptr_t)STEP_FLUSH);
	if (ret)
		return end_with_code(r, STEP_FLUSH, ret);
	p->under_way |= BIT(STEP_FLUSH);
	return 0;
}

static size_t sink_at(const struct ping *p)
{
	return p->turn.count * p->stride_bytes;
}

static int post_read(struct ping *p, struct ping_report *r)
{
	int ret = rpma_read(p->conn, p->mr, sink_at(p), p->remote, 0, p->size_bytes,
			    RPMA_F_COMPLETION_ALWAYS, (void *)(uintptr_t)STEP_READ);

	if (ret)
		return end_with_code(r, STEP_READ, ret);
	p->under_way |= BIT(STEP_READ);
	return 0;
}

/* Waits for the operations that a lost ping has left under way. */
static int drain(struct ping *p, uint64_t deadline_ns, struct ping_report *r)
{
	for (enum step step = STEP_WRITE; step <= STEP_READ; step++) {
		if (await(p, step, deadline_ns, r) != 0)
			return -1;
	}
	return 0;
}

/* Awaits, and tells when. What comes after its time is late, however it was waited for. */
static int await_in_time(struct ping *p, enum step step, uint64_t deadline_ns, uint64_t *at_ns,
			 struct ping_report *r)
{
	if (await(p, step, deadline_ns, r) != 0)
		return -1;
	*at_ns = monotonic_ns();
	return *at_ns > deadline_ns ? end(r, PING_LATE, step) : 0;
}

static void compare(const struct ping *p, struct ping_report *r)
{
	const uint8_t *sink = p->memory + sink_at(p), *pattern = p->memory + pattern_at(p);

	if (memcmp(sink, pattern, p->size_bytes) != 0) {
		end(r, PING_CORRUPT, STEP_COMPARE);
		r->difference = pattern_compare(sink, pattern, p->size_bytes);
	}
}

void ping_once(struct ping *ping, struct ping_report *r)
{
	uint64_t begin = monotonic_ns(), deadline = begin + ping->limit_ns, written, flushed, back;

	memset(r, 0, sizeof(*r));
	if (ping->under_way != 0) {
		if (drain(ping, deadline, r) != 0)
			return;
		begin = monotonic_ns();
	}
	if (post_write(ping, r) != 0 ||
	    await_in_time(ping, STEP_WRITE, deadline, &written, r) != 0 ||
	    await_in_time(ping, STEP_FLUSH, deadline, &flushed, r) != 0 ||
	    post_read(ping, r) != 0 || await_in_time(ping, STEP_READ, deadline, &back, r) != 0)
		return;
	r->write_ns = written - begin;
	r->flush_ns = flushed - written;
	r->read_ns = back - flushed;
	r->rtt_ns = back - begin;
	compare(ping, r);
	r->compare_ns = monotonic_ns() - back;
}
