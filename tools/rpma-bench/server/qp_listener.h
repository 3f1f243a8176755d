/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp_listener.h -- where the queue pairs of one repeat arrive at the server: an endpoint
 * on a port of its own that takes the queue pairs expected, in their order, and no
 * other. Another connection is refused, and the slot stays free.
 */
#pragma once

#include "common/rdma/connection.h"
#include "server_state.h"

struct qp_listener {
	struct server_state *server;		/* borrowed */
	const struct connection_knobs *knobs;	/* borrowed; of its connections */
	const struct exported_region *exported; /* borrowed; what the queue pairs are told of */
	struct rpma_ep *ep;
	int fd; /* readable: qp_listener_accept() has something to do; -1: none is expected */
	uint16_t port;
	uint64_t token;
};

int qp_listener_open(struct qp_listener *listener, struct server_state *server,
		     const struct exported_region *exported, const struct connection_knobs *knobs);
/* A listener that was never opened is fine if it is zero. */
void qp_listener_close(struct qp_listener *listener);

/*
 * Takes the queue pair of this index, if it is there; its queues are those of the
 * reply's caller. *connection stays NULL when another connection came, or none.
 */
int qp_listener_accept(struct qp_listener *listener, uint32_t index,
		       const struct connection_queues *queues, struct connection **connection);
