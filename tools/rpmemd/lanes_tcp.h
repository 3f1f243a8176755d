/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes_tcp.h -- the lanes of a pool over TCP, as lanes.h has them over RDMA.
 */
#ifndef RPMEMD_LANES_TCP_H
#define RPMEMD_LANES_TCP_H

#include "lanes.h"

struct lanes_tcp;

int lanes_tcp_open(struct lanes_tcp **lanes, const struct lanes_cfg *cfg, struct method *method,
		   struct lanes_endpoint *endpoint);
void lanes_tcp_close(struct lanes_tcp **lanes);

#endif /* RPMEMD_LANES_TCP_H */
