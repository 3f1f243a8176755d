/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.c -- greets a client, checks its hello, and waits until it is done.
 *
 * A client may be wrong, hostile or dead: each session has its own thread,
 * each of its waits a limit, and its end costs the server nothing.
 */
#include "session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../common/failure.h"
#include "exchange.h"

struct session {
	struct session_host *host;
	struct rpma_conn_req *req; /* until accepted */
	struct link *link;
	enum greeting_role role;
	enum greeting_answer answer;
};

int session_host_init(struct session_host *host)
{
	memset(host, 0, sizeof(*host));
	host->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (host->ended_fd < 0)
		return failure_set(EXIT_INTERNAL, "start", "cannot make an eventfd: %s",
				   strerror(errno));
	pthread_mutex_init(&host->lock, NULL);
	pthread_cond_init(&host->changed, NULL);
	return 0;
}

void session_host_destroy(struct session_host *host)
{
	pthread_cond_destroy(&host->changed);
	pthread_mutex_destroy(&host->lock);
	close(host->ended_fd);
}

static int accept_client(struct session *s)
{
	const struct link_cfg cfg = {"a client", SESSION_SEND_SLOTS, cli_stop_fd()};
	struct greeting_reply reply = s->host->reply;
	uint8_t bytes[GREETING_REPLY_BYTES];

	reply.answer = s->answer;
	greeting_encode_reply(&reply, bytes);
	return link_accept(&s->link, s->host->peer, &s->req, &cfg, bytes, sizeof(bytes));
}

static int check_hello(const struct session *s, const struct message_hello *hello, char *refusal)
{
	uint64_t bytes = s->host->reply.target_bytes;

	if (s->role == GREETING_MEASURE && hello->size_bytes > bytes) {
		snprintf(refusal, MESSAGE_TEXT_MAX,
			 "operations of %" PRIu64 " bytes do not fit its target of %" PRIu64
			 " bytes",
			 hello->size_bytes, bytes);
		return -EINVAL;
	}
	return 0;
}

static int send_environment(struct session *s)
{
	const uint8_t *text = (const uint8_t *)s->host->environment;
	uint32_t len = (uint32_t)strlen(s->host->environment);
	int ret = 0;

	for (uint32_t at = 0; at < len && ret == 0;) {
		struct message m = {.type = MESSAGE_ENVIRONMENT};

		m.environment.offset = at;
		m.environment.bytes = len - at < MESSAGE_CHUNK_MAX ? len - at : MESSAGE_CHUNK_MAX;
		m.environment.data = text + at;
		at += m.environment.bytes;
		ret = exchange_send(s->link, &m);
	}
	return ret;
}

static int greet(struct session *s, struct message_hello *hello)
{
	struct exchange_buffer buffer;
	struct message m, welcome = {.type = MESSAGE_WELCOME};
	int ret = exchange_receive(s->link, MESSAGE_HELLO, LINK_TIMEOUT_MS, &buffer, &m);

	if (ret)
		return ret;
	*hello = m.hello;
	if (check_hello(s, hello, welcome.welcome.refusal) != 0) {
		exchange_send(s->link, &welcome);
		return failure_set(EXIT_RUN_FAILED, "hello", "refused a client: %s",
				   welcome.welcome.refusal);
	}
	if (s->role == GREETING_CONTROL)
		welcome.welcome.environment_bytes = (uint32_t)strlen(s->host->environment);
	ret = exchange_send(s->link, &welcome);
	return ret || s->role != GREETING_CONTROL ? ret : send_environment(s);
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_usec * 1000;
}

