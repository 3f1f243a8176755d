/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.c -- greets a client, then does what its messages say until it
 * leaves.
 *
 * A client may be wrong, hostile or dead. What it sends is checked before it
 * has any effect, a run may last as long as it likes, and now and then a sign
 * of life is sent: one that is not acknowledged ends the session.
 */
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "repeat_service.h"
#include "tools/common/base/failure.h"
#include "tools/common/base/thread.h"
#include "tools/rpma-bench/protocol/exchange.h"

#define ALIVE_MS 10000

struct session {
	struct host *host;
	struct rpma_conn_req *req; /* until accepted */
	struct link *link;
	enum greeting_answer answer;
	bool welcomed;
	struct stage *stage; /* the repeat at hand; NULL: between two */
	int64_t alive_ms;    /* when the last sign of life was sent */
	struct exchange_buffer buffer;
};

static struct link_cfg link_cfg_of(const struct host *host)
{
	return (struct link_cfg){.peer_name = "a client", .stop_fd = host->stop_fd};
}

/* --- greeting --------------------------------------------------------------- */

static int accept_client(struct session *s)
{
	const struct link_cfg cfg = link_cfg_of(s->host);
	const struct greeting_reply reply = {.version = GREETING_VERSION, .answer = s->answer};
	uint8_t bytes[GREETING_REPLY_BYTES];

	greeting_encode_reply(&reply, bytes);
	return link_accept(&s->link, s->host->peer, &s->req, &cfg, bytes, sizeof(bytes));
}

static int send_text(struct session *s, const char *text)
{
	struct message m = {.type = MESSAGE_TEXT};
	size_t total = strlen(text);
	int ret = 0;

	if (total > MESSAGE_TEXT_MAX)
		return failure_set(EXIT_INTERNAL, "message", "a text of %zu bytes is too long",
				   total);
	m.text.total = (uint32_t)total;
	while (m.text.offset < m.text.total && ret == 0) {
		uint32_t left = m.text.total - m.text.offset;

		m.text.bytes = left < MESSAGE_CHUNK_MAX ? left : MESSAGE_CHUNK_MAX;
		m.text.data = (const uint8_t *)text + m.text.offset;
		ret = exchange_send(s->link, &m);
		m.text.offset += m.text.bytes;
	}
	return ret;
}

static int greet(struct session *s)
{
	const struct host *host = s->host;
	struct message m, welcome = {.type = MESSAGE_WELCOME};
	int ret = exchange_receive(s->link, MESSAGE_HELLO, LINK_TIMEOUT_MS, &s->buffer, &m);

	if (ret)
		return ret;
	welcome.welcome.environment_bytes = (uint32_t)strlen(host->environment);
	welcome.welcome.direct_write_to_pmem = host->direct_write_to_pmem;
	welcome.welcome.targets_count = (uint8_t)host->offers_count;
	for (size_t i = 0; i < host->offers_count; i++)
		welcome.welcome.targets[i] = host->offers[i].description;
	ret = exchange_send(s->link, &welcome);
	s->welcomed = ret == 0;
	return ret == 0 ? send_text(s, host->environment) : ret;
}

/* --- the run ---------------------------------------------------------------- */

