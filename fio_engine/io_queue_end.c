/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_queue_end.c -- how operations come to be done: by completions, by answers,
 * and all at once when the connection is of no more use.
 *
 * The first thing that goes wrong with a connection is the last one looked at:
 * what else was out fails with it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io_queue_private.h"
#include "tools/common/base/failure.h"

#define BATCH 32
#define STEP  "data"

/* --- an end that is none ---------------------------------------------------------- */

static void end_with_error(struct io_queue *f, struct operation *o, int error)
{
	if (o->error == 0) {
		o->error = error;
		o->status = error == EIO ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS;
	}
	io_queue_put_done(f, io_queue_number(f, o));
}

static void lose_group(struct io_queue *f, struct operation *head, int error)
{
	uint32_t next;

	head->pending = 0;
	for (struct operation *o = head;; o = &f->operations[next]) {
		next = o->next;
		end_with_error(f, o, error);
		f->under_way--;
		if (next == NONE)
			return;
	}
}

static void lose_all(struct io_queue *f, int error)
{
	for (uint32_t i = 0; i < f->depth; i++) {
		if (f->operations[i].pending > 0)
			lose_group(f, &f->operations[i], error);
	}
	f->operations[f->depth].pending = 0;
}

void io_queue_break(struct io_queue *f, int error)
{
	if (f->broken != 0)
		return;
	f->broken = error;
	/* nothing may reach the job's buffers when they are its own again */
	rpma_conn_disconnect(f->connection->conn);
	lose_all(f, error);
}

void io_queue_refuse(struct io_queue *f, struct operation *o)
{
	o->pending = 0;
	o->next = NONE;
	end_with_error(f, o, f->broken);
}

void io_queue_abandon(struct io_queue *io_queue, int error)
{
	struct io_queue *f = io_queue;

	for (uint32_t i = 0; i < f->added_count; i++)
		end_with_error(f, &f->operations[f->added[i]], error);
	f->added_count = 0;
	lose_all(f, error);
	f->message_first = 0;
	f->message_next = 0;
	f->messages_due = 0;
	f->credits = f->connection->cfg.hello.depth;
	f->lost = io_queue_dirty(f);
	f->broken = 0;
}

void io_queue_post_failed(struct io_queue *f, const struct operation *o, const char *what, int code)
{
	failure_set(EXIT_RUN_FAILED, STEP,
		    "cannot post the %s of %u bytes at offset %llu of the region of %s: %s", what,
		    o->bytes, (unsigned long long)o->begin, f->connection->server,
		    link_cause(code));
	io_queue_break(f, EIO);
}

/* --- completions that failed ------------------------------------------------------- */

static const char *work_name(const struct io_queue *f, uint64_t context)
{
	static const char *const names[] = {"a read", "a write", "a trim"};

	if ((context & PATH_ANSWER) != 0)
		return "an answer";
	if ((context & CONTEXT_FLUSH) != 0)
		return "a flush";
	return names[f->operations[context & CONTEXT_NUMBER].kind];
}

/* A flush stands for its group, all else for itself. */
static void blame(struct io_queue *f, const struct ibv_wc *wc)
{
	uint32_t number = (uint32_t)(wc->wr_id & CONTEXT_NUMBER);
	bool group = (wc->wr_id & CONTEXT_FLUSH) != 0;

	do {
		struct operation *o = &f->operations[number];

		o->error = EIO;
		o->status = wc->status;
		o->vendor_error = wc->vendor_err;
		number = o->next;
	} while (group && number != NONE);
}

static void completion_failed(struct io_queue *f, const struct ibv_wc *wc)
{
	struct connection *p = f->connection;
	char what[LINK_PEER_MAX + 32];

	snprintf(what, sizeof(what), "%s: %s", p->server, work_name(f, wc->wr_id));
	link_work_failed(p->link, STEP, what, wc);
	if ((wc->wr_id & PATH_ANSWER) == 0)
		blame(f, wc);
	io_queue_break(f, EIO);
}

/* --- completions -------------------------------------------------------------------- */

/* The head failed without a completion to report it: it stands for its group. */
static void spread_error(struct io_queue *f, const struct operation *head)
{
	for (uint32_t next = head->next; next != NONE; next = f->operations[next].next)
		f->operations[next].error = head->error;
}

static void count_down(struct io_queue *f, uint32_t number)
{
	struct operation *head = &f->operations[number];

	if (--head->pending > 0 || number == f->depth)
		return;
	if (__builtin_expect(head->error != 0, 0))
		spread_error(f, head);
	for (; number != NONE; number = f->operations[number].next) {
		io_queue_put_done(f, number);
		f->under_way--;
	}
}

