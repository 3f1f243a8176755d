/* SPDX-License-Identifier: BSD-3-Clause */
/* receive.h -- the receive that a message takes at its target: found, filled, completed. */
#pragma once

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft_device/process/segment.h"
#include "soft_device/transport/peer.h"
#include "soft_device/transport/request.h"
#include "soft_device/transport/vendor_err.h"

/* A request that is being executed: the target, its owner, what is asked of it, and its bytes. */
struct execution {
	struct peer *peer;
	struct shared_qp *target;
	uint32_t qpn;
	const struct request *request;
	const struct local_memory *local;
};

/* A receive as taken out of its ring. */
struct received {
	uint64_t wr_id;
	uint32_t num_sge;
	uint32_t pd;
	uint32_t position; /* in its ring */
	struct ibv_sge sge[SOFT_MAX_SGE];
};

/* The SRQ that the target takes its receives of; NULL: its own ring. */
static inline struct shared_srq *receive_srq(const struct execution *x)
{
	return x->target->srq < SEGMENT_SRQS ? &x->peer->segment->srq[x->target->srq] : NULL;
}

/*
 * The next receive, if it has room for `least` bytes. A receive that is too short stays in its
 * queue. A receive of a QP stays in its ring until receive_complete(), so that none is lost when
 * this process is killed meanwhile. Callers hold shared_qp.lock, as for the rest.
 */
enum receive_found { RECEIVE_NONE, RECEIVE_SHORT, RECEIVE_FOUND };
enum receive_found receive_next(const struct execution *x, uint64_t least,
				struct received *received);

/*
 * True if one that is not there may come soon. Where no answer tells the sender, a message is tried
 * again only then: a QP that never had a receive is not about to post the next.
 */
static inline bool receive_may_come(const struct execution *x)
{
	return receive_srq(x) != NULL || atomic_load(&x->target->rq.head) != 0;
}

uint64_t receive_room(const struct received *received);

/* The parts that `length` bytes reach, for which there is room; or false and why not. */
bool receive_scatter(const struct execution *x, const struct received *received, uint64_t length,
		     struct iovec parts[SOFT_MAX_SGE], unsigned *count, enum vendor_err *why);

/* Its completion; false when the CQ overflowed. */
bool receive_complete(const struct execution *x, const struct received *received,
		      enum ibv_wc_status status, enum vendor_err why);