static int out_of_place(const struct session *s)
{
	return failure_set(EXIT_RUN_FAILED, "message", "%s sent a message that makes no sense here",
			   link_peer_name(s->link));
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int say_alive(struct session *s)
{
	const struct message alive = {.type = MESSAGE_ALIVE};

	s->alive_ms = now_ms();
	return exchange_send(s->link, &alive);
}

/* Until the next sign of life is due; 0: it is. */
static int alive_in_ms(const struct session *s)
{
	int64_t left = s->alive_ms + ALIVE_MS - now_ms();

	return left > 0 ? (int)left : 0;
}

/* A client that has gone is seen afterwards. */
static void breathe(void *session)
{
	if (alive_in_ms(session) == 0)
		say_alive(session);
}

/*
 * Waits until a descriptor is readable, and lets the stage look at its own. A
 * message counts as news only where one is expected.
 */
static int wait_for_news(struct session *s, bool messages)
{
	struct pollfd fds[3 + STAGE_FDS] = {{messages ? link_receive_fd(s->link) : -1, POLLIN, 0},
					    {link_event_fd(s->link), POLLIN, 0},
					    {s->host->stop_fd, POLLIN, 0}};
	int ready, ret;

	if (s->stage != NULL)
		stage_fds(s->stage, fds + 3);
	ready = poll(fds, s->stage != NULL ? 3 + STAGE_FDS : 3, alive_in_ms(s));
	if (ready < 0)
		return errno == EINTR
			       ? 0
			       : failure_set(EXIT_INTERNAL, "message", "poll: %s", strerror(errno));
	if (fds[2].revents != 0)
		return -ECANCELED;
	/* however much there is to do besides, such as connections to accept */
	if (alive_in_ms(s) == 0 && (ret = say_alive(s)) != 0)
		return ret;
	/* what came before the end of the connection is still to be received */
	if (fds[1].revents != 0)
		link_alive(s->link, 0);
	return s->stage != NULL ? stage_look(s->stage, fds + 3) : 0;
}

static int next_message(struct session *s, struct message *m)
{
	int ret;

	for (;;) {
		ret = exchange_receive_any(s->link, 0, &s->buffer, m);
		if (ret == -EPROTO)
			return out_of_place(s);
		if (ret != -ETIMEDOUT)
			return ret;
		ret = wait_for_news(s, true);
		if (ret)
			return ret;
	}
}

/* A refusal ends the repeat, not the run. */
static int begin(struct session *s, const struct message_begin *begin)
{
	struct message ready = {.type = MESSAGE_READY};

	if (stage_open(&s->stage, s->host, begin) == 0) {
		stage_describe(s->stage, &ready.ready);
	} else {
		snprintf(ready.ready.refusal, sizeof(ready.ready.refusal), "%.*s",
			 MESSAGE_REFUSAL_MAX - 1, failure_get()->text);
		host_say(s->host, failure_get()->text);
	}
	return exchange_send(s->link, &ready);
}

static int send_report(struct session *s)
{
	json_t *report = stage_report(s->stage);
	char *text = report != NULL ? json_dumps(report, JSON_COMPACT) : NULL;
	int ret;

	json_decref(report);
	if (text == NULL)
		return -EIO;
	ret = send_text(s, text);
	free(text);
	return ret;
}

/* What the stage still has to do may take long: the client is watched meanwhile. */
static int end(struct session *s, const struct message_end *end)
{
	const struct access_breath breath = {breathe, s};
	int ret = stage_end(s->stage, end, &breath);

	while (ret == 0 && !stage_is_done(s->stage)) {
		ret = wait_for_news(s, false);
		if (ret == 0 && !link_alive(s->link, 0))
			ret = -EIO;
	}
	if (ret == 0)
		ret = send_report(s);
	stage_close(&s->stage);
	return ret;
}

static int obey(struct session *s, const struct message *m)
{
	if (m->type == MESSAGE_BEGIN && s->stage == NULL)
		return begin(s, &m->begin);
	if (m->type == MESSAGE_START && s->stage != NULL)
		return stage_start(s->stage, m->start.phase);
	if (m->type == MESSAGE_END && s->stage != NULL)
		return end(s, &m->end);
	return out_of_place(s);
}

static int serve(struct session *s)
{
	struct message m;
	int ret;

	s->alive_ms = now_ms();
	ret = next_message(s, &m);
	while (ret == 0 && m.type != MESSAGE_BYE) {
		ret = obey(s, &m);
		if (ret == 0)
			ret = next_message(s, &m);
	}
	/* the client closes: it may still be reading */
	if (ret == 0)
		link_alive(s->link, LINK_TIMEOUT_MS);
	return ret;
}

static int run(struct session *s)
{
	int ret = accept_client(s);

	if (ret)
		return ret;
	if (s->answer != GREETING_WELCOME) {
		/* the refusal travels in the private data: leave it the time to arrive */
		link_alive(s->link, LINK_TIMEOUT_MS);
		return failure_set(EXIT_RUN_FAILED, "hello", "refused a client: %s",
				   greeting_refusal(s->answer));
	}
	ret = greet(s);
	return ret == 0 ? serve(s) : ret;
}

/* --- the thread ------------------------------------------------------------- */

static void *session_thread(void *arg)
{
	struct session *s = arg;
	struct host *host = s->host;
	int ret = run(s);
	bool welcomed;

	if (ret == -EIO || ret == -ETIMEDOUT)
		host_say(host, failure_get()->text);
	if (s->req != NULL)
		rpma_conn_req_delete(&s->req);
	/* first: a client waits for the answer to its disconnect, one lane after the other */
	link_close(&s->link);
	stage_close(&s->stage);
	welcomed = s->welcomed;
	free(s);
	pthread_mutex_lock(&host->lock);
	host->sessions--;
	if (welcomed)
		eventfd_write(host->ended_fd, 1);
	pthread_cond_broadcast(&host->changed);
	pthread_mutex_unlock(&host->lock);
	return NULL;
}

/*
 * Another version, and one client too many, get an answer; junk does not, nor
 * does a stranger, nor so many that the answers themselves would be too much.
 */
static int judge(struct session *s)
{
	struct rpma_conn_private_data pdata = {NULL, 0};
	struct greeting_request request;
	bool flooded;

	if (!host_allows(s->host, s->req))
		return -EACCES;
	if (rpma_conn_req_get_private_data(s->req, &pdata) != 0 || pdata.ptr == NULL ||
	    greeting_decode_request(pdata.ptr, pdata.len, &request) != 0)
		return -EPROTO;
	if (request.version != GREETING_VERSION)
		s->answer = GREETING_WRONG_VERSION;
	else if (request.role == GREETING_PING)
		s->answer = GREETING_OTHER_TOOL;
	else if (request.role != GREETING_CONTROL)
		return -EPROTO;
	pthread_mutex_lock(&s->host->lock);
	flooded = s->host->sessions >= 2 * HOST_SESSIONS_MAX;
	if (s->answer == GREETING_WELCOME && s->host->sessions >= HOST_SESSIONS_MAX)
		s->answer = GREETING_BUSY;
	s->host->sessions += !flooded;
	pthread_mutex_unlock(&s->host->lock);
	return flooded ? -EBUSY : 0;
}

static void turn_away(struct session *s, int error)
{
	rpma_conn_req_delete(&s->req);
	if (error == -EPROTO)
		host_say(s->host, "rejected a connection that is not a client of this tool");
	else if (error == -EACCES)
		host_say(s->host, "rejected a connection from an address not in --allow");
}

void session_start(struct host *host, struct rpma_conn_req *req)
{
	struct session *s = calloc(1, sizeof(*s));
	int ret;

	if (s == NULL) {
		rpma_conn_req_delete(&req);
		return;
	}
	s->host = host;
	s->req = req;
	ret = judge(s);
	if (ret != 0) {
		turn_away(s, ret);
		free(s);
	} else if (thread_start(NULL, session_thread, s) != 0) {
		rpma_conn_req_delete(&s->req);
		free(s);
		pthread_mutex_lock(&host->lock);
		host->sessions--;
		pthread_mutex_unlock(&host->lock);
	}
}

void session_wait_all(struct host *host)
{
	pthread_mutex_lock(&host->lock);
	while (host->sessions > 0)
		pthread_cond_wait(&host->changed, &host->lock);
	pthread_mutex_unlock(&host->lock);
}
