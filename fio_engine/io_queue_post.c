/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_queue_post.c -- the work requests: of an operation, and of the flush of a
 * range, which each method makes in its own way.
 */
#include "io_queue_private.h"

#define APM_BYTES 8

static const void *context(uint64_t value)
{
	return (const void *)(uintptr_t)value;
}

/* Takes the next message; the accounts of io_queue.h see to it that it is free. */
static uint32_t expect_answer(struct io_queue *q, struct operation *head, uint32_t slot, bool own)
{
	uint32_t index = q->message_next;

	q->messages[index] = (struct message){own ? index : slot, io_queue_number(q, head)};
	q->message_next = io_queue_after(index, q->messages_size);
	q->messages_due++;
	head->pending++;
	return index;
}

static int write_imm(struct io_queue *q, struct operation *o, int flags)
{
	struct job_connection *c = q->connection;
	uint32_t number = io_queue_number(q, o);
	uint32_t imm = (uint32_t)((unsigned __int128)o->begin * q->imm_reciprocal >> 64);
	int ret = rpma_write_with_imm(c->conn, c->remote, o->begin, c->buffers, o->local_offset,
				      o->bytes, flags, imm, context(number));

	if (ret == 0 && q->answered_imm) {
		expect_answer(q, o, imm, false);
		o->flushes++;
	}
	return ret;
}

int io_queue_post(struct io_queue *q, struct operation *o, int flags)
{
	struct job_connection *c = q->connection;
	const void *number = context(io_queue_number(q, o));

	if (o->kind == OPERATION_READ)
		return rpma_read(c->conn, c->buffers, o->local_offset, c->remote, o->begin,
				 o->bytes, flags, number);
	if (o->kind == OPERATION_TRIM)
		return rpma_write(c->conn, c->remote, o->begin, c->zeros, 0, o->bytes, flags,
				  number);
	if (q->write_op == WRITE_PLAIN)
		return rpma_write(c->conn, c->remote, o->begin, c->buffers, o->local_offset,
				  o->bytes, flags, number);
	if (q->write_op == WRITE_IMM)
		return write_imm(q, o, flags);
	return rpma_atomic_write(c->conn, c->remote, o->begin, c->buffer_memory + o->local_offset,
				 flags, number);
}

static int request(struct io_queue *q, struct operation *head, struct extent range, int flags,
		   const void *at)
{
	struct job_connection *c = q->connection;
	uint32_t index = expect_answer(q, head, 0, true);
	const struct persist_request r = {index, range.begin, range.end - range.begin};
	size_t offset = job_connection_request_offset(index);

	persist_encode_request(&r, c->message_memory + offset);
	return rpma_send(c->conn, c->messages, offset, PERSIST_REQUEST_BYTES, flags, at);
}

int io_queue_flush(struct io_queue *q, struct operation *head, struct extent range, int flags)
{
	struct job_connection *c = q->connection;
	const void *at = context(io_queue_number(q, head) | q->flush_context);
	uint64_t last = c->remote_bytes - APM_BYTES;

	head->flushes++;
	if (q->method == METHOD_APM)
		return rpma_flush(c->conn, c->remote, range.begin < last ? range.begin : last,
				  APM_BYTES, c->flush_type, flags, at);
	if (q->method == METHOD_NATIVE)
		return rpma_flush(c->conn, c->remote, range.begin, range.end - range.begin,
				  c->flush_type, flags, at);
	return request(q, head, range, flags, at);
}
