/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_queue_private.h -- what the files of the I/O queue share.
 *
 * Every work request has as its context the number of an operation: of the one
 * it was posted for, or, if it ends a group, of the head of the group. The
 * operations of a group hang at their head by their numbers; a head counts
 * what it still waits for. Behind the operations is one more, which stands for
 * a sync.
 */
#pragma once

#include "io_queue.h"

#define NONE		 UINT32_MAX

#define CONTEXT_NUMBER	 ((1ULL << 28) - 1)
#define CONTEXT_FLUSH	 (1ULL << 28) /* it stands for the group */
#define CONTEXT_UNPROVEN (1ULL << 29) /* whether the flush is a native one is to be seen */

/* One that an answer is due for. */
struct message {
	uint32_t slot; /* that the answer has to bring */
	uint32_t head;
};

struct io_queue {
	struct job_connection *connection;
	enum method method;
	enum flush_policy policy;
	enum write_op write_op;
	bool answered_imm; /* a write with immediate data is answered, and no flush follows it */
	uint64_t imm_reciprocal;
	uint64_t flush_context;
	uint32_t credits; /* for writes with immediate data that are not answered */
	bool credited;	  /* they take one each */

	struct operation *operations;
	uint32_t depth;
	uint32_t under_way; /* committed and not done */
	uint32_t *added;
	uint32_t added_count;
	uint32_t *done; /* a ring of depth */
	uint32_t done_first;
	uint32_t done_next;
	uint32_t done_count;

	/* with gpspm: a ring; a request's number is its index there */
	struct message *messages;
	uint32_t messages_size;
	uint32_t message_first; /* the next one to be answered */
	uint32_t message_next;
	uint32_t messages_due; /* answers */

	struct extent *extents; /* extents_size of them, for a batch or a sync */
	uint32_t extents_size;
	struct dirty dirty; /* with the policy fsync only */
	uint64_t taken;	    /* completions so far */
	struct io_queue_counts counts;
	int broken; /* errno; 0: it works */
	bool lost;  /* a connection ended with something dirty: the next sync reports it */

	/* the commit in progress */
	void (*posting)(void *arg, struct operation *operation);
	void *posting_arg;
};

static inline uint32_t io_queue_after(uint32_t index, uint32_t size)
{
	return index + 1 == size ? 0 : index + 1;
}

static inline uint32_t io_queue_number(const struct io_queue *q, const struct operation *operation)
{
	return (uint32_t)(operation - q->operations);
}

/* A group, or an operation outside of groups, waits for its last work request. */
static inline void io_queue_begin(struct operation *head)
{
	head->next = NONE;
	head->pending = 1;
	head->flushes = 0;
}

/* io_queue_commit.c: work requests; 0, or what librpma gave */
int io_queue_flush(struct io_queue *q, struct operation *head, struct extent range, int flags);

/* io_queue_end.c: how operations come to be done */
static inline void io_queue_put_done(struct io_queue *q, uint32_t number)
{
	q->done[q->done_next] = number;
	q->done_next = io_queue_after(q->done_next, q->depth);
	q->done_count++;
}

/* A post gave this code: sets the error message and breaks. */
void io_queue_post_failed(struct io_queue *q, const struct operation *o, const char *what,
			  int code);
/* One that was not posted is done, as the connection is broken. */
void io_queue_refuse(struct io_queue *q, struct operation *o);

/* io_queue_wait.c */
/* False: the connection broke. */
bool io_queue_await_credit(struct io_queue *q);
struct wait {
	uint64_t limit_ns; /* the caller's */
	uint64_t progress_ns;
	uint64_t stop_ns; /* when it was seen that the job is to stop; 0: it is not */
	uint64_t check_ns;
	uint64_t taken;
	uint32_t empty;
};
