/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.c -- receives, makes durable, answers, and notices how a client ends.
 *
 * A request is decoded and its receive posted again before it is served, so
 * that a client which keeps to its depth always finds a receive. There is room
 * for as many answers; nothing more is taken while none of it is free. One
 * receive more is for the goodbye. A client that is not answered hears after
 * each half of its depth that it may send as many again.
 *
 * A host that vanished does not say so: now and then a read of no bytes asks
 * its device, whose silence ends the connection.
 */
#include "memory_server_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/rdma/connection.h"

#define BATCH	      16
#define RECEIVE_BYTES 32 /* a request, and some room */
#define OPENING_MS    5000
#define REFUSED_MS    5000 /* the refusal travels in the reply: it has the time to arrive */
#define LEAVING_MS    1000
#define ALIVE_MS      10000
#define ALIVE	      ((const void *)(uintptr_t)1) /* the context of the question */

void session_say(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "librpma server: %s\n", text);
}

/* --- begin and end -------------------------------------------------------- */

static size_t answer_at(const struct session *s, uint32_t index)
{
	return (size_t)s->receives * RECEIVE_BYTES + (size_t)index * PERSIST_ANSWER_BYTES;
}

static int make_messages(struct session *s, struct rpma_conn_req *req)
{
	int ret;

	s->receives = s->job_request.depth > 0 ? s->cfg->depth + 1U : 1;
	s->answers = s->job_request.method == METHOD_GPSPM ? s->job_request.depth : 0;
	s->memory = calloc(1, answer_at(s, s->answers));
	if (s->memory == NULL)
		return failure_set(EXIT_INTERNAL, "connect", "out of memory");
	ret = rpma_mr_reg(s->cfg->peer, s->memory, answer_at(s, s->answers),
			  RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &s->mr);
	for (uintptr_t i = 0; ret == 0 && i < s->receives; i++)
		ret = rpma_conn_req_recv(req, s->mr, i * RECEIVE_BYTES, RECEIVE_BYTES,
					 (const void *)i);
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "connect", "no room for its messages: %s",
				   connection_cause(ret));
	return 0;
}

static int establish(struct session *s, struct rpma_conn_req **req,
		     const uint8_t reply[HANDSHAKE_REPLY_BYTES])
{
	const struct rpma_conn_private_data pdata = {(void *)(uintptr_t)reply,
						     HANDSHAKE_REPLY_BYTES};
	int ret = rpma_conn_req_connect(req, &pdata, &s->conn);

	if (ret == 0 && (ret = rpma_conn_get_cq(s->conn, &s->cq)) == 0 &&
	    (ret = rpma_conn_get_rcq(s->conn, &s->rcq)) == 0 &&
	    (ret = rpma_conn_get_event_fd(s->conn, &s->event_fd)) == 0)
		ret = rpma_conn_get_compl_fd(s->conn, &s->messages_fd);
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "connect", "%s", connection_cause(ret));
	return 0;
}

static void close_connection(struct session *s)
{
	rpma_conn_delete(&s->conn);
	rpma_mr_dereg(&s->mr);
	free(s->memory);
	s->memory = NULL;
	s->cq = s->rcq = NULL;
	s->event_fd = s->messages_fd = -1;
}

int session_open(struct session **session, const struct session_cfg *cfg,
		 struct rpma_conn_req **req, const struct job_request *job_request,
		 const char *name, const uint8_t reply[HANDSHAKE_REPLY_BYTES], int64_t now_ms)
{
	struct session *s = calloc(1, sizeof(*s));
	int ret = 0;

	if (s == NULL) {
		rpma_conn_req_delete(req);
		return failure_set(EXIT_INTERNAL, "connect", "out of memory");
	}
	*s = (struct session){.cfg = cfg, .event_fd = -1, .messages_fd = -1};
	s->deadline_ms = now_ms + OPENING_MS;
	snprintf(s->name, sizeof(s->name), "%s", name);
	if (job_request != NULL) {
		s->welcome = true;
		s->job_request = *job_request;
		ret = make_messages(s, *req);
	}
	if (ret == 0)
		ret = establish(s, req, reply);
	if (ret) {
		rpma_conn_req_delete(req);
		session_close(&s);
		return ret;
	}
	*session = s;
	return 0;
}