/* For a flush: false, with the sentence, if the device has read instead. */
static bool prove_native(struct io_queue *f, const struct ibv_wc *wc)
{
	if (wc->opcode == IBV_WC_RDMA_READ) {
		failure_set(EXIT_RUN_FAILED, STEP,
			    "mode=native: flushes to %s complete as reads, not as flushes: both "
			    "devices and their drivers need the RDMA FLUSH operation; mode=apm "
			    "works without",
			    f->connection->server);
		connection_goodbye(f->connection);
		io_queue_break(f, EOPNOTSUPP);
		return false;
	}
	f->flush_context &= ~CONTEXT_UNPROVEN;
	f->native = true;
	return true;
}

static const char *check_answer(struct io_queue *f, const struct ibv_wc *wc,
				struct persist_answer *answer)
{
	uint32_t number = (uint32_t)(wc->wr_id & CONTEXT_NUMBER);
	const uint8_t *at =
		f->connection->message_memory + connection_answer_offset(f->connection, number);

	if (f->messages_due == 0)
		return "without being asked";
	if (wc->opcode != IBV_WC_RECV || persist_decode_answer(at, wc->byte_len, answer) != 0)
		return "with bytes that make no sense";
	if (answer->slot != f->messages[f->message_first].slot)
		return "to something else than it was asked";
	return NULL;
}

static void hostile(struct io_queue *f, const char *how)
{
	failure_set(EXIT_RUN_FAILED, STEP, "%s answered %s: it is no server of this engine",
		    f->connection->server, how);
	io_queue_break(f, EIO);
}

static bool receive_again(struct io_queue *f, const struct ibv_wc *wc)
{
	struct connection *p = f->connection;
	uint32_t number = (uint32_t)(wc->wr_id & CONTEXT_NUMBER);
	int ret = rpma_recv(p->conn, p->messages, connection_answer_offset(p, number),
			    PERSIST_ANSWER_BYTES, (const void *)(uintptr_t)wc->wr_id);

	if (ret == 0)
		return true;
	failure_set(EXIT_RUN_FAILED, STEP, "cannot post a receive for %s: %s", p->server,
		    link_cause(ret));
	io_queue_break(f, EIO);
	return false;
}

static void take_credit(struct io_queue *f, const struct ibv_wc *wc)
{
	uint32_t depth = f->connection->cfg.hello.depth, more = depth / 2;

	if (wc->opcode != IBV_WC_RECV || wc->byte_len != 0)
		hostile(f, "with bytes that make no sense");
	else if (f->credits + more > depth)
		hostile(f, "without being asked");
	else if (receive_again(f, wc))
		f->credits += more;
}

static void take_answer(struct io_queue *f, const struct ibv_wc *wc)
{
	struct persist_answer answer;
	const char *wrong;
	uint32_t head;

	if (f->method != METHOD_GPSPM) {
		take_credit(f, wc);
		return;
	}
	wrong = check_answer(f, wc, &answer);
	if (wrong != NULL) {
		hostile(f, wrong);
		return;
	}
	head = f->messages[f->message_first].head;
	f->message_first = io_queue_after(f->message_first, f->messages_size);
	f->messages_due--;
	if (!receive_again(f, wc))
		return;
	if (answer.status != PERSIST_DONE)
		f->operations[head].error = EIO;
	count_down(f, head);
}

static void take(struct io_queue *f, const struct ibv_wc *wc)
{
	if (__builtin_expect(wc->status != IBV_WC_SUCCESS, 0))
		completion_failed(f, wc);
	else if ((wc->wr_id & PATH_ANSWER) != 0)
		take_answer(f, wc);
	else if ((wc->wr_id & CONTEXT_UNPROVEN) == 0 || prove_native(f, wc))
		count_down(f, (uint32_t)(wc->wr_id & CONTEXT_NUMBER));
}

uint32_t io_queue_poll(struct io_queue *io_queue)
{
	struct io_queue *f = io_queue;
	struct ibv_wc wc[BATCH];
	int got = BATCH, ret = 0;

	while (got == BATCH && f->broken == 0) {
		got = 0;
		ret = rpma_cq_get_wc(f->connection->cq, BATCH, wc, &got);
		for (int i = 0; i < got && f->broken == 0; i++)
			take(f, &wc[i]);
		f->taken += (uint64_t)got;
	}
	if (__builtin_expect(ret != 0 && ret != RPMA_E_NO_COMPLETION, 0)) {
		failure_set(EXIT_RUN_FAILED, STEP, "%s: cannot poll for completions: %s",
			    f->connection->server, link_cause(ret));
		io_queue_break(f, EIO);
	}
	return f->done_count;
}
