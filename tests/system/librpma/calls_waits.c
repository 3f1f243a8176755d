/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls_waits.c -- cases of waiting: for a time, for many connections, for a solicited message.
 */
#include "calls.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LIVING	     5
#define WRITES	     200
#define TIMEOUT_MS   60
#define RECORD_BYTES 64
#define ON_ERROR     RPMA_F_COMPLETION_ON_ERROR
#define ALWAYS	     RPMA_F_COMPLETION_ALWAYS

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void nothing(int signal_number)
{
	(void)signal_number;
}

/* Signals that interrupt system calls, all the time. */
static timer_t start_signals(void)
{
	const struct itimerspec often = {{0, 3000000}, {0, 3000000}};
	struct sigaction action = {.sa_handler = nothing}; /* without SA_RESTART */
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	timer_t timer;

	MUST_HOLD(sigaction(SIGUSR1, &action, NULL) == 0);
	MUST_HOLD(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	MUST_HOLD(timer_settime(timer, 0, &often, NULL) == 0);
	return timer;
}

#define OVERRUN_POSTS 64

/* A wait without an outcome ends, and not before its time. */
static void wait_in_vain(struct client *client, unsigned spin_us, int timeout_ms)
{
	struct rpma_wait_item items[] = {{.cq = client->cq}, {.conn = client->conn}};
	const int64_t begin_ns = now_ns();
	struct ibv_wc wc;
	size_t ready = 77;

	MUST_GIVE(RPMA_E_TIMEOUT, rpma_cq_await_wc(client->cq, 1, &wc, NULL, spin_us, timeout_ms));
	MUST_HOLD(now_ns() - begin_ns >= (int64_t)timeout_ms * 1000000);

	const int64_t again_ns = now_ns();
	MUST_GIVE(RPMA_E_TIMEOUT, rpma_wait(items, 2, timeout_ms, &ready));
	MUST_HOLD(now_ns() - again_ns >= (int64_t)timeout_ms * 1000000);
	MUST_HOLD(!items[0].ready && !items[1].ready);
}

static void write_one(struct client *client, uint64_t number)
{
	MUST(rpma_write(client->conn, client->dst, 0, client->mr, 0, RECORD_BYTES, ALWAYS,
			(void *)(uintptr_t)number)); /* NOLINT */
}

static void *write_later(void *arg)
{
	const struct timespec soon = {0, 20000000};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &soon, NULL);
	write_one(arg, 9);
	return NULL;
}

/* The thread that waits is woken, whatever the limit. */
static void wait_for_another_thread(struct client *client, unsigned spin_us, int timeout_ms)
{
	struct ibv_wc wc = {0};
	pthread_t thread;
	int count = 0;

	MUST_HOLD(pthread_create(&thread, NULL, write_later, client) == 0);
	MUST(rpma_cq_await_wc(client->cq, 1, &wc, &count, spin_us, timeout_ms));
	MUST_HOLD(wc.wr_id == 9 && wc.status == IBV_WC_SUCCESS && count == 1);
	MUST_HOLD(pthread_join(thread, NULL) == 0);
}

static void wait_for_what_is_there(struct client *client)
{
	struct ibv_wc wcs[4];
	int count = 0, got = 0;

	for (uint64_t i = 0; i < 4; i++)
		write_one(client, i);
	while (got < 4) {
		MUST(rpma_cq_await_wc(client->cq, 4, wcs, &count, 0, -1));
		for (int i = 0; i < count; i++)
			MUST_HOLD(wcs[i].wr_id == (uint64_t)got++);
	}
}

int waits_end_in_time(struct calls *c)
{
	struct client client = {0};

	client_open(c, &client, &c->target[0], NULL, 0);
	for (int round = 0; round < 2; round++) {
		timer_t timer = round == 0 ? NULL : start_signals();

		wait_in_vain(&client, 0, 0);
		wait_in_vain(&client, 0, TIMEOUT_MS);
		wait_in_vain(&client, 5000, TIMEOUT_MS);
		wait_in_vain(&client, 1000000, TIMEOUT_MS);
		wait_for_what_is_there(&client);
		wait_for_another_thread(&client, 0, -1);
		wait_for_another_thread(&client, 100000, -1);
		wait_for_another_thread(&client, 10, 30000);
		wait_in_vain(&client, 0, TIMEOUT_MS);
		if (round != 0)
			MUST_HOLD(timer_delete(timer) == 0);
	}
	client_close(&client, true);
	return 0;
}

