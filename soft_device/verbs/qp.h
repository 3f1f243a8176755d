/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp.h -- queue pairs and shared receive queues, as their owner holds them.
 *
 * The part that a peer needs of a QP is in the segment (shared_qp); the rest, the send queue above
 * all, is private: only the owner executes its send work requests.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdint.h>

#include "cq.h"
#include "device.h"
#include "mr.h"
#include "soft_device/datapath/sq.h"
#include "soft_device/process/segment.h"
#include "soft_device/transport/peer.h"

struct srq {
	struct ibv_srq ibv; /* first */
	struct shared_srq *shared;
	uint32_t index;
	struct pd *pd;
	pthread_mutex_t post; /* several threads may post */
	_Atomic uint32_t users;
	uint32_t generation;
};

/* ibv_qp_ex grew by wr_flush in rdma-core 45: room for it whatever we are compiled with. */
#define QP_EX_BYTES	   384
#define QP_EX_FLUSH_OFFSET 352 /* the wr_flush pointer's, on x86-64 and arm64 */

struct qp {
	union {
		struct ibv_qp ibv; /* first */
		struct ibv_qp_ex ex;
		unsigned char room[QP_EX_BYTES];
	};
	struct context *context;
	struct pd *pd;
	struct shared_qp *shared;
	uint32_t index; /* in segment.qp */
	struct cq *send_cq;
	struct cq *recv_cq;
	struct srq *srq;
	struct ibv_qp_attr attr;      /* as set; state as last set by the owner */
	struct ibv_qp_init_attr init; /* with the caps as given */
	bool has_ex;		      /* created with send_ops_flags */
	pthread_mutex_t post_recv;    /* several threads may post */
	struct send_queue sq;
	void *sq_memory;	/* the program's, where the PD has an allocator; NULL: none */
	struct peer_wait *wait; /* while it is linked, under sq.lock */
	uint32_t generation;
	struct qp *next_held; /* destroyed, see held.h */
};

static inline struct qp *qp_of(struct ibv_qp *ibv)
{
	return (struct qp *)ibv;
}

/* The state, as a peer or the owner last made it. */
static inline enum ibv_qp_state qp_state(const struct qp *qp)
{
	return sq_state(&qp->sq);
}

/* Operations of a context, set by context.c; the data path, without FAULT_CALL(). */
int qp_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int qp_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int srq_post_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
struct ibv_qp *qp_create_ex(struct ibv_context *ibv, struct ibv_qp_init_attr_ex *attr);

/* qp_ex.c: 0, or EOPNOTSUPP for an unknown one; then sets the wr_* pointers that they ask for. */
int qp_ex_check(enum ibv_qp_type type, uint64_t send_ops_flags);
void qp_ex_init(struct qp *qp, uint64_t send_ops_flags);

/* The QP of this number, in this process; callers hold the objects lock. */
struct qp *qp_find(const union ibv_gid *gid, uint32_t qpn);
/* For each QP of the process; callers hold the objects lock. */
void qp_each(void (*run)(struct qp *qp, const void *arg), const void *arg);

/* Frees a destroyed QP and its entry. Objects lock and the shared one held, which is released. */
void qp_let_go(struct qp *qp);
/* No completion is pushed to the CQ until it goes on. False: a peer may. Objects lock held. */
bool qp_stop_pushes(const struct cq *cq);
void qp_resume_pushes(const struct cq *cq);

/* mcast.c: whether the QP is in a multicast group; callers hold the objects lock. */
bool mcast_has(const struct qp *qp);

/* qp_link.c */
/* Finds the peer that qp->attr names, and lets it go. No lock held. */
void qp_link(struct qp *qp);
void qp_unlink(struct qp *qp);
extern const struct peer_user qp_peer_user;
void qp_raise_all(void); /* objects lock held */
/* IBV_EVENT_SQ_DRAINED; callers hold the objects lock and sq.lock. */
void qp_tell_drained(struct qp *qp);
