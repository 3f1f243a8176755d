/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h -- one client's session: what it asks over ssh, from STARTED until it
 * closes the pool or is gone.
 *
 * One session has one pool. Where it ends without CONTROL_CLOSE, parts that it has
 * created go again, unless the client reported its first persist: a client that
 * died while it filled them would find them whole.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>

#include "common/base/monotonic.h"

#define BUSY_WAIT_MS 8000

/*
 * Waits for a pool that another daemon is about to unlock. The client of that one was killed a
 * moment ago, and the next one is already here. Not every client tries again: `pmempool sync`
 * deletes a replica that it cannot open.
 */
struct busy {
	int64_t end_ms;
	int pause_ms; /* before the next try */
};

static inline struct busy busy_begin(int wait_ms)
{
	return (struct busy){monotonic_ms() + wait_ms, 20};
}

/* True if a call that returned `ret` is worth another try; pauses first. */
static inline bool busy_wait(struct busy *busy, int ret)
{
	struct timespec pause = {.tv_nsec = busy->pause_ms * 1000000L};

	if (ret != -EBUSY || monotonic_ms() + busy->pause_ms > busy->end_ms)
		return false;
	nanosleep(&pause, NULL);
	if (busy->pause_ms < 320)
		busy->pause_ms *= 2;
	return true;
}

struct session_cfg {
	int in;	     /* requests arrive here */
	int out;     /* and are answered there; nothing else may write to it */
	int stop_fd; /* readable: end as if the client were gone; -1: none */
	const char *poolset_dir;
	const char *address; /* where lanes are accepted */
	bool persist_apm;
	int busy_wait_ms; /* how long a locked pool is tried again */
};

enum session_end {
	SESSION_CLOSED,	  /* the client closed the pool, or had none */
	SESSION_GONE,	  /* it ended without that */
	SESSION_VIOLATED, /* it broke the protocol */
};

/* Sends STARTED without a session behind it: a status that is not 0, and the stored error
 * message. */
void session_refuse(int out, int status);
/* STARTED and all that follows; the pool is closed when it returns. */
enum session_end session_run(const struct session_cfg *cfg);
