/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_queue.c -- what an I/O queue is made of, and what is asked of it between a commit
 * and a poll.
 */
#include "io_queue.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/failure.h"
#include "io_queue_private.h"

/* So that a multiplication divides by the size of a block: exact for multiples of it. */
static uint64_t reciprocal(uint32_t block_bytes)
{
	return block_bytes == 0 ? 0 : UINT64_MAX / block_bytes + 1;
}

static int check(const struct io_queue_cfg *cfg)
{
	const struct job_connection_cfg *c = &cfg->connection->cfg;
	bool messages = c->job_request.method == METHOD_GPSPM || cfg->write_op == WRITE_IMM;

	if (cfg->depth == 0 || cfg->depth >= CONTEXT_NUMBER)
		return failure_set(EXIT_WRONG_USAGE, "memory", "iodepth=%u: 1 to %llu are possible",
				   cfg->depth, CONTEXT_NUMBER - 1);
	if (c->sq_size < IO_QUEUE_SQ_SIZE(cfg->depth) || c->cq_size < c->sq_size ||
	    c->cq_size - c->sq_size <
		    (c->job_request.method == METHOD_GPSPM ? c->job_request.depth : 0) ||
	    (messages && c->job_request.depth < cfg->depth) ||
	    (messages && c->job_request.method != METHOD_GPSPM &&
	     c->job_request.depth / 2 < cfg->depth))
		return failure_set(EXIT_INTERNAL, "memory",
				   "queues of %u and %u and %u messages are too small for a depth "
				   "of %u",
				   c->sq_size, c->cq_size, c->job_request.depth, cfg->depth);
	if (c->job_request.imm_bytes == 1 ||
	    (c->job_request.imm_bytes != 0 &&
	     cfg->connection->remote_bytes / c->job_request.imm_bytes > UINT32_MAX))
		return failure_set(
			EXIT_WRONG_USAGE, "memory",
			"write_op=imm numbers blocks with 32 bits: bs=%u is too small for "
			"a region of %zu bytes",
			c->job_request.imm_bytes, cfg->connection->remote_bytes);
	return 0;
}

static int make(struct io_queue *q, const struct io_queue_cfg *cfg)
{
	const size_t slots = (size_t)q->depth + 1; /* the last one is a sync's */

	q->operations = calloc(slots, sizeof(*q->operations));
	q->added = calloc(slots, sizeof(*q->added));
	q->done = calloc(slots, sizeof(*q->done));
	q->extents = calloc((size_t)q->extents_size + 1, sizeof(*q->extents));
	q->messages = calloc((size_t)q->messages_size + 1, sizeof(*q->messages));
	if (q->operations == NULL || q->added == NULL || q->done == NULL || q->extents == NULL ||
	    q->messages == NULL)
		return -ENOMEM;
	if (q->policy == FLUSH_FSYNC)
		return dirty_open(&q->dirty, cfg->connection->remote_bytes, cfg->grain);
	return 0;
}

int io_queue_open(struct io_queue **queue, const struct io_queue_cfg *cfg)
{
	const struct job_request *job_request = &cfg->connection->cfg.job_request;
	struct io_queue *q;
	int ret = check(cfg);

	if (ret)
		return ret;
	q = calloc(1, sizeof(*q));
	if (q != NULL) {
		*q = (struct io_queue){
			.connection = cfg->connection,
			.method = job_request->method,
			.policy = cfg->policy,
			.write_op = cfg->write_op,
			.answered_imm = cfg->write_op == WRITE_IMM && job_request->imm_bytes != 0,
			.credited =
				cfg->write_op == WRITE_IMM && job_request->method != METHOD_GPSPM,
			.credits = job_request->depth,
			.imm_reciprocal = reciprocal(job_request->imm_bytes),
			.flush_context = job_request->method == METHOD_NATIVE
						 ? CONTEXT_FLUSH | CONTEXT_UNPROVEN
						 : CONTEXT_FLUSH,
			.depth = cfg->depth,
			.extents_size = cfg->connection->cfg.sq_size,
			.messages_size = job_request->depth,
		};
		ret = make(q, cfg);
	}
	if (q == NULL || ret != 0) {
		io_queue_close(&q);
		return failure_set(EXIT_RUN_FAILED, "memory", "out of memory for an iodepth of %u",
				   cfg->depth);
	}
	*queue = q;
	return 0;
}

void io_queue_close(struct io_queue **queue)
{
	struct io_queue *q = *queue;

	*queue = NULL;
	if (q == NULL)
		return;
	dirty_close(&q->dirty);
	free(q->messages);
	free(q->extents);
	free(q->done);
	free(q->added);
	free(q->operations);
	free(q);
}

struct operation *io_queue_operation(struct io_queue *q, uint32_t number)
{
	return &q->operations[number];
}

bool io_queue_add(struct io_queue *q, struct operation *operation)
{
	if (q->added_count + q->under_way + q->done_count >= q->depth)
		return false;
	if (q->credited && operation->kind == OPERATION_WRITE && io_queue_await_credit(q))
		q->credits--;
	operation->error = 0;
	operation->done_ns = 0;
	operation->status = IBV_WC_SUCCESS;
	operation->vendor_error = 0;
	q->added[q->added_count++] = io_queue_number(q, operation);
	return true;
}

uint32_t io_queue_added(const struct io_queue *q)
{
	return q->added_count;
}

uint32_t io_queue_out(const struct io_queue *q)
{
	return q->under_way + q->done_count;
}

struct operation *io_queue_done(struct io_queue *q)
{
	uint32_t number;

	if (q->done_count == 0)
		return NULL;
	number = q->done[q->done_first];
	q->done_first = io_queue_after(q->done_first, q->depth);
	q->done_count--;
	return &q->operations[number];
}

bool io_queue_dirty(const struct io_queue *q)
{
	return q->policy == FLUSH_FSYNC && (q->lost || dirty_any(&q->dirty));
}

struct io_queue_counts io_queue_counts(const struct io_queue *q)
{
	return q->counts;
}

int io_queue_broken(const struct io_queue *q)
{
	return q->broken;
}
