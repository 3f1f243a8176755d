/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp_check.h -- what `rpma-soft --check` looks at in queue pairs, receives and regions; called only
 * with check_any.
 */
#pragma once

#include "mr.h"
#include "qp.h"

/* Receives are about to be posted. */
void qp_check_receives(const struct qp *qp, const struct ibv_recv_wr *list, uint32_t stack);
void qp_check_srq_receives(const struct srq *srq, const struct ibv_recv_wr *list, uint32_t stack);
/* Receives were posted; `bad` is the first that was not, with its error. */
void qp_check_receive(struct qp *qp, const struct ibv_recv_wr *bad, int error);
void qp_check_srq_receive(struct srq *srq, const struct ibv_recv_wr *bad, int error);
/* A new queue pair: whether its completion queues have room for all that may complete. */
void qp_check_room(const struct qp *qp);
/* It is about to be destroyed, and its completions go with it; then it is destroyed. */
void qp_check_before_end(struct qp *qp);
/* It is about to change to this state. */
void qp_check_state(struct qp *qp, enum ibv_qp_state to);
void qp_check_end(struct qp *qp);

/* A region was registered; it was changed. */
void qp_check_region(const struct mr *mr);
void qp_check_region_changed(const struct mr *mr);
/* It is about to be deregistered; no lock held. */
void qp_check_in_flight(uint32_t key);
/* Pages are about to be taken from it, or its memory is freed; objects lock held. */
void qp_check_unmapped(uint32_t key, bool is_freed);

/* No completion can come into the CQ by itself, and requests without one were posted. */
bool qp_check_feeds_nothing(const struct cq *cq);
/* How often other CQs that QPs have were polled, up to a multiple; it counts on and on. */
uint32_t qp_check_polls_of_others(const struct cq *cq);
/* Entries of a CQ that the queues that complete into it may fill; objects lock held. */
uint64_t qp_check_sum(const struct cq *cq);
