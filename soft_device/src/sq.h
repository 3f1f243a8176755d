/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq.h -- the send queue: from work request to completion, in order.
 *
 * Posting copies the work request into a slot and runs the queue: every slot from `next` on is
 * executed until one has to wait (not linked yet, receiver not ready, answer
 * outstanding, an injected delay). Waiting queues are run again by poll_cq and by the agent's timer.
 *
 *	released <= completed <= next <= posted		(free-running counters)
 *
 * Slots before `released` are free: it moves when a later signaled completion is polled, as on a
 * NIC. `next` is the first not executed (or, TCP, not sent), `completed` the first not completed.
 */
#ifndef SOFT_SQ_H
#define SOFT_SQ_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "request.h"

struct qp;

enum slot_state { SLOT_POSTED, SLOT_SENT, SLOT_ANSWERED };

struct send_slot {
	uint64_t wr_id;
	uint32_t opcode; /* enum ibv_wr_opcode, or SOFT_WR_FLUSH */
	uint32_t flags;	 /* enum ibv_send_flags */
	uint32_t num_sge;
	uint32_t inline_bytes;
	enum slot_state state;	/* TCP only beyond SLOT_POSTED */
	struct outcome outcome; /* once SLOT_ANSWERED */
	uint64_t due_ns;	/* not executed before; 0: at once */
	uint64_t give_up_ns;	/* absent target: RETRY_EXC_ERR then; 0: not tried yet */
	uint32_t rnr_tries;
	uint64_t remote_addr;
	uint32_t rkey;
	uint32_t imm_data;
	uint64_t compare_add;
	uint64_t swap;
	uint32_t flush_length_low; /* sq.c may rearrange all of this: it is private to it */
	uint8_t flush_type;
	uint8_t flush_level;
	struct ibv_sge sge[SOFT_MAX_SGE];
	unsigned char inline_data[SOFT_MAX_INLINE];
};

struct send_queue {
	pthread_mutex_t lock; /* private */
	struct send_slot *slots;
	uint32_t count;	 /* of slots, power of two */
	uint32_t max_wr; /* of them may be in use */
	uint32_t max_sge;
	uint32_t max_inline;
	bool sig_all;
	uint32_t posted;
	uint32_t next;
	uint32_t completed;
	_Atomic uint32_t released;
	bool waiting; /* it is in the list of those to run again */
	struct qp *next_waiting;
	/* the builder of ibv_wr_*: qp_ex.c */
	uint32_t building; /* slots filled since wr_start */
	int build_error;
};

/* How many queues wait; poll_cq looks at it and nothing else. */
extern _Atomic uint32_t sq_waiting;

/* Runs all waiting queues once; any thread, no lock held. */
void sq_progress(void);

int sq_init(struct qp *qp, const struct ibv_qp_cap *cap, bool sig_all);
void sq_destroy(struct qp *qp);
/* Drops everything; the QP goes to RESET. Callers hold sq.lock. */
void sq_reset(struct qp *qp);
/* Flushes everything not completed with WR_FLUSH_ERR. Callers hold sq.lock. */
void sq_flush(struct qp *qp);
/* Takes sq.lock and runs the queue. */
void sq_run(struct qp *qp);

int sq_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

/* qp_ex.c: sets the wr_* pointers that send_ops_flags ask for; EOPNOTSUPP for one unknown. */
int qp_ex_init(struct qp *qp, uint64_t send_ops_flags);

#endif /* SOFT_SQ_H */