void session_close(struct session **session)
{
	struct session *s = *session;

	*session = NULL;
	if (s == NULL)
		return;
	close_connection(s);
	free(s);
}

/* Its connection is over. */
static void end(struct session *s, int64_t now_ms)
{
	if (s->state != SESSION_LEAVING)
		rpma_conn_disconnect(s->conn); /* answers the other side's */
	close_connection(s);
	s->missed = s->welcome && s->dropped;
	if (!s->welcome || s->goodbye || s->dropped || !s->came) {
		s->state = SESSION_OVER;
		return;
	}
	s->state = SESSION_AWAITED;
	s->deadline_ms = now_ms + SESSION_AGAIN_MS;
}

void session_leave(struct session *s, int64_t now_ms)
{
	if (s->conn == NULL || s->state == SESSION_LEAVING)
		return;
	s->state = SESSION_LEAVING;
	s->deadline_ms = now_ms + LEAVING_MS;
	if (rpma_conn_disconnect(s->conn) != 0)
		end(s, now_ms);
}

static void drop(struct session *s, const char *why, int64_t now_ms)
{
	session_say("dropped %s: %s", s->name, why);
	s->dropped = true;
	session_leave(s, now_ms);
}

/* --- messages ------------------------------------------------------------- */

static int persist_and_answer(struct session *s, uint32_t slot, uint64_t offset, uint64_t length)
{
	const struct persist_answer answer = {slot, persist_range(s->cfg->persist, offset, length)};
	size_t at;

	if (answer.status == PERSIST_FAILED && !s->failed) {
		session_say("cannot make what %s wrote durable: %s", s->name, strerror(errno));
		s->failed = true;
	}
	/* a client that disconnected gets no answer */
	if (s->state != SESSION_SERVED)
		return 0;
	at = answer_at(s, s->answer_next);
	persist_encode_answer(&answer, s->memory + at);
	s->answer_next = (s->answer_next + 1) % s->answers;
	s->answers_out++;
	return rpma_send(s->conn, s->mr, at, PERSIST_ANSWER_BYTES, RPMA_F_COMPLETION_ALWAYS, NULL);
}

static int post_again(struct session *s, uintptr_t index)
{
	if (s->state != SESSION_SERVED)
		return 0;
	return rpma_recv(s->conn, s->mr, index * RECEIVE_BYTES, RECEIVE_BYTES, (const void *)index);
}

/* An empty message: half of the depth was consumed. */
static int give_back(struct session *s)
{
	if (++s->consumed * 2 < s->job_request.depth || s->state != SESSION_SERVED)
		return 0;
	s->consumed = 0;
	s->answers_out++;
	return rpma_send(s->conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL);
}

/* The number of a block, of a client whose immediate data is that. */
static int take_number(struct session *s, const struct ibv_wc *wc)
{
	const uint32_t number = ntohl(wc->imm_data);
	int ret = post_again(s, wc->wr_id);

	if (ret != 0)
		return ret;
	if (s->answers == 0)
		return give_back(s);
	if (s->job_request.imm_bytes == 0)
		return 0;
	return persist_and_answer(s, number, (uint64_t)number * s->job_request.imm_bytes,
				  s->job_request.imm_bytes);
}

static int take_request(struct session *s, const struct ibv_wc *wc, bool *foreign)
{
	struct persist_request request;
	int ret;

	*foreign = s->answers == 0 || persist_decode_request(s->memory + wc->wr_id * RECEIVE_BYTES,
							     wc->byte_len, &request) != 0;
	if (*foreign)
		return 0;
	ret = post_again(s, wc->wr_id);
	return ret ? ret : persist_and_answer(s, request.slot, request.offset, request.length);
}

