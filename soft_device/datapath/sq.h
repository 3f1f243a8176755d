/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq.h -- the send queue: from work request to completion, in order.
 *
 * A request is executed where it is posted, on the caller's thread, straight from what
 * the caller wrote. Only when it has to wait (not linked yet, receiver not ready, answer
 * outstanding, an injected delay), or something before it waits, is it kept in a slot; waiting
 * queues are run again by poll_cq and by the agent's timer (sq_wait.c).
 *
 *	released <= completed <= next <= posted		(free-running counters)
 *
 * Slots before `released` are free: it moves when a later signaled completion is polled, as on a
 * NIC. `next` is the first not executed (or, TCP, not sent), `completed` the first not completed.
 */
#pragma once

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft_device/faults/fault.h"
#include "soft_device/transport/peer.h"
#include "soft_device/transport/request.h"

struct send_queue;

extern const struct process_part sq_wait_part;

/* The range that a memory window is bound to, and the key that it gets. */
struct send_bind {
	uint64_t addr;
	uint64_t length;
	uint32_t rkey;
	uint32_t lkey;
	uint32_t access;
};

/* A send work request, from whatever interface. */
struct send_work {
	uint64_t wr_id;
	uint32_t opcode; /* enum ibv_wr_opcode, or SOFT_WR_FLUSH */
	uint32_t flags;	 /* enum ibv_send_flags; inline: no lkeys */
	uint32_t num_sge;
	uint32_t qpn;		   /* the destination; UD only */
	const struct ibv_sge *sge; /* borrowed of the caller, or the slot's own */
	union {
		struct request request; /* as posted; sq_make_request() adds the rest */
		struct send_bind bind;	/* IBV_WR_BIND_MW */
	};
};

struct send_slot {
	struct send_work work;
	uint64_t due_ns;     /* not executed before; 0: at once */
	uint64_t give_up_ns; /* absent target: RETRY_EXC_ERR then; 0: not tried yet */
	uint32_t rnr_tries;
	uint32_t rnr_faults; /* tries left that are to find no receive */
	uint32_t absent_tries;
	uint32_t record; /* its number in the trace; 0: none */
	bool asked;	 /* the faults, and their answer */
	bool lost;	 /* they have it dropped */
	enum ibv_wc_status fault;
	struct ibv_sge sge[]; /* sge_room of them, then bytes of data */
};

/* The target of its requests, retries and timers, as last set by ibv_modify_qp(). Under the lock.
 */
struct send_path {
	uint32_t qpn;
	union ibv_gid gid;
	uint8_t rnr_retry;
	uint8_t retry_cnt;
	uint8_t timeout;
	uint8_t max_rd_atomic;
	uint8_t framing; /* what its packets look like: segment.h */
};

struct send_queue {
	struct shared_lock lock; /* within this process only; the cheapest there is */
	/* whose it is: constant from sq_begin() on */
	struct shared_qp *shared;
	uint16_t generation; /* in `shared` */
	uint32_t qpn;
	uint32_t index; /* in segment.qp */
	uint32_t pd;
	uint32_t cq; /* in segment.cq */
	union ibv_gid gid;
	struct send_path path;
	/* the link, under the lock */
	struct peer *peer; /* NULL until linked */
	bool unreachable;  /* linking failed: sends end in RETRY_EXC_ERR */
	/* in peer->segment, if its framing is ours; looked up again when its qpn changed */
	struct shared_qp *target;
	struct sq_ud *ud;    /* a UD QP's, in place of the four above; NULL: another type */
	bool unacknowledged; /* UC, UD: sends end well whatever becomes of them; constant */
	uint32_t deaf; /* UC, UD: the last QP that had no receive for long; see sq_unacknowledged()
			*/
	uint32_t opcodes; /* a bit for each that the type has; constant */
	unsigned char *slots;
	bool borrowed; /* they are not its own */
	size_t stride;
	uint32_t sge_room; /* in a slot, at least 1 */
	uint32_t count;	   /* number of slots, power of two */
	uint32_t max_wr;   /* how many may be in use */
	uint32_t max_sge;
	uint32_t max_inline;
	bool sig_all;
	uint32_t posted;
	uint32_t next;
	uint32_t completed;
	_Atomic uint32_t *released; /* outlives the QP: a late poll may still move it */
	uint64_t operations;	    /* executed; for the faults */
	uint64_t last_due_ns;	    /* end of the last injected delay */
	/* TCP: tickets of an earlier life of the queue are stale; one answered, or one at a time */
	uint32_t life;
	bool established;
	/* what checks know of it: sq_watch.h; NULL: nothing */
	_Atomic(struct sq_watch *) watch;
	bool drain_notify; /* SQ_DRAINED is wanted once nothing is in flight */
	uint64_t lost_ns;  /* not 0: the peer is gone, and at this time the QP goes to ERR */
	/* sq_wait.c: under its lock */
	_Atomic bool waiting;
	unsigned runners; /* threads between taking it from the list and having run it */
	uint64_t wake_ns;
	struct send_queue *next_waiting;
	/* the builder of ibv_wr_*: qp_ex.c */
	pthread_mutex_t build; /* from wr_start to wr_complete; taken before `lock` */
	bool in_build;	       /* a thread is building; under `lock` */
	uint32_t building;     /* slots filled since wr_start */
	int build_error;
};

