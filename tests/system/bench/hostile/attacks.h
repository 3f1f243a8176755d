/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attacks.h -- what a client can do to a server of rpma-bench that no client of
 * ours does. Each is one connection, or one and its queue pairs, and ends by itself;
 * the same random state makes the same attack.
 */
#pragma once

#include <librpma.h>
#include <stdint.h>

#include "common/rdma/connection.h"
#include "tools/rpma-bench/protocol/message.h"

struct victim {
	struct rpma_peer *peer;
	const char *address;
	uint16_t port;
	uint64_t random;
};

uint64_t attack_random(struct victim *victim, uint64_t below);

/* Goes as far as the server lets it; what becomes of it is the server's to decide. */
void attack_any(struct victim *victim);

/* The pieces: a connection that was welcomed. NULL: refused. */
struct connection *attack_welcomed(struct victim *victim);
/* Waits for the answer to a BEGIN; 0 or negative. */
int attack_begin(struct connection *connection, const struct message_begin *begin,
		 struct message_ready *ready);
struct connection *attack_qp(struct victim *victim, const struct message_ready *ready, uint32_t qp,
			     uint64_t token);
struct message_begin attack_good_begin(uint32_t qps);