static void take(struct session *s, const struct ibv_wc *wc, int64_t now_ms)
{
	bool foreign = false;
	int ret = 0;

	if (s->goodbye)
		return;
	if (wc->status == IBV_WC_SUCCESS && wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		ret = take_number(s, wc);
	else if (wc->status == IBV_WC_SUCCESS && wc->byte_len == 0)
		s->goodbye = true;
	else if (wc->status == IBV_WC_SUCCESS)
		ret = take_request(s, wc, &foreign);
	else
		ret = RPMA_E_PROVIDER; /* the connection is broken */
	if (foreign || wc->status == IBV_WC_LOC_LEN_ERR)
		drop(s, "it sent what no client sends", now_ms);
	else if (ret != 0)
		session_leave(s, now_ms);
}

/* Takes completions of answers and of the probe for a living client. False: it is broken. */
static bool reap(struct session *s)
{
	struct ibv_wc wc[BATCH];
	int got = 0;

	while ((s->answers_out > 0 || s->asked) && rpma_cq_get_wc(s->cq, BATCH, wc, &got) == 0) {
		for (int i = 0; i < got; i++) {
			if (wc[i].status != IBV_WC_SUCCESS)
				return false;
			if (wc[i].wr_id == (uintptr_t)ALIVE)
				s->asked = false;
			else
				s->answers_out--;
		}
	}
	return true;
}

bool session_active(const struct session *s)
{
	return s->state == SESSION_SERVED && s->job_request.depth > 0 && !s->goodbye;
}

bool session_poll(struct session *s, int64_t now_ms)
{
	struct ibv_wc wc[BATCH];
	uint32_t room = BATCH;
	int got = 0;

	if (!reap(s)) {
		session_leave(s, now_ms);
		return true;
	}
	if (s->answers > 0 && s->answers - s->answers_out < room)
		room = s->answers - s->answers_out;
	if (room == 0 || rpma_cq_get_wc(s->rcq, (int)room, wc, &got) != 0)
		return false;
	for (int i = 0; i < got && s->conn != NULL; i++)
		take(s, &wc[i], now_ms);
	return true;
}

void session_wake(struct session *s)
{
	struct rpma_cq *cq;

	rpma_conn_wait(s->conn, 0, &cq, NULL);
}

/* --- events and deadlines ------------------------------------------------- */

/* The other side has left; what it had sent before counts, its goodbye above all. */
static void closed(struct session *s, int64_t now_ms)
{
	struct ibv_wc wc;
	const bool served = s->state == SESSION_SERVED;

	if (served) {
		s->state = SESSION_LEAVING; /* nothing is answered, nothing posted */
		while (!s->goodbye && rpma_cq_get_wc(s->rcq, 1, &wc, NULL) == 0 &&
		       wc.status == IBV_WC_SUCCESS)
			take(s, &wc, now_ms);
		s->state = SESSION_SERVED;
	}
	end(s, now_ms);
}

void session_event(struct session *s, int64_t now_ms)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	int ret = rpma_conn_next_event(s->conn, &event);

	/* none, or one that does not concern the connection */
	if (ret == RPMA_E_NO_EVENT || ret == RPMA_E_UNKNOWN)
		return;
	if (ret != 0 || event != RPMA_CONN_ESTABLISHED) {
		closed(s, now_ms);
	} else if (s->state == SESSION_OPENING) {
		s->came = true;
		s->state = s->welcome ? SESSION_SERVED : SESSION_REFUSED;
		s->deadline_ms = now_ms + (s->welcome ? ALIVE_MS : REFUSED_MS);
	}
}

/* It is served, and has been for a while. */
static void ask(struct session *s, int64_t now_ms)
{
	s->deadline_ms = now_ms + ALIVE_MS;
	/* who has said goodbye is to leave by itself */
	if (s->goodbye || !reap(s) || s->asked ||
	    rpma_read(s->conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, ALIVE) != 0)
		session_leave(s, now_ms);
	else
		s->asked = true;
}

void session_tick(struct session *s, int64_t now_ms)
{
	if (now_ms < s->deadline_ms)
		return;
	switch (s->state) {
	case SESSION_SERVED:
		ask(s, now_ms);
		break;
	case SESSION_AWAITED:
		s->missed = true;
		s->state = SESSION_OVER;
		break;
	case SESSION_OVER:
		break;
	case SESSION_OPENING:
		session_say("%s did not finish connecting within %d s", s->name, OPENING_MS / 1000);
		/* fallthrough */
	default:
		end(s, now_ms);
	}
}
