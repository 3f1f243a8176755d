/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sendq.h -- operations that wait to be posted with the next one, and the room they take in
 * the send queue.
 *
 * Only a connection that uses RPMA_F_MORE, RPMA_CONN_OPT_SIGNAL_EVERY or a call of several
 * operations comes here; the others post at once. One thread at a time posts to such a connection,
 * another one may fetch completions.
 *
 * Operations wait in slots, which are a list of work requests already: rpma_write() fills the next
 * one in place as long as that is not the slot `stop`, the first that needs more than to be
 * filled. A call that fails leaves nothing of itself behind; what waited before it still waits.
 */
#pragma once

#include <librpma.h>
#include <stdatomic.h>

/* Most operations of one call: rpma_append(). */
enum { RPMA_SENDQ_PARTS_MAX = 4 };

/* Set with RPMA_F_MORE: more of the same call follows, so it waits however full the batch is. */
#define RPMA_F_PART (1 << 17)

/* The flags of an operation that does nothing but wait. */
#define RPMA_F_LISTED (RPMA_F_MORE | RPMA_F_COMPLETION_ON_ERROR)

/* Native operations as work requests: wr.atomic has what ibv_wr_* takes, see sendq_native.c. */
enum { RPMA_WR_FLUSH = 0x100, RPMA_WR_ATOMIC_WRITE };

struct rpma_slot {
	struct ibv_send_wr wr; /* next and sg_list are set when the queue is opened */
	uint32_t index;
	struct ibv_sge sge[]; /* max_sge of them, and then max_inline bytes */
};

/* An operation that leaves a completion: it and all before it have left the queue by then. */
struct rpma_signalled {
	uint32_t position;
	bool hidden; /* the program did not ask for the completion */
};

struct rpma_sendq {
	/* flags from 1 to this one post at once; 0: something waits, or operations are counted */
	unsigned plain_flags;
	struct rpma_slot *next;	     /* the next operation goes here */
	struct rpma_slot *stop;	     /* at next or behind it */
	struct rpma_slot *batch_end; /* where stop is while nothing waits and none are counted */
	struct rpma_slot *first;     /* what waits begins here; next: nothing waits */

	unsigned char *slots; /* slots_count, and one that stays empty */
	size_t slot_bytes;
	uint32_t slots_count;
	uint32_t batch;	  /* so many operations do not wait any longer */
	uint32_t natives; /* how many of those that wait */
	uint32_t max_sge;
	bool lists_natively; /* any operation can be posted by ibv_wr_* */

	/* the room in the queue; every is 0 if operations are not counted */
	uint32_t every;	    /* every Nth operation leaves a completion */
	uint32_t size;	    /* the most operations in the queue */
	uint32_t base;	    /* the position of an operation is this and the index of its slot */
	uint32_t signal_at; /* the operation at this position leaves a completion in any case */
	struct rpma_signalled *ring; /* those under way */
	uint32_t ring_mask;
	uint32_t ring_head; /* written by who posts */
	_Atomic uint32_t ring_published;
	_Atomic uint32_t ring_tail;   /* written by who fetches */
	_Atomic uint32_t done;	      /* the same: positions below have left the queue */
	atomic_bool is_broken;	      /* the same: a completion failed, the rest will, one by one */
	atomic_bool is_refused;	      /* an operation found no room; taken back by who fetches */
	_Atomic uint32_t refused_at;  /* when it did: what `done` was */
	_Atomic(const void *) poster; /* the thread that counted the last operation */
	/* receives whose completions come between those of operations; 0: none, or not counted */
	uint32_t receives_max;
	_Atomic uint32_t receives; /* posted and not fetched */
	bool has_srq;		   /* others post them */
};

/* The outcomes that a wait for completions may still have. */
enum rpma_prospect {
	RPMA_PROSPECT_OPEN,    /* something, or it is not known */
	RPMA_PROSPECT_ROOM,    /* an operation that was refused has room now */
	RPMA_PROSPECT_WAITING, /* nothing: what was started waits to be posted */
	RPMA_PROSPECT_NONE     /* nothing: whatever is under way leaves no completion */
};

struct rpma_conn;

/*
 * For a connection with its queue pair and options. lists_natively: it was made with the ibv_wr_*
 * of every operation. RPMA_E_NOMEM.
 */
int rpma_sendq_open(struct rpma_conn *conn, uint32_t size, uint32_t max_sge, bool lists_natively);

/* Takes one that was never opened. What waits is not posted, and logged. */
void rpma_sendq_close(struct rpma_sendq *q);

/*
 * For what does not go the plain way: flags tell more than when to leave a completion, or others
 * wait, or operations are counted. wr may be changed.
 */
int rpma_sendq_post(struct rpma_conn *conn, struct ibv_send_wr *wr, int flags);

/* For RPMA_F_SOLICITED or RPMA_F_INLINE. RPMA_E_INVAL, of the call with this name: too long. */
int rpma_sendq_post_data(struct rpma_conn *conn, struct ibv_send_wr *wr, int flags,
			 const char *function);

/* Posts what waits. What could not be posted waits still. */
int rpma_sendq_submit(struct rpma_conn *conn);

/* Takes back all that waits. How many. */
uint32_t rpma_sendq_discard(struct rpma_conn *conn);

/*
 * Before a call of count operations: there are slots and room for all. RPMA_E_INVAL: the
 * queue is smaller. RPMA_E_AGAIN: it is full. *mark is for rpma_sendq_withdraw().
 */
int rpma_sendq_reserve(struct rpma_conn *conn, uint32_t count, uint32_t *mark);

/* A work request that waits, with so many behind it; NULL: fewer wait. */
const struct ibv_send_wr *rpma_sendq_peek_back(const struct rpma_sendq *q, uint32_t behind);

/* Takes back what was added since the mark and is not posted. */
void rpma_sendq_withdraw(struct rpma_conn *conn, uint32_t mark);

/* Keeps of these completions those that the program asked for, moved together. How many. */
int rpma_sendq_fetched(struct rpma_sendq *q, struct ibv_wc *wc, int count);

/* For who has found no completion. Room is told once. */
enum rpma_prospect rpma_sendq_prospect(struct rpma_sendq *q);

/* Counts a receive that is about to be posted; false: its completion may find the CQ full. */
bool rpma_sendq_take_receive(struct rpma_sendq *q);

/* sendq_native.c: posts a list by ibv_wr_*; an errno value where *bad_wr, and what follows it, was
 * not posted. */
int rpma_sendq_post_natively(struct ibv_qp_ex *qpx, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad_wr);

/* Something waits already, and nothing is to be counted: the next slot may be filled at once. */
static inline bool rpma_sendq_is_simple(const struct rpma_sendq *q, int flags)
{
	/* ON_ERROR is a part of ALWAYS, so one of them is there */
	const int others = ~(RPMA_F_MORE | RPMA_F_COMPLETION_ALWAYS) | RPMA_F_COMPLETION_ON_ERROR;

	return q->plain_flags == 0 && q->every == 0 &&
	       (flags & others) == RPMA_F_COMPLETION_ON_ERROR && q->next->index < q->slots_count;
}

/* The next slot was filled: the operation waits, or is posted with the others. */
int rpma_sendq_add(struct rpma_conn *conn, struct rpma_slot *slot, int flags);

/* The next slot was filled. */
static inline void rpma_sendq_keep(struct rpma_sendq *q, struct rpma_slot *slot)
{
	q->next = (struct rpma_slot *)(void *)slot->wr.next;
	q->plain_flags = 0;
}
