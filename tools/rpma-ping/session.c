/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.c -- judges a request, answers it, and keeps its place until the
 * client has left.
 *
 * A host that vanished does not say so: now and then a read of no bytes asks
 * its device, whose silence ends the session.
 */
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tools/common/base/error.h"
#include "tools/common/base/thread.h"
#include "tools/common/rdma/connection.h"
#include "tools/common/rdma/handshake.h"

/* Those who are refused with a reason take a moment of a session too. */
#define SESSIONS_MAX (2 * PLACES_MAX)
#define ALIVE_MS     10000

struct session {
	struct host *host;
	struct rpma_conn_req *req; /* until accepted */
	struct link *link;
	enum greeting_answer answer;
	int place; /* -1: none */
};

/* A queue of no receives is no queue to some devices. */
const struct link_lane session_queues = {.sq_size = 1, .cq_size = 2, .rq_size = 1};

static struct link_cfg link_cfg_of(const struct host *host)
{
	return (struct link_cfg){
		.peer_name = "a client", .stop_fd = host->stop_fd, .lane = &session_queues};
}

static void say(const struct host *host, const char *what)
{
	if (!host->quiet)
		fprintf(stderr, "rpma-ping server: %s\n", what);
}

static int accept_client(struct session *s)
{
	const struct link_cfg cfg = link_cfg_of(s->host);
	uint8_t bytes[GREETING_REPLY_BYTES];

	region_encode_reply(s->place >= 0 ? &s->host->places.regions[s->place] : NULL, s->answer, 0,
			    bytes);
	return link_accept(&s->link, s->host->peer, &s->req, &cfg, bytes, sizeof(bytes));
}

/* False: the device of the client's host has not answered the question before this one. */
static bool ask(const struct session *s, bool *asked)
{
	struct ibv_wc wc;
	int ret = *asked ? rpma_cq_get_wc(link_cq(s->link), 1, &wc, NULL) : 0;

	if (ret == RPMA_E_NO_COMPLETION)
		return true;
	if (ret != 0 || (*asked && wc.status != IBV_WC_SUCCESS))
		return false;
	*asked = true;
	return rpma_read(link_conn(s->link), NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL) ==
	       0;
}

/* Until the client leaves, its host no longer answers, or the server ends. */
static void watch(const struct session *s)
{
	struct pollfd fds[] = {{link_event_fd(s->link), POLLIN, 0}, {s->host->stop_fd, POLLIN, 0}};
	bool asked = false;

	while (fds[1].revents == 0) {
		int ready = poll(fds, 2, ALIVE_MS);

		if (ready < 0 && errno != EINTR)
			return;
		if (ready == 0 && !ask(s, &asked)) {
			say(s->host, "a client no longer answers");
			return;
		}
		if (ready > 0 && fds[0].revents != 0 && !link_alive(s->link, 0))
			return;
	}
}

static void run(struct session *s)
{
	char text[96];

	if (accept_client(s) != 0) {
		if (failure_get()->text[0] != '\0')
			say(s->host, failure_get()->text);
		return;
	}
	if (s->answer == GREETING_WELCOME) {
		watch(s);
		return;
	}
	snprintf(text, sizeof(text), "refused a client: %s", greeting_refusal(s->answer));
	say(s->host, text);
	/* the refusal travels in the private data: leave it the time to arrive */
	link_alive(s->link, LINK_TIMEOUT_MS);
}

static void *session_thread(void *arg)
{
	struct session *s = arg;
	struct host *host = s->host;

	failure_get()->text[0] = '\0';
	run(s);
	if (s->req != NULL)
		rpma_conn_req_delete(&s->req);
	link_close(&s->link);
	pthread_mutex_lock(&host->lock);
	if (s->place >= 0)
		places_give(&host->places, s->place);
	host->sessions--;
	pthread_cond_broadcast(&host->changed);
	pthread_mutex_unlock(&host->lock);
	free(s);
	return NULL;
}

/* Who speaks our language gets an answer; junk does not, nor a stranger. */
static int judge(struct session *s)
{
	struct rpma_conn_private_data pdata = {NULL, 0};
	struct greeting_request request;
	bool room;

	if (!allow_request(s->host->allow, s->req))
		return -EACCES;
	if (rpma_conn_req_get_private_data(s->req, &pdata) != 0 || pdata.ptr == NULL ||
	    greeting_decode_request(pdata.ptr, pdata.len, &request) != 0)
		return -EPROTO;
	if (request.version != GREETING_VERSION)
		s->answer = GREETING_WRONG_VERSION;
	else if (request.role != GREETING_PING)
		s->answer = GREETING_OTHER_TOOL;
	pthread_mutex_lock(&s->host->lock);
	room = s->host->sessions < SESSIONS_MAX;
	if (room && s->answer == GREETING_WELCOME && (s->place = places_take(&s->host->places)) < 0)
		s->answer = GREETING_BUSY;
	s->host->sessions += room;
	pthread_mutex_unlock(&s->host->lock);
	return room ? 0 : -EBUSY;
}

static void turn_away(struct session *s, int error)
{
	rpma_conn_req_delete(&s->req);
	if (error == -EPROTO)
		say(s->host, "rejected a connection that is no client of this tool");
	else if (error == -EACCES)
		say(s->host, "rejected a connection from an address that --allow has not");
	else if (error == -EBUSY)
		say(s->host, "rejected a connection: too many at once");
}

void session_start(struct host *host, struct rpma_conn_req *req)
{
	struct session *s = calloc(1, sizeof(*s));
	int ret;

	if (s == NULL) {
		rpma_conn_req_delete(&req);
		return;
	}
	*s = (struct session){.host = host, .req = req, .place = -1};
	ret = judge(s);
	if (ret != 0) {
		turn_away(s, ret);
		free(s);
	} else if (thread_start(NULL, session_thread, s) != 0) {
		rpma_conn_req_delete(&s->req);
		pthread_mutex_lock(&host->lock);
		if (s->place >= 0)
			places_give(&host->places, s->place);
		host->sessions--;
		pthread_mutex_unlock(&host->lock);
		free(s);
	}
}

void session_end_all(struct host *host)
{
	eventfd_write(host->stop_fd, 1);
	pthread_mutex_lock(&host->lock);
	while (host->sessions > 0)
		pthread_cond_wait(&host->changed, &host->lock);
	pthread_mutex_unlock(&host->lock);
}

int host_init(struct host *host)
{
	*host = (struct host){.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	pthread_mutex_init(&host->lock, NULL);
	pthread_cond_init(&host->changed, NULL);
	if (host->stop_fd < 0)
		return failure_set(EXIT_INTERNAL, "start", "cannot make an eventfd: %s",
				   strerror(errno));
	return 0;
}

void host_destroy(struct host *host)
{
	places_close(&host->places);
	rpma_peer_delete(&host->peer);
	pthread_cond_destroy(&host->changed);
	pthread_mutex_destroy(&host->lock);
	if (host->stop_fd >= 0)
		close(host->stop_fd);
}
