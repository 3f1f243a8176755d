/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_queue_commit.c -- which flushes follow which writes: the policies.
 *
 * A group is what one end stands for: writes, and the flush behind them. What
 * needs no flush is posted alone and ends itself. What a commit posts waits for its
 * last work request, so the device gets all of it with one doorbell.
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

static int io_queue_post(struct io_queue *q, struct operation *o, int flags)
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

#define SILENT RPMA_F_COMPLETION_ON_ERROR
#define ENDS   RPMA_F_COMPLETION_ALWAYS
#define MORE   RPMA_F_MORE

struct group {
	struct operation *head; /* NULL: there is none */
	struct operation *last;
	struct extent range;
	uint32_t extents; /* in a batch whose flushes have ranges */
};

/* Here and below, more: MORE, or 0 at the end of the commit. */
static int post_alone(struct io_queue *q, struct operation *o, int more)
{
	int ret;

	io_queue_begin(o);
	ret = io_queue_post(q, o, ENDS | more);
	if (ret) {
		o->pending = 0;
		return ret;
	}
	q->under_way++;
	if (q->policy == FLUSH_FSYNC && o->kind != OPERATION_READ)
		dirty_mark(&q->dirty, o->begin, o->begin + o->bytes);
	return 0;
}

/* The operation is of the group only once it is posted. */
static int post_into(struct io_queue *q, struct group *g, struct operation *o)
{
	const struct extent range = {o->begin, o->begin + o->bytes};
	int ret = io_queue_post(q, o, SILENT | MORE);

	if (ret)
		return ret;
	if (g->head == NULL) {
		*g = (struct group){.head = o, .range = range};
		io_queue_begin(o);
	} else {
		o->next = NONE;
		g->last->next = io_queue_number(q, o);
		g->range.end = range.end;
	}
	g->last = o;
	q->under_way++;
	if (q->policy == FLUSH_BATCH && q->method != METHOD_APM)
		q->extents[g->extents++] = range;
	return 0;
}

/* Sorts what is sorted already in one pass, as the offsets of most jobs are. */
static void sort(struct extent *extents, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		struct extent e = extents[i];
		uint32_t at = i;

		for (; at > 0 && extents[at - 1].begin > e.begin; at--)
			extents[at] = extents[at - 1];
		extents[at] = e;
	}
}

/* Joins what touches or overlaps; gives how many are left. */
static uint32_t join(struct extent *extents, uint32_t count)
{
	uint32_t last = 0;

	sort(extents, count);
	for (uint32_t i = 1; i < count; i++) {
		if (extents[i].begin > extents[last].end)
			extents[++last] = extents[i];
		else if (extents[i].end > extents[last].end)
			extents[last].end = extents[i].end;
	}
	return last + 1;
}

static int flush_extents(struct io_queue *q, struct group *g, int more)
{
	uint32_t count = join(q->extents, g->extents);
	int ret = 0;

	for (uint32_t i = 0; i < count && ret == 0; i++)
		ret = io_queue_flush(q, g->head, q->extents[i],
				     i + 1 < count ? SILENT | MORE : ENDS | more);
	return ret;
}

static void end_group(struct io_queue *q, struct group *g, int more)
{
	struct operation *head = g->head;
	int ret = g->extents > 1 ? flush_extents(q, g, more)
				 : io_queue_flush(q, head, g->range, ENDS | more);

	g->head = NULL;
	g->extents = 0;
	if (ret)
		io_queue_post_failed(q, head, "flush", ret);
}

static bool joins(const struct io_queue *q, const struct group *g, const struct operation *o)
{
	return q->policy == FLUSH_BATCH || (q->policy == FLUSH_AUTO && o->begin == g->range.end);
}

/* No flush follows it in the same commit. */
static bool ends_itself(const struct io_queue *q, const struct operation *o)
{
	return o->kind == OPERATION_READ || q->policy == FLUSH_FSYNC || q->policy == FLUSH_NONE ||
	       (q->answered_imm && o->kind == OPERATION_WRITE);
}

static void post_failed(struct io_queue *q, const struct operation *o, int ret)
{
	static const char *const names[] = {"read", "write", "trim"};

	io_queue_post_failed(q, o, names[o->kind], ret);
}

static void tell_posting(struct io_queue *q, struct operation *o)
{
	if (q->posting != NULL)
		q->posting(q->posting_arg, o);
}

/* False: it is not out, as the connection broke before or with it. */
static bool post(struct io_queue *q, struct group *g, struct operation *o, int more)
{
	bool alone = ends_itself(q, o);
	int ret;

	if (!alone && g->head != NULL && !joins(q, g, o))
		end_group(q, g, MORE);
	if (q->broken != 0)
		return false;
	tell_posting(q, o);
	ret = alone ? post_alone(q, o, g->head != NULL ? MORE : more) : post_into(q, g, o);
	if (ret) {
		post_failed(q, o, ret);
		return false;
	}
	if (q->policy == FLUSH_EACH && !alone)
		end_group(q, g, more);
	return true;
}

/* How many are out; the connection broke at the next one. */
static uint32_t commit_groups(struct io_queue *q)
{
	struct group group = {.head = NULL};
	uint32_t i = 0, last = q->added_count - 1;

	while (i < q->added_count &&
	       post(q, &group, &q->operations[q->added[i]], i < last ? MORE : 0))
		i++;
	if (group.head != NULL && q->broken == 0)
		end_group(q, &group, 0);
	return i;
}

/* The same where no flush follows anything, so that there are no groups. */
static uint32_t commit_singles(struct io_queue *q)
{
	uint32_t i = 0;

	for (; i < q->added_count && q->broken == 0; i++) {
		struct operation *o = &q->operations[q->added[i]];
		int ret;

		tell_posting(q, o);
		ret = post_alone(q, o, i + 1 < q->added_count ? MORE : 0);
		if (ret) {
			post_failed(q, o, ret);
			break;
		}
	}
	return i;
}

void io_queue_commit(struct io_queue *q, void (*posting)(void *arg, struct operation *operation),
		     void *arg)
{
	uint32_t i;

	q->posting = posting;
	q->posting_arg = arg;
	i = q->policy == FLUSH_NONE || q->policy == FLUSH_FSYNC ? commit_singles(q)
								: commit_groups(q);
	for (; i < q->added_count; i++)
		io_queue_refuse(q, &q->operations[q->added[i]]);
	q->added_count = 0;
}
