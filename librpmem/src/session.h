/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h -- the daemon of one pool, reached over ssh: starts it, asks it, ends it.
 *
 * A thread of the session's own reads all that the daemon sends. When the daemon
 * is gone, or sends what is not of the protocol, that thread makes session_fd()
 * readable for good.
 */
#ifndef RPMEM_SESSION_H
#define RPMEM_SESSION_H

#include <librpmem.h>
#include <stdbool.h>
#include <stdint.h>

#include "librpmem/wire/control.h"
#include "ssh_target.h"

struct session;

/*
 * Starts ssh and waits for the daemon's HELLO. Like all others: 0 or a negative errno, with
 * the sentence stored by failure_set(); ssh's own first line is in it. Tries again within a bound where ssh could not connect.
 */
int session_open(struct session **session, const struct ssh_target *target);
int session_create_pool(struct session *session, const struct control_pool_request *request,
			struct control_pool_reply *reply);
int session_open_pool(struct session *session, const struct control_pool_request *request,
		      struct control_pool_reply *reply);
int session_set_attr(struct session *session, const struct rpmem_pool_attr *attr);
/* The first persist of a pool just created has completed. */
int session_persisted(struct session *session);
/* Readable: the session has ended; what waits for lanes must give up. */
int session_fd(const struct session *session);
/* Why it ended, as a negative errno, with the sentence stored; 0: it has not. Any thread. */
int session_ended(struct session *session);
/* Ends the daemon and waits for ssh; `remove` as CONTROL_CLOSE_REMOVE. -ECONNRESET: the daemon had died. */
int session_close(struct session **session, bool remove);

/* rpmem_remove(): starts ssh with `rpmemd --remove SET ...`. */
int session_remove(const struct ssh_target *target, const char *pool_set, bool force, bool with_set);

#endif /* RPMEM_SESSION_H */