/* How many queues wait; poll_cq looks at it and nothing else. */
extern _Atomic uint32_t sq_waiting;

/* Runs all waiting queues that are due, for a thread that polls; no lock held. */
void sq_progress(void);
/*
 * Used with checks, which may let requests wait: runs all queues, due or not; or, for a poll of
 * this CQ, the one that was run the longest time ago, of those that complete there if any does.
 */
#define SQ_ALL_CQS UINT32_MAX
void sq_progress_of(uint32_t cq);
/* Used with the adversary, sq_adversary.h: runs the one whose turn it is. */
void sq_progress_turn(void);
/* A CQ was armed: a thread may go to sleep. */
void sq_wait_armed(void);
bool sq_wait_is_armed(uint32_t cq);

/*
 * 0 or -ENOMEM; sq_begin() once it is known whose it is. `memory` is sq_bytes() for its slots,
 * which stay the caller's; NULL: the queue's own.
 */
int sq_init(struct send_queue *sq, enum ibv_qp_type type, const struct ibv_qp_cap *cap,
	    bool sig_all, void *memory);
size_t sq_bytes(const struct ibv_qp_cap *cap);
void sq_begin(struct send_queue *sq);
/* Also when it has been already, or sq_init() has failed. */
void sq_destroy(struct send_queue *sq);
/* Drops everything; the QP goes to RESET. Callers hold sq.lock. */
void sq_reset(struct send_queue *sq);
/* Flushes everything not completed with WR_FLUSH_ERR. Callers hold sq.lock. */
void sq_flush(struct send_queue *sq);
/*
 * The QP goes to ERR: the first request not completed, if any, gets this status and reason, the
 * others are flushed. Callers hold sq.lock.
 */
void sq_fail(struct send_queue *sq, enum ibv_wc_status status, enum vendor_err why);
/* The process at the other end is gone: fails the QP now or, if it is idle or may still be
 * answered, after a while. Callers hold sq.lock. */
void sq_peer_gone(struct send_queue *sq);
/* Runs the queue; sq_run() takes sq.lock, callers of the other hold it. */
void sq_run(struct send_queue *sq);
void sq_run_locked(struct send_queue *sq);

/* Like ibv_post_send(). */
int sq_post(struct send_queue *sq, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
/* The same with checks: each request is put in a slot at once. */
int sq_post_checked(struct send_queue *sq, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

/*
 * The answer to the request of this ticket, over TCP: data are the bytes of a read. Callers hold
 * sq.lock.
 */
void sq_answered(struct send_queue *sq, uint64_t ticket, const struct outcome *outcome,
		 const void *data, size_t bytes);

/* The state of the QP, as a peer or the owner last made it. */
static inline enum ibv_qp_state sq_state(const struct send_queue *sq)
{
	return shared_qp_state(sq->shared, memory_order_seq_cst);
}

/* Slots of each QP that are free again; see send_queue.released. */
extern _Atomic uint32_t sq_released[SEGMENT_QPS] __attribute__((visibility("hidden")));

/*
 * Slots that a poll returns to a send queue. Call with the CQ's lock held: a QP has one send
 * CQ, so no other thread updates the count.
 */
static inline void sq_release(uint32_t slots_before)
{
	_Atomic uint32_t *count = &sq_released[slots_before >> 16];
	uint32_t before = atomic_load_explicit(count, memory_order_relaxed);

	atomic_store_explicit(count, before + (uint16_t)(slots_before - before),
			      memory_order_release);
}

/* Shared by sq.c, sq_tcp.c and qp_ex.c. */
static inline struct send_slot *sq_slot(const struct send_queue *sq, uint32_t number)
{
	return (struct send_slot *)(void *)(sq->slots + (number & (sq->count - 1)) * sq->stride);
}

static inline unsigned char *sq_slot_data(const struct send_queue *sq, struct send_slot *slot)
{
	return (unsigned char *)(slot->sge + sq->sge_room);
}

/* True if `more` slots are free after those posted. */
static inline bool sq_has_room(const struct send_queue *sq, uint32_t more)
{
	uint32_t released = atomic_load_explicit(sq->released, memory_order_relaxed);

	return sq->posted + more - released <= sq->max_wr;
}

/* The sum of the bytes it moves. */
static inline uint64_t sq_length(const struct send_work *work)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < work->num_sge; i++)
		bytes += work->sge[i].length;
	return bytes;
}

/* The properties of each opcode, by its number; one without op is not ours. */
struct send_opcode {
	enum request_op op;
	enum ibv_wc_opcode wc;
	enum soft_op kind;
	uint32_t local_access; /* that its lkeys need */
	bool takes_receive;
	bool takes_inline;
	bool eight; /* works on 8 bytes */
};

