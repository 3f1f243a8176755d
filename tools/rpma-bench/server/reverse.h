/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reverse.h -- the other direction of a bidirectional repeat: the server runs
 * the same operation towards its client's memory, over the same queue pairs.
 */
#pragma once

#include <jansson.h>

#include "server_state.h"
#include "tools/rpma-bench/measure/qp.h"
#include "tools/rpma-bench/protocol/message.h"

struct reverse;

/* The most that the memory of all its queue pairs takes. */
uint64_t reverse_buffer_bytes(const struct params *params);

/* The arguments must outlive it; cpus are those of its threads, -1: not bound. */
int reverse_new(struct reverse **reverse, struct server_state *server,
		const struct message_begin *begin, const int *cpus);
/* Disconnects its queue pairs, too; NULL is fine. */
void reverse_delete(struct reverse **reverse);

/* How to accept one of its queue pairs. */
const struct connection_queues *reverse_qp(const struct reverse *reverse);
/* The queue pair is there; takes the connection in any case. */
int reverse_attach(struct reverse *reverse, uint32_t index, struct connection *connection);

int reverse_start(struct reverse *reverse, enum message_phase phase);
/* Ends the measurement and gives its figures; NULL with the error message set. */
json_t *reverse_end(struct reverse *reverse);