/* --- many connections ---------------------------------------------------------------------------
 */

struct many {
	struct client client[LIVING + 1]; /* the last one's target dies */
	uint64_t written[LIVING + 1], done[LIVING + 1];
	bool failed;
};

static void fetch(struct many *many, int i)
{
	struct ibv_wc wc;

	while (rpma_cq_get_wc(many->client[i].cq, 1, &wc, NULL) == 0) {
		if (i == LIVING && wc.status != IBV_WC_SUCCESS) {
			many->failed = true;
			continue;
		}
		MUST_HOLD(wc.status == IBV_WC_SUCCESS && wc.wr_id == many->done[i]++);
	}
}

static void take_event(struct many *many, int i)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	MUST_HOLD(i == LIVING);
	MUST(rpma_conn_next_event(many->client[i].conn, &event));
	MUST_HOLD(event == RPMA_CONN_CLOSED || event == RPMA_CONN_LOST);
	many->failed = true;
}

/* What may be written to those that live, with one operation under way on each. */
static void write_on(struct many *many, int i)
{
	if (i == LIVING ? many->failed : many->written[i] == WRITES)
		return;
	if (many->written[i] > many->done[i])
		return;
	write_one(&many->client[i], many->written[i]++);
}

static bool all_done(const struct many *many)
{
	for (int i = 0; i < LIVING; i++)
		if (many->done[i] < WRITES)
			return false;
	return many->failed;
}

static void wait_for_all(struct many *many, pid_t to_kill)
{
	struct rpma_wait_item items[2 * (LIVING + 1)] = {{0}};
	size_t ready = 0;

	for (int i = 0; i <= LIVING; i++) {
		items[2 * i].cq = many->client[i].cq;
		items[2 * i + 1].conn = many->client[i].conn;
	}
	while (!all_done(many)) {
		for (int i = 0; i <= LIVING; i++)
			write_on(many, i);
		if (to_kill != 0 && many->done[LIVING] > WRITES / 4) {
			MUST_HOLD(kill(to_kill, SIGKILL) == 0);
			to_kill = 0;
		}
		MUST(rpma_wait(items, 2 * (LIVING + 1), 60000, &ready));
		MUST_HOLD(ready > 0);
		for (int i = 0; i <= LIVING; i++) {
			if (items[2 * i].ready)
				fetch(many, i);
			if (items[2 * i + 1].ready)
				take_event(many, i);
		}
	}
}

int wait_outlives_a_dead_peer(struct calls *c)
{
	const struct option options[] = {
		{RPMA_CONN_OPT_RETRIES, 2},
		{RPMA_CONN_OPT_ACK_TIMEOUT, 14},
	};
	static struct many many;

	many.client[0].peer = session_peer(c->addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	for (int i = 0; i <= LIVING; i++) {
		many.client[i].peer = many.client[0].peer;
		client_open(c, &many.client[i], &c->target[i == LIVING], options,
			    NUM_OPTIONS(options));
	}
	wait_for_all(&many, c->target[1].process);
	for (int i = LIVING; i >= 0; i--) {
		if (i > 0)
			many.client[i].peer = NULL;
		client_close(&many.client[i], i != LIVING);
	}
	return 0;
}

/* --- solicited messages -------------------------------------------------------------------------
 */

#define QUIET 3 /* messages that wake no thread */

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	return poll(&pollfd, 1, timeout_ms) == 1;
}

/* Any completion raises the event that the queue was made for. It is armed again as asked. */
static void take_first_event(struct rpma_cq *cq)
{
	struct ibv_wc wc;

	MUST(rpma_cq_wait(cq));
	while (rpma_cq_get_wc(cq, 1, &wc, NULL) == RPMA_E_NO_COMPLETION)
		;
	MUST_HOLD(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV);
}