static int serve(struct session *s, const struct message_hello *hello)
{
	uint64_t begin = clock_raw_ns(), limit_ms = hello->limit_ns / 1000000 + 1;
	struct message bye, report = {.type = MESSAGE_REPORT};
	struct exchange_buffer buffer;
	struct rusage before, after;
	int ret;

	getrusage(RUSAGE_SELF, &before);
	ret = exchange_receive(s->link, MESSAGE_BYE, (int)limit_ms, &buffer, &bye);
	if (ret || s->role != GREETING_MEASURE)
		return ret;
	getrusage(RUSAGE_SELF, &after);
	report.report.elapsed_ns = clock_raw_ns() - begin;
	report.report.user_ns = timeval_ns(after.ru_utime) - timeval_ns(before.ru_utime);
	report.report.sys_ns = timeval_ns(after.ru_stime) - timeval_ns(before.ru_stime);
	return exchange_send(s->link, &report);
}

static int run(struct session *s)
{
	struct message_hello hello;
	int ret = accept_client(s);

	if (ret)
		return ret;
	if (s->answer != GREETING_WELCOME) {
		/* the refusal travels in the private data: leave it the time to arrive */
		link_alive(s->link, LINK_TIMEOUT_MS);
		return failure_set(EXIT_RUN_FAILED, "hello", "refused a client: %s",
				   s->answer == GREETING_BUSY ? "too many at once"
							      : "it speaks another version");
	}
	ret = greet(s, &hello);
	if (ret == 0)
		ret = serve(s, &hello);
	if (ret == 0)
		link_alive(s->link, LINK_TIMEOUT_MS);
	return ret;
}

static void *session_thread(void *arg)
{
	struct session *s = arg;
	struct session_host *host = s->host;
	bool control = s->role == GREETING_CONTROL && s->answer == GREETING_WELCOME;

	if (run(s) == -EIO && !host->quiet)
		cli_report_failure("rpma-bench server");
	if (s->req != NULL)
		rpma_conn_req_delete(&s->req);
	link_close(&s->link);
	free(s);
	pthread_mutex_lock(&host->lock);
	host->active--;
	if (control)
		eventfd_write(host->ended_fd, 1);
	pthread_cond_broadcast(&host->changed);
	pthread_mutex_unlock(&host->lock);
	return NULL;
}

/*
 * Another version, and one client too many, get an answer; junk does not, nor
 * do so many that the answers themselves would be too much.
 */
static int judge(struct session *s)
{
	struct rpma_conn_private_data pdata = {NULL, 0};
	struct greeting_request request;
	bool flooded;

	if (rpma_conn_req_get_private_data(s->req, &pdata) != 0 || pdata.ptr == NULL ||
	    greeting_decode_request(pdata.ptr, pdata.len, &request) != 0)
		return -EPROTO;
	s->role = request.role;
	if (request.version != GREETING_VERSION)
		s->answer = GREETING_WRONG_VERSION;
	pthread_mutex_lock(&s->host->lock);
	flooded = s->host->active >= 2 * SESSION_MAX;
	if (s->host->active >= SESSION_MAX)
		s->answer = GREETING_BUSY;
	s->host->active += !flooded;
	pthread_mutex_unlock(&s->host->lock);
	return flooded ? -EBUSY : 0;
}

static int start_thread(struct session *s)
{
	pthread_attr_t detached;
	sigset_t all, before;
	pthread_t thread;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &detached, session_thread, s);
	pthread_attr_destroy(&detached);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

void session_start(struct session_host *host, struct rpma_conn_req *req)
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
		rpma_conn_req_delete(&s->req);
		free(s);
		if (ret == -EPROTO && !host->quiet)
			fprintf(stderr, "rpma-bench server: rejected a connection that is no "
					"client of this tool\n");
		return;
	}
	if (start_thread(s) != 0) {
		rpma_conn_req_delete(&s->req);
		free(s);
		pthread_mutex_lock(&host->lock);
		host->active--;
		pthread_mutex_unlock(&host->lock);
	}
}

void session_wait_all(struct session_host *host)
{
	pthread_mutex_lock(&host->lock);
	while (host->active > 0)
		pthread_cond_wait(&host->changed, &host->lock);
	pthread_mutex_unlock(&host->lock);
}
