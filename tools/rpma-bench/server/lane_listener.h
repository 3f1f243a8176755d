/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_listener.h -- where the lanes of one repeat arrive at the server: an endpoint
 * on a port of its own that takes the lanes expected, in their order, and no
 * other. Another connection is refused, and the place stays free.
 */
#ifndef BENCH_SERVER_ACCEPT_H
#define BENCH_SERVER_ACCEPT_H

#include "server_state.h"
#include "tools/common/rdma/connection.h"

struct reception {
	struct host *host;	   /* borrowed */
	const struct offer *offer; /* borrowed; what the lanes are told of */
	struct rpma_ep *ep;
	int fd; /* readable: reception_look has something to do; -1: no lane is expected */
	uint16_t port;
	uint64_t token;
};

int reception_open(struct reception *reception, struct host *host, const struct offer *offer);
/* What was never opened is fine if it is zero. */
void reception_close(struct reception *reception);

/*
 * Takes the lane of this index, if it is there; its queues are those of the
 * reply's caller. *link stays NULL when another connection came, or none.
 */
int reception_look(struct reception *reception, uint32_t index, const struct link_lane *queues,
		   struct link **link);

#endif /* BENCH_SERVER_ACCEPT_H */