void sleep_until_solicited(const struct calls *c, struct target *target)
{
	struct rpma_peer *peer = session_peer(c->addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_mr_local *mr = target_memory(target, peer);
	struct rpma_ep *ep = target_listen(c, target, peer);
	struct rpma_conn_req *req = NULL;
	struct rpma_cq *cq = NULL;
	struct ibv_wc wc;
	int fd = -1;

	MUST(rpma_ep_next_conn_req(ep, NULL, &req));
	for (size_t i = 0; i < 2 + QUIET; i++)
		MUST(rpma_conn_req_recv(req, mr, i * RECORD_BYTES, RECORD_BYTES, NULL));
	struct rpma_conn *conn = session_accept(req, mr);
	MUST(rpma_conn_get_cq(conn, &cq));
	MUST(rpma_cq_get_fd(cq, &fd));
	MUST(rpma_cq_arm(cq, true));
	take_first_event(cq);
	MUST_HOLD(send(target->socket, "go", 2, 0) == 2);
	for (int i = 0; i < QUIET; i++)
		MUST(rpma_cq_await_wc(cq, 1, &wc, NULL, 1000000000, 30000)); /* polls alone */
	MUST_HOLD(!is_readable(fd, 0));
	MUST_HOLD(send(target->socket, "go", 2, 0) == 2);
	MUST_HOLD(is_readable(fd, -1));
	MUST(rpma_cq_wait(cq));
	MUST(rpma_cq_await_wc(cq, 1, &wc, NULL, 0, -1));
	MUST_HOLD(wc.status == IBV_WC_SUCCESS);
	session_expect_event(conn, RPMA_CONN_CLOSED);
	MUST(rpma_conn_disconnect(conn));
	session_delete(conn);
	MUST(rpma_ep_shutdown(&ep));
	MUST(rpma_mr_dereg(&mr));
	MUST(rpma_peer_delete(&peer));
}

static void send_message(struct client *client, int flags)
{
	MUST(rpma_send(client->conn, client->mr, 0, RECORD_BYTES, flags | ALWAYS, NULL));
	client_completion(client);
}

static void await_target(const struct target *target)
{
	char word[2];

	MUST_HOLD(recv(target->socket, word, sizeof(word), 0) == sizeof(word));
}

int solicited_message_wakes(struct calls *c)
{
	struct client client = {0};

	client_open(c, &client, &c->target[0], NULL, 0);
	send_message(&client, 0);
	await_target(&c->target[0]);
	for (int i = 0; i < QUIET; i++)
		send_message(&client, 0);
	await_target(&c->target[0]);
	send_message(&client, RPMA_F_SOLICITED);
	client_close(&client, true);
	return 0;
}

/* --- what the device reports by itself ----------------------------------------------------------
 */

static void await_async_event(struct client *client, enum ibv_event_type expected,
			      struct ibv_async_event *event)
{
	struct rpma_wait_item item = {.peer = client->peer};
	int ret;

	do {
		ret = rpma_peer_next_async_event(client->peer, event);
		if (ret == RPMA_E_NO_EVENT)
			MUST(rpma_wait(&item, 1, 60000, NULL));
		else
			session_must(ret, 0, "rpma_peer_next_async_event()");
	} while (ret == RPMA_E_NO_EVENT || event->event_type != expected);
}

/* Completions that the program does not fetch, more than their queue holds. */
int overrun_queue_is_reported(struct calls *c)
{
	static const struct option options[] = {
		{RPMA_CONN_OPT_SQ_SIZE, OVERRUN_POSTS},
		{RPMA_CONN_OPT_CQ_SIZE, 4},
		{RPMA_CONN_OPT_SIGNAL_EVERY, 0},
	};
	struct client client = {0};
	struct ibv_async_event event;
	uint32_t entries = 0;

	client_open(c, &client, &c->target[0], options, NUM_OPTIONS(options));
	MUST(rpma_conn_get_option(client.conn, RPMA_CONN_OPT_CQ_SIZE, &entries));
	MUST_GIVE(RPMA_E_NO_EVENT, rpma_peer_next_async_event(client.peer, &event));
	for (uint32_t i = 0; entries < OVERRUN_POSTS && i < OVERRUN_POSTS; i++)
		(void)rpma_write(client.conn, client.dst, 0, client.mr, 0, 8,
				 RPMA_F_COMPLETION_ALWAYS, NULL);
	if (entries < OVERRUN_POSTS) {
		await_async_event(&client, IBV_EVENT_CQ_ERR, &event);
		MUST_HOLD(event.element.cq->cq_context == client.cq);
	}
	client_close(&client, false);
	return entries < OVERRUN_POSTS ? 0
				       : 77; /* 77: the device gave more than it was asked for */
}
