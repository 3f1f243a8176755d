/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_server_serve.c -- the loop of the server.
 *
 * It waits for all descriptors at once. While it is to poll and a client sends
 * messages it looks for them instead, and at the descriptors only now and then.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "memory_server_private.h"

#define WAIT_MS	    100 /* at most until it is asked whether it is to stop */
#define SPIN_NS	    1000000
#define LEAVE_MS    1000 /* for clients still connected when it is stopped */
#define ROUNDS	    16	 /* polls between two looks at the clock */
#define SESSION_FDS 2

unsigned memory_server_clients(const struct memory_server *m)
{
	unsigned here = 0;

	for (unsigned i = 0; i < m->count; i++) {
		const struct session *s = m->sessions[i];

		/* a client hears that it is connected before we do, and may be at work */
		here += s->state == SESSION_SERVED || (s->state == SESSION_OPENING && s->welcome);
	}
	return here;
}

/* --- looking -------------------------------------------------------------- */

static bool poll_all(struct memory_server *m, int64_t at_ms, bool *any_active)
{
	bool found = false;

	*any_active = false;
	for (unsigned i = 0; i < m->count; i++) {
		struct session *s = m->sessions[i];

		if (!session_active(s))
			continue;
		*any_active = true;
		found |= session_poll(s, at_ms);
	}
	return found;
}

/* Looks for messages without waiting, for a millisecond; false: there was none. */
static bool spin(struct memory_server *m)
{
	const uint64_t begin = monotonic_ns();
	const int64_t begin_ms = (int64_t)(begin / 1000000);
	bool active;

	do {
		for (int i = 0; i < ROUNDS; i++) {
			poll_all(m, begin_ms, &active);
			if (!active)
				return false;
		}
	} while (monotonic_ns() - begin < SPIN_NS);
	return true;
}

/* --- waiting -------------------------------------------------------------- */

static nfds_t list_fds(const struct memory_server *m, struct pollfd *fds)
{
	nfds_t n = 0;

	fds[n++] = (struct pollfd){m->service.ep_fd, POLLIN, 0};
	for (unsigned i = 0; i < m->count; i++) {
		const struct session *s = m->sessions[i];

		fds[n++] = (struct pollfd){s->event_fd, POLLIN, 0};
		fds[n++] = (struct pollfd){session_active(s) ? s->messages_fd : -1, POLLIN, 0};
	}
	return n;
}

static int wait_and_take(struct memory_server *m, int timeout_ms, bool admit)
{
	struct pollfd fds[1 + SESSION_FDS * SERVER_SESSIONS_MAX];
	const nfds_t n = list_fds(m, fds);
	const int ready = poll(fds, n, timeout_ms);
	const int64_t at_ms = monotonic_ms();

	if (ready < 0 && errno != EINTR)
		return failure_set(EXIT_INTERNAL, "serve", "poll: %s", strerror(errno));
	if (ready <= 0)
		return 0;
	for (unsigned i = 0; i < m->count; i++) {
		struct session *s = m->sessions[i];

		if (fds[1 + SESSION_FDS * i + 1].revents != 0)
			session_wake(s);
		if (fds[1 + SESSION_FDS * i].revents != 0)
			session_event(s, at_ms);
	}
	return admit && fds[0].revents != 0 ? memory_server_admit(m, at_ms) : 0;
}

/* --- coming and going ----------------------------------------------------- */

static void forget(struct memory_server *m, unsigned index)
{
	struct session *s = m->sessions[index];

	if (s->welcome && !s->came)
		m->come--;
	if (s->missed && m->missed++ == 0)
		memcpy(m->missed_name, s->name, sizeof(m->missed_name));
	session_close(&m->sessions[index]);
	m->sessions[index] = m->sessions[--m->count];
}

static void tick_all(struct memory_server *m)
{
	const int64_t at_ms = monotonic_ms();

	for (unsigned i = m->count; i-- > 0;) {
		session_tick(m->sessions[i], at_ms);
		if (m->sessions[i]->state == SESSION_OVER)
			forget(m, i);
	}
	/* who came first was never there: it told nothing */
	if (m->come == 0)
		m->expected = m->cfg.settings->clients;
}

/* No client is here or awaited and all expected ones came; after a loss those left are enough. */
static bool done(const struct memory_server *m)
{
	for (unsigned i = 0; i < m->count; i++) {
		if (m->sessions[i]->welcome)
			return false;
	}
	return m->missed > 0 || (m->come > 0 && m->come >= m->expected);
}

static int serve(struct memory_server *m, bool admit)
{
	bool polling = m->cfg.settings->poll, active, busy;
	int ret;

	busy = polling ? spin(m) : poll_all(m, monotonic_ms(), &active);
	ret = wait_and_take(m, busy ? 0 : WAIT_MS, admit);
	if (ret == 0)
		tick_all(m);
	return ret;
}

/* It was stopped: who is connected may end what it is doing, and is then left. */
static void wind_up(struct memory_server *m)
{
	const int64_t until = monotonic_ms() + LEAVE_MS;

	while (memory_server_clients(m) > 0 && monotonic_ms() < until) {
		if (serve(m, false) != 0)
			return;
	}
	for (unsigned i = 0; i < m->count; i++)
		session_leave(m->sessions[i], monotonic_ms());
}

int memory_server_serve(struct memory_server *m)
{
	int ret = 0;

	while (ret == 0 && !done(m)) {
		if (m->cfg.stopped != NULL && m->cfg.stopped(m->cfg.arg)) {
			wind_up(m);
			break;
		}
		ret = serve(m, true);
	}
	if (ret == 0 && m->missed == 1)
		return failure_set(EXIT_RUN_FAILED, "serve",
				   "%s went without saying that it was done, and did not come back",
				   m->missed_name);
	if (ret == 0 && m->missed > 1)
		return failure_set(EXIT_RUN_FAILED, "serve",
				   "%u of %u clients went without saying that they were done, and "
				   "did not come back, first %s",
				   m->missed, m->come, m->missed_name);
	return ret;
}
