/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp.h -- operations on a peer whose memory cannot be reached directly.
 *
 * Requests go out on the connection this process made, answers come back on it in
 * order. The peer's agent executes; here a thread that polls, or else the agent, hands each answer
 * to peer_user->answered().
 */
#pragma once

#include "request.h"

struct tcp;

extern const struct process_part tcp_part;

/*
 * Queues the request (its payload is copied) and sends what the socket takes. `ticket` comes back
 * with the answer. 0; -EAGAIN: enough is queued, peer_user->resume() will be called when there is
 * room again; -EPIPE: the peer is gone. Any thread.
 */
int tcp_request(struct tcp *tcp, const union ibv_gid *gid, uint32_t qpn, uint64_t ticket,
		const struct request *request, const struct local_memory *local);

/* Requests without an answer, of all connections. */
extern _Atomic uint32_t tcp_unanswered;
/* For a thread that polls: receives the answers that have come on one connection. No lock held. */
void tcp_poll(void);
/* A CQ was armed, so its thread may go to sleep: answers are the agent's again. No lock held. */
void tcp_armed(void);
