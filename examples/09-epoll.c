/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 09-epoll.c -- a server with one thread and many clients: all descriptors are
 * non-blocking and in one epoll set.
 *
 * Each connection of the client sends one number. The server is done when all
 * connections have come, sent theirs, and gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>

#include "example.h"

enum { CLIENTS = 8, BYTES = sizeof(uint64_t) };

struct server {
	int epoll;
	struct rpma_ep *ep;
	struct rpma_mr_local *mr;
	uint64_t numbers[CLIENTS]; /* received, in the order of the connections */
	uint64_t sum;
	struct client {
		struct rpma_conn *conn;
		struct rpma_cq *cq;
	} clients[CLIENTS];
	unsigned accepted, closed;
};

/* One of these is ready: the endpoint, or the events or completions of client what / 2. */
enum { EVENTS, COMPLETIONS, ENDPOINT = 2 * CLIENTS };

static void watch(const struct server *s, int fd, unsigned what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = what};

	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0 ||
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		fail("watching a descriptor: %s", strerror(errno));
}

static void accept_one(struct server *s)
{
	struct client *c = &s->clients[s->accepted % CLIENTS];
	struct rpma_conn_req *req;
	int fd;

	int ret = rpma_ep_next_conn_req(s->ep, NULL, &req);
	if (ret == RPMA_E_NO_EVENT)
		return;
	CHECK(ret);
	if (s->accepted == CLIENTS)
		fail("more clients than expected");
	CHECK(rpma_conn_req_recv(req, s->mr, s->accepted * BYTES, BYTES, &s->numbers[s->accepted]));
	CHECK(rpma_conn_req_connect(&req, NULL, &c->conn));
	CHECK(rpma_conn_get_event_fd(c->conn, &fd));
	watch(s, fd, 2 * s->accepted + EVENTS);
	CHECK(rpma_conn_get_cq(c->conn, &c->cq));
	CHECK(rpma_cq_get_fd(c->cq, &fd));
	watch(s, fd, 2 * s->accepted + COMPLETIONS);
	s->accepted++;
}

static void take_completions(struct server *s, struct client *c)
{
	struct ibv_wc wc;
	int ret;

	(void)rpma_cq_wait(c->cq); /* takes the news, if any, and arms the queue again */
	while ((ret = rpma_cq_get_wc(c->cq, 1, &wc, NULL)) == 0) {
		check_status(&wc);
		s->sum += *(const uint64_t *)(uintptr_t)wc.wr_id;
	}
	if (ret != RPMA_E_NO_COMPLETION)
		CHECK(ret);
}

static void take_event(struct server *s, struct client *c)
{
	enum rpma_conn_event event;

	int ret = rpma_conn_next_event(c->conn, &event);
	if (ret == RPMA_E_NO_EVENT)
		return;
	CHECK(ret);
	if (event == RPMA_CONN_ESTABLISHED)
		return;
	if (event != RPMA_CONN_CLOSED)
		fail("a client is gone: %s", rpma_utils_conn_event_2str(event));
	take_completions(s, c); /* both descriptors may be ready, and this one come first */
	CHECK(rpma_conn_disconnect(c->conn));
	CHECK(rpma_conn_delete(&c->conn)); /* its descriptors leave the set by themselves */
	s->closed++;
}

static void serve(struct server *s, unsigned what)
{
	if (what == ENDPOINT)
		accept_one(s);
	else if (what % 2 == EVENTS)
		take_event(s, &s->clients[what / 2]);
	else
		take_completions(s, &s->clients[what / 2]);
}

static void server(const char *addr, const char *port, const char *unused)
{
	static struct server s;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct epoll_event ready;
	int fd;

	(void)unused;
	CHECK(rpma_mr_reg(peer, s.numbers, sizeof(s.numbers), RPMA_MR_USAGE_RECV, &s.mr));
	s.epoll = epoll_create1(EPOLL_CLOEXEC);
	s.ep = listen_at(peer, addr, port);
	CHECK(rpma_ep_get_fd(s.ep, &fd));
	watch(&s, fd, ENDPOINT);
	while (s.closed < CLIENTS)
		if (epoll_wait(s.epoll, &ready, 1, -1) == 1) /* else a signal */
			serve(&s, ready.data.u32);
	if (s.sum != CLIENTS * (CLIENTS + 1) / 2)
		fail("the sum is %lu, expected that of 1 to %d", (unsigned long)s.sum, CLIENTS);
	printf("%d clients sent their numbers\n", CLIENTS);

	CHECK(rpma_ep_shutdown(&s.ep));
	CHECK(rpma_mr_dereg(&s.mr));
	CHECK(rpma_peer_delete(&peer));
}

static void client(const char *addr, const char *port, const char *unused)
{
	static uint64_t numbers[CLIENTS];
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn *conns[CLIENTS];
	struct rpma_mr_local *src;
	struct rpma_conn_req *req;
	struct rpma_cq *cq;

	(void)unused;
	CHECK(rpma_mr_reg(peer, numbers, sizeof(numbers), RPMA_MR_USAGE_SEND, &src));
	for (unsigned i = 0; i < CLIENTS; i++) {
		CHECK(rpma_conn_req_new(peer, addr, port, NULL, &req));
		conns[i] = establish(req, NULL);
		numbers[i] = i + 1;
		CHECK(rpma_conn_get_cq(conns[i], &cq));
		CHECK(rpma_send(conns[i], src, i * BYTES, BYTES, RPMA_F_COMPLETION_ALWAYS, NULL));
		next_completion(cq);
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		close_first(&conns[i]);
	CHECK(rpma_mr_dereg(&src));
	CHECK(rpma_peer_delete(&peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
