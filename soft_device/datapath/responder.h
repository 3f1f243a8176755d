/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * responder.h -- executes requests on their target QP, in any process that has its segment mapped.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft_device/process/segment.h"
#include "soft_device/transport/peer.h"
#include "soft_device/transport/request.h"

/*
 * Executes a request that the process with this identity sent over TCP for our QP `qpn` of device
 * `gid`, if that is connected to the process. *known: false when it is connected to another one.
 */
struct outcome responder_execute_for(struct peer *self, uint64_t identity, const union ibv_gid *gid,
				     uint32_t qpn, const struct request *request,
				     const struct local_memory *local, bool *known);

/*
 * Executes a request on a QP in the peer's segment (peer->segment is not NULL), which segment_qp()
 * has found: checks state, destination, rkey, bounds, access and PD; moves the bytes; takes and
 * completes a receive; on a fault moves that QP to ERR, flushes its receives and raises its event.
 */
struct outcome responder_execute_on(struct peer *peer, struct shared_qp *target, uint32_t qpn,
				    const struct request *request,
				    const struct local_memory *local);

/* True if `target` is this QP, and its partner is that one. Callers hold shared_qp.lock. */
static inline __attribute__((always_inline)) bool responder_knows(struct shared_qp *target,
								  uint32_t qpn, uint32_t src_qpn,
								  const union ibv_gid *src_gid)
{
	return atomic_load_explicit(&target->qpn, memory_order_relaxed) == qpn &&
	       target->dest_qpn == src_qpn &&
	       target->dest_gid.global.subnet_prefix == src_gid->global.subnet_prefix &&
	       target->dest_gid.global.interface_id == src_gid->global.interface_id;
}

/*
 * Moves the QP of this generation in the peer's segment to ERR: state, receives flushed with
 * WR_FLUSH_ERR, `raise` bits and RAISE_QP_FLUSH raised. Where its lock cannot be had the receives
 * are left to the owner's agent (RAISE_QP_RECEIVES). Another QP that has its entry since is left
 * alone.
 */
void responder_fail(struct peer *peer, struct shared_qp *qp, uint16_t generation, uint32_t raise);

/* The same for the receives alone, of a QP in ERR. False: its lock cannot be had now. */
bool responder_flush_soon(struct peer *peer, struct shared_qp *qp);

/*
 * Takes all receives of a QP that has no SRQ and completes them with WR_FLUSH_ERR. Callers hold
 * shared_qp.lock.
 */
void responder_flush(struct peer *peer, struct shared_qp *qp);