#define SQ_OPCODES (IBV_WR_ATOMIC_WRITE + 1)
extern const struct send_opcode sq_opcodes[SQ_OPCODES];
/* Executed by the sender alone, window.h: binds and invalidates a memory window. */
static inline bool sq_is_local(const struct send_work *work)
{
	return work->opcode == IBV_WR_LOCAL_INV || work->opcode == IBV_WR_BIND_MW;
}
/* The opcodes that a QP of this type may post: a bit for each. */
uint32_t sq_opcodes_of(enum ibv_qp_type type);

/* Makes a request of what is posted: 0, or EINVAL. */
int sq_take_work(const struct send_queue *sq, const struct ibv_send_wr *wr, struct send_work *work);
/* Why a post is refused: the error. They cost nothing where nothing is refused. */
int sq_refuse_full(const struct send_queue *sq) __attribute__((cold));
int sq_refuse_state(const struct send_queue *sq) __attribute__((cold));
/*
 * Completes work->request, and finds its memory; a status other than SUCCESS names what is wrong
 * with that. It may be done again.
 */
enum ibv_wc_status sq_make_request(const struct send_queue *sq, struct send_work *work,
				   struct local_memory *local);
/* Why it named that status; see mr_reason(). */
enum vendor_err sq_request_reason(const struct send_queue *sq, const struct send_work *work,
				  enum ibv_wc_status status) __attribute__((cold));
/* The first part whose key or range is refused, and why; NULL: none is. */
const struct ibv_sge *sq_bad_part(const struct send_queue *sq, const struct send_work *work,
				  enum vendor_err *why) __attribute__((cold));
/*
 * An atomic whose own memory is wrong is executed all the same: the target changes, and the old
 * value cannot be stored. Then the request is whole, but for its memory.
 */
static inline bool sq_goes_out(const struct send_work *work, enum ibv_wc_status status)
{
	return status == IBV_WC_SUCCESS ||
	       (status == IBV_WC_LOC_PROT_ERR && sq_opcodes[work->opcode].kind == SOFT_OP_ATOMIC);
}
/*
 * An atomic was executed: stores the old value, or fails with what is wrong with the memory for
 * it, `own`.
 */
void sq_finish_atomic(const struct send_queue *sq, const struct send_work *work,
		      enum ibv_wc_status own, const struct local_memory *local,
		      struct outcome *outcome);

/*
 * The outcome of slot number `completed`: completes it, fails the QP or, false, has it wait
 * for another try.
 */
bool sq_settle(struct send_queue *sq, struct send_slot *slot, const struct outcome *outcome);

/*
 * sq_retry.c: what found no receive, or no target, is tried again at slot->due_ns: SUCCESS; or it
 * was tried often enough, or long enough, and this is how it ends.
 */
enum ibv_wc_status sq_retry(const struct send_queue *sq, struct send_slot *slot,
			    const struct outcome *outcome);

/* sq_wait.c: has the queue run again at this time; callers hold sq.lock. */
void sq_wait_until(struct send_queue *sq, uint64_t at_ns);
/* Takes it out of the list for good; no lock held. */
void sq_wait_end(struct send_queue *sq);

/*
 * sq_writes.c: moves the bytes of small writes, from the next slot on, that are due and of which
 * nothing is unusual. How many; 0: fewer than two are. Callers hold sq.lock, and complete them.
 */
unsigned sq_move_writes(struct send_queue *sq);
#define SQ_SMALL_BYTES 4096u /* the copy of more than this costs more than its call */

/*
 * sq_tcp.c: hands the next slot to the peer. False: the queue has to wait for an answer or for
 * room. Callers hold sq.lock.
 */
bool sq_tcp_send(struct send_queue *sq, struct send_slot *slot);

/*
 * sq_unacknowledged.c, UC and UD. What the outcome of a try means where no answer tells the sender:
 * only what is wrong on its own side is an error. What finds no receive is tried again for a while,
 * as it would be under way on a network, and then lost.
 */
struct outcome sq_unacknowledged(struct send_queue *sq, const struct send_slot *slot,
				 const struct outcome *outcome);
/* The other end is gone: all that was posted is sent, and no process gets it. Callers hold sq.lock.
 */
void sq_lose_all(struct send_queue *sq);

/*
 * sq_fault.c, with fault_any. At post: when a request may be executed. Before it is, with faults:
 * false when one has decided what becomes of it. Of its bytes: flips one on the way out (a copy to
 * be freed, or NULL), or of what came in.
 */
void sq_fault_posted(struct send_queue *sq, struct send_slot *slot);
bool sq_fault_passes(struct send_queue *sq, struct send_slot *slot);
void *sq_fault_corrupt_out(struct send_work *work, struct local_memory *local);
void sq_fault_corrupt_in(const struct send_work *work, const struct local_memory *local);
