/* SPDX-License-Identifier: BSD-3-Clause */
/* pings.c -- one ping after the other, the pauses between them, and what is told of each. */
#include "client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/param.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "common/base/units.h"
#include "screen.h"

/* The message tells how the connection ended: it gets when. */
static void name_ping(uint64_t number)
{
	const struct failure f = *failure_get();

	failure_because(f.cause, EXIT_NEGATIVE, f.step, "%s at ping %llu", f.text,
			(unsigned long long)number);
}

/* Reports a ping after which there can be no other. */
static void failed(struct client *c, uint64_t number, struct ping_report *r)
{
	const struct ibv_wc wc = {.status = r->wc_status};
	const char *step = step_name(r->step);
	char what[CONNECTION_PEER_MAX + 96], size[UNITS_TEXT_BYTES];

	snprintf(what, sizeof(what), "ping %llu to %s%s%s: the %s", (unsigned long long)number,
		 c->dial.name, c->by_size != NULL ? " of " : "",
		 c->by_size != NULL ? units_print_size(c->ping.size_bytes, size) : "", step);
	if (r->wc_status != IBV_WC_SUCCESS)
		connection_work_failed(c->connection, step, what, &wc);
	else if (!r->ended)
		failure_because(connection_cause_of(r->code), EXIT_NEGATIVE, step, "%s failed: %s",
				what, connection_cause(r->code));
	failure_get()->code = EXIT_NEGATIVE;
	if (!connection_alive(c->connection, 0))
		name_ping(number);
	client_diagnose(c, step, r);
}

/* Reports the last ping that was lost or corrupt while the connection is there. */
static void damaged(struct client *c, uint64_t number, const struct ping_report *r)
{
	const struct pattern_difference *d = &r->difference;
	char limit[UNITS_TEXT_BYTES];

	if (r->end == PING_CORRUPT)
		failure_because(
			CAUSE_CORRUPT, EXIT_NEGATIVE, step_name(r->step),
			"ping %llu to %s came back corrupt: %llu of %zu bytes differ, the first "
			"at offset %llu: 0x%02x instead of 0x%02x",
			(unsigned long long)number, c->dial.name, (unsigned long long)d->bytes,
			c->ping.size_bytes, (unsigned long long)d->first, d->found, d->expected);
	else
		failure_because(CAUSE_NO_ANSWER, EXIT_NEGATIVE, step_name(r->step),
				"ping %llu to %s is lost: no completion of the %s within %s",
				(unsigned long long)number, c->dial.name, step_name(r->step),
				units_print_duration((double)c->options->limit_ns, limit));
	client_diagnose(c, step_name(r->step), r);
}

static void note_steps(struct client *c, const struct ping_report *r)
{
	int64_t *ns = c->steps.ns;

	if (ns[STEP_COMPARE] >= 0 || (r->end != PING_BACK && r->end != PING_CORRUPT))
		return;
	ns[STEP_WRITE] = (int64_t)r->write_ns;
	ns[STEP_FLUSH] = (int64_t)r->flush_ns;
	ns[STEP_READ] = (int64_t)r->read_ns;
	ns[STEP_COMPARE] = (int64_t)r->compare_ns;
}

/* False: the peer left meanwhile. A signal or the deadline end the pause too. */
static bool pause_until(struct client *c, uint64_t at_ns)
{
	struct pollfd fds[] = {{connection_event_fd(c->connection), POLLIN, 0},
			       {cli_stop_fd(), POLLIN, 0},
			       {c->status.fd, POLLIN, 0}};
	uint64_t now;

	while (cli_signal == 0 && (now = monotonic_ns()) < at_ns) {
		const struct timespec left = timespec_of_ns(at_ns - now);

		screen_flush();
		if (ppoll(fds, 3, &left, NULL) <= 0)
			continue;
		if (fds[2].revents != 0 && status_woken(&c->status))
			screen_status(c);
		if (fds[0].revents != 0 && !connection_alive(c->connection, 0))
			return false;
	}
	return true;
}

/* One ping and what is to be told of it. Negative: there can be no other. */
static int ping_number(struct client *c, uint64_t number, size_t *size, bool connected)
{
	struct ping_report r = {.end = PING_FAILED, .step = STEP_WRITE, .ended = true};

	c->ping.size_bytes = c->options->sizes[*size];
	screen_before(c);
	if (connected)
		ping_once(&c->ping, &r);
	stats_add(&c->stats, c->ping.size_bytes, &r);
	if (c->by_size != NULL)
		stats_add(&c->by_size[*size], c->ping.size_bytes, &r);
	/* what was not posted takes no turn of its size */
	if (r.posted)
		*size = (*size + 1) % c->options->sizes_count;
	if (r.end == PING_STOPPED)
		return -ECANCELED;
	note_steps(c, &r);
	if (r.end == PING_BACK && c->native_only && !c->ping.native_flush)
		return failure_set(EXIT_NEGATIVE, "flush",
				   "--expect-persistent: %s supports it for its device's own flush "
				   "only, but this flush is a read",
				   c->dial.name);
	if (r.end == PING_FAILED)
		failed(c, number, &r);
	else if (r.end != PING_BACK)
		damaged(c, number, &r);
	screen_ping(c, number, &r);
	if (screen_broken())
		return -EPIPE;
	return r.end == PING_FAILED ? -EIO : 0;
}

int pings_send(struct client *c, uint64_t begun_ns)
{
	const struct options *o = c->options;
	uint64_t deadline = o->deadline_ns > 0 ? begun_ns + o->deadline_ns : UINT64_MAX;
	uint64_t first = monotonic_ns(), number = 0, begin;
	size_t size = 0;
	bool connected = true;
	int ret = 0;

	connection_cause_clear();
	while (ret == 0 && cli_signal == 0 && (begin = monotonic_ns()) < deadline) {
		ret = ping_number(c, ++number, &size, connected);
		if (status_asked(&c->status))
			screen_status(c);
		if (ret != 0 ||
		    (number % o->sizes_count == 0 && number / o->sizes_count == o->count))
			break;
		connected = pause_until(c, MIN(begin + o->interval_ns, deadline));
	}
	c->pings_ns = monotonic_ns() - first;
	return ret == 0 && cli_signal != 0 ? -ECANCELED : ret;
}
