/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_queue_end.c -- how operations come to be done: by completions, by answers,
 * and all at once when the connection is of no more use.
 *
 * Only the first error of a connection is reported; what else was in flight
 * fails with it.
 */
#include <errno.h>
#include <stdio.h>

#include "common/base/failure.h"
#include "io_queue_private.h"

#define BATCH 32
#define STEP  "data"

/* --- failed operations ------------------------------------------------------------- */

static void end_with_error(struct io_queue *q, struct operation *o, int error)
{
	if (o->error == 0) {
		o->error = error;
		o->status = error == EIO ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS;
	}
	io_queue_put_done(q, io_queue_number(q, o));
}

static void lose_group(struct io_queue *q, struct operation *head, int error)
{
	uint32_t next;

	head->pending = 0;
	for (struct operation *o = head;; o = &q->operations[next]) {
		next = o->next;
		end_with_error(q, o, error);
		q->under_way--;
		if (next == NONE)
			return;
	}
}

static void lose_all(struct io_queue *q, int error)
{
	for (uint32_t i = 0; i < q->depth; i++) {
		if (q->operations[i].pending > 0)
			lose_group(q, &q->operations[i], error);
	}
	q->operations[q->depth].pending = 0;
}

void io_queue_break(struct io_queue *q, int error)
{
	if (q->broken != 0)
		return;
	q->broken = error;
	/* nothing may reach the job's buffers when they are its own again */
	rpma_conn_disconnect(q->connection->conn);
	lose_all(q, error);
}

void io_queue_refuse(struct io_queue *q, struct operation *o)
{
	o->pending = 0;
	o->next = NONE;
	end_with_error(q, o, q->broken);
}

void io_queue_abandon(struct io_queue *q, int error)
{
	for (uint32_t i = 0; i < q->added_count; i++)
		end_with_error(q, &q->operations[q->added[i]], error);
	q->added_count = 0;
	lose_all(q, error);
	q->message_first = 0;
	q->message_next = 0;
	q->messages_due = 0;
	q->credits = q->connection->cfg.job_request.depth;
	q->lost = io_queue_dirty(q);
	if (q->lost) /* what the next connection writes is dirty again */
		dirty_clear(&q->dirty);
	q->broken = 0;
}

void io_queue_post_failed(struct io_queue *q, const struct operation *o, const char *what, int code)
{
	failure_set(EXIT_RUN_FAILED, STEP,
		    "cannot post the %s of %u bytes at offset %llu of the region of %s: %s", what,
		    o->bytes, (unsigned long long)o->begin, q->connection->server,
		    connection_cause(code));
	io_queue_break(q, EIO);
}

/* --- completions that failed ------------------------------------------------------- */

static const char *work_name(const struct io_queue *q, uint64_t context)
{
	static const char *const names[] = {"a read", "a write", "a trim"};

	if ((context & ANSWER_CONTEXT) != 0)
		return "an answer";
	if ((context & CONTEXT_FLUSH) != 0)
		return "a flush";
	return names[q->operations[context & CONTEXT_NUMBER].kind];
}

/* A flush stands for its group, all else for itself. */
static void blame(struct io_queue *q, const struct ibv_wc *wc)
{
	uint32_t number = (uint32_t)(wc->wr_id & CONTEXT_NUMBER);
	bool group = (wc->wr_id & CONTEXT_FLUSH) != 0;

	do {
		struct operation *o = &q->operations[number];

		o->error = EIO;
		o->status = wc->status;
		o->vendor_error = wc->vendor_err;
		number = o->next;
	} while (group && number != NONE);
}

static void completion_failed(struct io_queue *q, const struct ibv_wc *wc)
{
	struct job_connection *c = q->connection;
	char what[CONNECTION_PEER_MAX + 32];

	snprintf(what, sizeof(what), "%s: %s", c->server, work_name(q, wc->wr_id));
	connection_work_failed(c->rdma, STEP, what, wc);
	if ((wc->wr_id & ANSWER_CONTEXT) == 0)
		blame(q, wc);
	io_queue_break(q, EIO);
}

/* --- completions -------------------------------------------------------------------- */

/* The head failed without a completion to report it: it stands for its group. */
static void spread_error(struct io_queue *q, const struct operation *head)
{
	for (uint32_t next = head->next; next != NONE; next = q->operations[next].next)
		q->operations[next].error = head->error;
}

/* A flush covers the operations that end with it. */
static void count_group(struct io_queue *q, const struct operation *head)
{
	uint64_t writes = head->kind != OPERATION_READ;

	for (uint32_t next = head->next; next != NONE; next = q->operations[next].next)
		writes++; /* a read is in no group */
	q->counts.writes += writes;
	q->counts.flushes += head->flushes;
	if (head->flushes > 0)
		q->counts.covered += writes;
	else
		q->counts.pending += writes;
}

