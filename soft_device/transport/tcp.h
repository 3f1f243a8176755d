/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp.h -- operations on a peer whose memory cannot be reached directly.
 *
 * Requests go out on the connection this process made, answers come back on it in
 * order. The peer's agent executes; ours hands each answer to sq_answered().
 */
#ifndef SOFT_TRANSPORT_TCP_H
#define SOFT_TRANSPORT_TCP_H

#include "soft_device/datapath/request.h"

struct tcp;

/*
 * Queues the request (its payload is copied) and sends what the socket takes. `ticket` comes back
 * with the answer. 0; -EAGAIN: enough is queued, sq_resume() will be called when there is room
 * again; -EPIPE: the peer is gone. Any thread.
 */
int tcp_request(struct tcp *tcp, const union ibv_gid *gid, uint32_t qpn, uint64_t ticket,
		const struct request *request);

/* sq.c implements; called on the agent's thread. The data are a read's bytes, request.length of
 * them. */
void sq_answered(uint32_t own_qpn, const union ibv_gid *own_gid, uint64_t ticket,
		 const struct outcome *outcome, const void *data, size_t bytes);
void sq_resume(const struct peer *peer);

#endif /* SOFT_TRANSPORT_TCP_H */
