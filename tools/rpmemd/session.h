/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h -- one client's session: what it asks over ssh, from HELLO until it
 * closes the pool or is gone.
 *
 * One session has one pool. Where it ends without CONTROL_CLOSE, parts that it has
 * created go again, unless the client reported its first persist: a client that
 * died while it filled them would find them whole.
 */
#ifndef RPMEMD_SESSION_H
#define RPMEMD_SESSION_H

#include <stdbool.h>

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

/* Sends a HELLO that has no session behind it: a status that is not 0, and the stored error
 * message. */
void session_refuse(int out, int status);
/* HELLO and all that follows; the pool is closed when it returns. */
enum session_end session_run(const struct session_cfg *cfg);

#endif /* RPMEMD_SESSION_H */