static void count_down(struct io_queue *q, uint32_t number)
{
	struct operation *head = &q->operations[number];

	if (--head->pending > 0 || number == q->depth)
		return;
	if (__builtin_expect(head->error != 0, 0))
		spread_error(q, head);
	else
		count_group(q, head);
	do {
		io_queue_put_done(q, number);
		q->under_way--;
		number = q->operations[number].next;
	} while (number != NONE);
}

/* For a flush: false, with the error message set, if the device has read instead. */
static bool prove_native(struct io_queue *q, const struct ibv_wc *wc)
{
	if (wc->opcode == IBV_WC_RDMA_READ) {
		failure_set(EXIT_RUN_FAILED, STEP,
			    "mode=native: flushes to %s complete as reads, not as flushes: both "
			    "devices and their drivers need the RDMA FLUSH operation; mode=apm "
			    "works without",
			    q->connection->server);
		job_connection_goodbye(q->connection);
		io_queue_break(q, EOPNOTSUPP);
		return false;
	}
	q->flush_context &= ~CONTEXT_UNPROVEN;
	return true;
}

static const char *check_answer(struct io_queue *q, const struct ibv_wc *wc,
				struct persist_answer *answer)
{
	uint32_t number = (uint32_t)(wc->wr_id & CONTEXT_NUMBER);
	const uint8_t *at =
		q->connection->message_memory + job_connection_answer_offset(q->connection, number);

	if (q->messages_due == 0)
		return "without being asked";
	if (wc->opcode != IBV_WC_RECV || persist_decode_answer(at, wc->byte_len, answer) != 0)
		return "with a malformed message";
	if (answer->slot != q->messages[q->message_first].slot)
		return "to something else than it was asked";
	return NULL;
}

static void hostile(struct io_queue *q, const char *how)
{
	failure_set(EXIT_RUN_FAILED, STEP, "%s answered %s: it is not a server of this engine",
		    q->connection->server, how);
	io_queue_break(q, EIO);
}

static bool receive_again(struct io_queue *q, const struct ibv_wc *wc)
{
	struct job_connection *c = q->connection;
	uint32_t number = (uint32_t)(wc->wr_id & CONTEXT_NUMBER);
	int ret = rpma_recv(c->conn, c->messages, job_connection_answer_offset(c, number),
			    PERSIST_ANSWER_BYTES, (const void *)(uintptr_t)wc->wr_id);

	if (ret == 0)
		return true;
	failure_set(EXIT_RUN_FAILED, STEP, "cannot post a receive for %s: %s", c->server,
		    connection_cause(ret));
	io_queue_break(q, EIO);
	return false;
}

static void take_credit(struct io_queue *q, const struct ibv_wc *wc)
{
	uint32_t depth = q->connection->cfg.job_request.depth, more = depth / 2;

	if (wc->opcode != IBV_WC_RECV || wc->byte_len != 0)
		hostile(q, "with a malformed message");
	else if (q->credits + more > depth)
		hostile(q, "without being asked");
	else if (receive_again(q, wc))
		q->credits += more;
}

static void take_answer(struct io_queue *q, const struct ibv_wc *wc)
{
	struct persist_answer answer;
	const char *wrong;
	uint32_t head;

	if (q->method != METHOD_GPSPM) {
		take_credit(q, wc);
		return;
	}
	wrong = check_answer(q, wc, &answer);
	if (wrong != NULL) {
		hostile(q, wrong);
		return;
	}
	head = q->messages[q->message_first].head;
	q->message_first = io_queue_after(q->message_first, q->messages_size);
	q->messages_due--;
	if (!receive_again(q, wc))
		return;
	if (answer.status != PERSIST_DONE)
		q->operations[head].error = EIO;
	count_down(q, head);
}

static void take(struct io_queue *q, const struct ibv_wc *wc)
{
	if (__builtin_expect(wc->status != IBV_WC_SUCCESS, 0))
		completion_failed(q, wc);
	else if ((wc->wr_id & ANSWER_CONTEXT) != 0)
		take_answer(q, wc);
	else if ((wc->wr_id & CONTEXT_UNPROVEN) == 0 || prove_native(q, wc))
		count_down(q, (uint32_t)(wc->wr_id & CONTEXT_NUMBER));
}

uint32_t io_queue_poll(struct io_queue *q)
{
	struct ibv_wc wc[BATCH];
	int got = BATCH, ret = 0;

	while (got == BATCH && q->broken == 0) {
		got = 0;
		ret = rpma_cq_get_wc(q->connection->cq, BATCH, wc, &got);
		for (int i = 0; i < got && q->broken == 0; i++)
			take(q, &wc[i]);
		q->taken += (uint64_t)got;
	}
	if (__builtin_expect(ret != 0 && ret != RPMA_E_NO_COMPLETION, 0)) {
		failure_set(EXIT_RUN_FAILED, STEP, "%s: cannot poll for completions: %s",
			    q->connection->server, connection_cause(ret));
		io_queue_break(q, EIO);
	}
	return q->done_count;
}
