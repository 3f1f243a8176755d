/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h -- the server's side of one client: its control connection, in a
 * thread of its own, from the greeting to the end of the run.
 */
#ifndef BENCH_SERVER_SESSION_H
#define BENCH_SERVER_SESSION_H

#include "shared_state.h"

/* Takes the request: answers it in a new thread, or refuses it. */
void session_start(struct host *host, struct rpma_conn_req *req);

/* Waits until no session is left. */
void session_wait_all(struct host *host);

#endif /* BENCH_SERVER_SESSION_H */
