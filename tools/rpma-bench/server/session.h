/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h -- the server's side of one client: its control connection, from the
 * handshake to the end of the run.
 */
#ifndef BENCH_SERVER_SESSION_H
#define BENCH_SERVER_SESSION_H

#include "server_state.h"

/* Welcomes the client and serves it until it has left. As service.serve; server is a struct
 * server_state. */
void session_serve(void *server, struct service_client *client);

#endif /* BENCH_SERVER_SESSION_H */
