/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server_repeat.h -- the server's side of one repeat: an endpoint of its own for the
 * queue pairs, who answers on them, who loads the cores, and the report of it all.
 *
 * Its session drives it: polls the repeat's descriptors beside its own, and
 * passes on the client's messages. Queue pairs have an endpoint of their own because
 * the queues of a connection are made before its handshake can be read.
 */
#pragma once

#include <jansson.h>
#include <poll.h>

#include "server_state.h"
#include "tools/rpma-bench/measure/offsets.h"
#include "tools/rpma-bench/protocol/message.h"

#define SERVER_REPEAT_FDS 2

struct server_repeat;

/* -EIO with the error message set: why the client cannot have this. */
int server_repeat_open(struct server_repeat **repeat, struct server_state *server,
		       const struct message_begin *begin);
/* Ends what it started, wherever it is; NULL is fine. */
void server_repeat_close(struct server_repeat **repeat);

/* Fills in what the client needs to connect its queue pairs. */
void server_repeat_describe(const struct server_repeat *repeat, struct message_ready *ready);

/* The descriptors to wait for; some may be -1. */
void server_repeat_fds(const struct server_repeat *repeat, struct pollfd fds[SERVER_REPEAT_FDS]);
/* Some of them are readable: a queue pair comes, or goes, or work is done. */
int server_repeat_poll(struct server_repeat *repeat, const struct pollfd fds[SERVER_REPEAT_FDS]);

int server_repeat_start(struct server_repeat *repeat, enum message_phase phase);
/* The client is done. */
int server_repeat_end(struct server_repeat *repeat, const struct message_end *end,
		      const struct access_keepalive *keepalive);
/* After server_repeat_end: is there nothing left to wait for? */
bool server_repeat_is_done(const struct server_repeat *repeat);
/* A new object; NULL with the error message set. */
json_t *server_repeat_report(struct server_repeat *repeat);
