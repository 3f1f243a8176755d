/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * responder.h -- the thread of the server that takes part in operations of two
 * sides: it persists and answers, echoes, or consumes what a write announced.
 *
 * There is one for each thread of the client, with that thread's queue pairs. A client
 * that keeps to its depth is never told that the receiver is not ready.
 */
#pragma once

#include <librpma.h>

#include "common/host/topology.h"
#include "common/rdma/connection.h"
#include "common/rdma/gpspm.h"
#include "tools/rpma-bench/protocol/params.h"

struct responder;

/* Does the server take part in such operations at all? */
bool responder_needed(const struct params *params);
/* The memory that the receives of one queue pair take. */
uint64_t responder_buffer_bytes(const struct params *params);

/* For params->connections queue pairs; persist outlives it, and is NULL unless asked for. */
int responder_new(struct responder **responder, struct rpma_peer *peer, const struct params *params,
		  const struct persist *persist);
/* How to accept its queue pair number index; borrowed. */
const struct connection_queues *responder_qp(struct responder *responder, uint32_t index);
/* The queue pair is there. */
void responder_attach(struct responder *responder, uint32_t index,
		      const struct connection *connection);
/* All queue pairs are there: begins to answer. cpu -1: not bound. */
int responder_start(struct responder *responder, const struct topology *topology, int cpu);
/* Ends its thread and gives the requests it served. */
uint64_t responder_stop(struct responder *responder);
/* Once stopped: the core its thread could not be bound to, and why (-errno); 0: it was. */
int responder_unbound(const struct responder *responder, int *cpu);
/* After the queue pairs were closed; NULL is fine. */
void responder_delete(struct responder **responder);
