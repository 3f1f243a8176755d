/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h -- the daemon of one pool, reached over ssh: starts it, sends it
 * requests, ends it.
 *
 * A thread of the session reads everything that the daemon and ssh send. When
 * the daemon is gone, or breaks the protocol, that thread ends the session: it
 * stores why, and makes session_fd() readable for good.
 */
#pragma once

#include <librpmem.h>
#include <stdbool.h>

#include "librpmem/wire/control.h"
#include "ssh_target.h"

struct session;

struct session_cfg {
	const struct ssh_target *target; /* borrowed until session_open() returns */
	const char *command;		 /* the same */
	int start_timeout_ms;		 /* 0: SESSION_START_MS */
	int reply_timeout_ms;		 /* 0: SESSION_REPLY_MS, and more for a large pool */
};

#define SESSION_START_MS 60000
#define SESSION_REPLY_MS 120000

/*
 * Each returns 0 or a negative errno, with the error message set by failure_set(). A status of the
 * daemon is that errno. -ECONNRESET: ssh or the daemon is gone, did not start, or does not
 * answer; the error message has ssh's own line. -EPROTO, -EPROTONOSUPPORT: it broke the protocol.
 */

/* Starts ssh and waits for STARTED; starts ssh again, a few times, if it could not connect. */
int session_open(struct session **session, const struct session_cfg *cfg);
int session_create_pool(struct session *session, const struct control_pool_request *request,
			struct control_pool_reply *reply);
int session_open_pool(struct session *session, const struct control_pool_request *request,
		      struct control_pool_reply *reply);
int session_set_attr(struct session *session, const struct rpmem_pool_attr *attr);
/* The first persist of a pool just created has completed; 0: the daemon knows. Any thread. */
int session_persisted(struct session *session);
/* Readable: the session has ended; waits for lanes must give up. */
int session_fd(const struct session *session);
/* 0, or the error that ended it, with the error message set. Any thread. */
int session_ended(const struct session *session);
/*
 * Ends it for the lanes, with this error and the calling thread's error message, unless it has
 * ended before; the daemon still gets its CLOSE. Any thread.
 */
void session_end(struct session *session, int error);
/*
 * Ends the daemon, `remove` as CONTROL_CLOSE_REMOVE, and ssh. The session is gone also if it
 * fails: the daemon was gone before, or could not close the pool. NULL is fine.
 */
int session_close(struct session **session, bool remove);

/*
 * Runs `COMMAND --remove SET` on the target. The daemon's exit status is the errno; -ECHILD: the
 * program took the status of our child, so nothing is known.
 */
int session_remove(const struct session_cfg *cfg, const char *pool_set, bool force, bool with_set);
