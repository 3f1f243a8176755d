/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_check.h -- what `rpma-soft --check` does with send queues; called only with check_any.
 *
 * All requests are kept in slots then, and are executed by a thread that polls, or after a while:
 * what a program does to the memory of a request too early is seen so.
 */
#pragma once

#include "soft_device/check/check.h"
#include "soft_device/process/names.h"
#include "soft_device/transport/vendor_err.h"
#include "sq.h"

/* While the calling thread posts: where that is; 0: unknown, or it does not. */
extern _Thread_local uint32_t sq_check_place __attribute__((tls_model("initial-exec")));

/* Notes where the calling thread enters the device, for what it posts until it leaves. */
static inline void sq_check_enter(struct stack_entry entry)
{
	sq_check_place = stack_at(entry);
}

static inline void sq_check_leave(void)
{
	sq_check_place = 0;
}

/* The place of the program that posts or polls. */
static inline uint32_t sq_check_where(void)
{
	return sq_check_place != 0 ? sq_check_place : stack_here();
}

/*
 * A request is posted, the next one, with this first piece, or NULL. True: it is held, and its
 * bytes are to be looked at. Callers hold sq.lock, as those of the next seven.
 */
bool sq_check_post(struct send_queue *sq, uint64_t wr_id, const struct ibv_sge *piece,
		   uint64_t remote_addr);
/* It was put in a slot, which is done with all that are held. */
void sq_check_kept(struct send_queue *sq, struct send_slot *slot, bool is_held);
/* Both. */
void sq_check_posted(struct send_queue *sq, struct send_slot *slot);
/* All is posted; true: it waits for a poll, and nothing is to be executed now. */
bool sq_check_holds(struct send_queue *sq);
/* Nothing waits, and what is posted next will mostly not have to. */
bool sq_check_idles(const struct send_queue *sq);
/* The next request is about to be executed; false: not yet. */
bool sq_check_passes(struct send_queue *sq, const struct send_slot *slot);
/* The request of this number is: are its bytes those that were posted? */
void sq_check_source(struct send_queue *sq, uint32_t number);
/* The oldest request fails. */
void sq_check_failed(const struct send_queue *sq, const struct send_work *work,
		     enum ibv_wc_status status, enum vendor_err why) __attribute__((cold));
/* Requests are about to be flushed. */
void sq_check_broken(struct send_queue *sq);
/* A message of a UC or UD queue pair was lost. */
void sq_check_lost(const struct send_queue *sq, const struct send_work *work, enum vendor_err why)
	__attribute__((cold));

/* A list is about to be posted, and one was posted in part; no lock held. */
void sq_check_list(struct send_queue *sq, const struct ibv_send_wr *list) __attribute__((cold));
/* A post was refused; no lock held. The list is as it was posted, from its first request on. */
void sq_check_refused(struct send_queue *sq, const struct ibv_send_wr *list,
		      const struct ibv_send_wr *bad, int error) __attribute__((cold));
/* These were posted, up to `bad`: what another queue refused may be among them. */
void sq_check_taken(const struct send_queue *sq, const struct ibv_send_wr *list,
		    const struct ibv_send_wr *bad) __attribute__((cold));
/* Requests that are built: more pieces, or more inline data, than there may be. */
void sq_check_build(struct send_queue *sq, enum check_kind kind, uint64_t asked, uint64_t granted)
	__attribute__((cold));

/* The stack that posted the request of this number; 0: unknown. sq.lock is held. */
uint32_t sq_check_stack(const struct send_queue *sq, uint32_t number);

/* The stack that posted the newest request of the process. */
uint32_t sq_check_last(void);

/* The rights as words: "LOCAL_WRITE REMOTE_READ". */
const char *sq_check_rights(uint32_t access, char names[NAMES_BYTES]);

/*
 * Executes what has been put off, of all queues, of one, or what a poll of this CQ may: then queues
 * do not seem to be in step. No lock held.
 */
void sq_check_progress(uint32_t cq);
void sq_check_run(struct send_queue *sq);

/* A failed completion was polled, of the queue pair with this number. */
void sq_check_polled(const struct ibv_wc *wc);

/* The program moves the queue pair to ERR or RESET itself: it knows of failures so far. */
void sq_check_known(const struct send_queue *sq);

/* Do the requests in the queue give a completion? Takes sq.lock. */
enum sq_check_feed { FEED_EMPTY, FEED_NOTHING, FEED_COMPLETION };
enum sq_check_feed sq_check_feeds(struct send_queue *sq);

/* The program marks a commit word of the peer, and the bytes that it commits. Takes sq.lock. */
void sq_check_commit(struct send_queue *sq, uint64_t word, uint64_t data, uint64_t length);

/* Does a request that is posted, and not executed, use the region? Reports it. No lock. */
bool sq_check_uses(struct send_queue *sq, uint32_t key);

/* The queue is reset, or ends; in a child of fork() all of them. */
void sq_check_end(struct send_queue *sq);
void sq_check_forget(void);
void sq_check_forget_receives(void);

/* Receives are about to be posted, from `list` on, at the head of this ring; of an SRQ: 0. */
void sq_check_receives(const struct shared_ring *ring, const struct ibv_recv_wr *list,
		       uint32_t stack, uint32_t qpn);
/* A receive as it was when it was posted; all zeros: it is unknown. */
struct sq_check_receive {
	uint32_t stack;
	uint32_t gone_before; /* objects_gone_ever() */
};
struct sq_check_receive sq_check_receive_at(const struct shared_ring *ring, uint32_t position);
/* The ring goes. */
void sq_check_ring_end(const struct shared_ring *ring);

/* A queue pair of ours has refused a request of its peer's: explain_refusal(). */
void sq_check_refusal(const struct shared_qp *qp, const struct shared_refusal *refusal)
	__attribute__((cold));
