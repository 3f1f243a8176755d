/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server_repeat.h -- the server's side of one repeat: an endpoint of its own for the
 * lanes, who answers on them, who loads the cores, and the report of it all.
 *
 * Its session drives it: polls the stage's descriptors beside its own, and
 * passes on the client's messages. Lanes have an endpoint of their own because
 * the queues of a connection are made before its greeting can be read.
 */
#ifndef BENCH_SERVER_REPEAT_SERVICE_H
#define BENCH_SERVER_REPEAT_SERVICE_H

#include <jansson.h>
#include <poll.h>

#include "server_state.h"
#include "tools/rpma-bench/measure/offsets.h"
#include "tools/rpma-bench/protocol/message.h"

#define STAGE_FDS 2

struct stage;

/* -EIO with the sentence stored: why the client cannot have this. */
int stage_open(struct stage **stage, struct host *host, const struct message_begin *begin);
/* Ends what it started, wherever it is; NULL is fine. */
void stage_close(struct stage **stage);

/* What the client needs to connect its lanes. */
void stage_describe(const struct stage *stage, struct message_ready *ready);

/* What to wait for; descriptors may be -1. */
void stage_fds(const struct stage *stage, struct pollfd fds[STAGE_FDS]);
/* Some of them are readable: a lane comes, or goes, or work is done. */
int stage_look(struct stage *stage, const struct pollfd fds[STAGE_FDS]);

int stage_start(struct stage *stage, enum message_phase phase);
/* The client is done. */
int stage_end(struct stage *stage, const struct message_end *end,
	      const struct access_breath *breath);
/* After stage_end: is there nothing left to wait for? */
bool stage_is_done(const struct stage *stage);
/* A new object; NULL with the sentence stored. */
json_t *stage_report(struct stage *stage);

#endif /* BENCH_SERVER_REPEAT_SERVICE_H */
