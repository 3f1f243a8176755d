/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 12-surviving-server -- a server that outlives its clients, whatever they do.
 *
 * Each client sends a number. One that gives up, dies, sends something else or stays silent costs
 * the server nothing but its slot: a failure of a client's connection ends that connection, and
 * only a failure of the endpoint ends the server. The server ends after N numbers; N is
 * its third argument.
 */
#include "example.h"

#include <fcntl.h>
#include <time.h>

#define SLOTS	   32 /* clients at a time */
#define BYTES	   sizeof(uint64_t)
#define SILENCE_MS 10000 /* a client that is silent for longer is dropped */
#define LOOK_MS	   1000

struct client {
	struct rpma_conn *conn; /* NULL: the slot is free */
	struct rpma_cq *cq;
	int64_t since_ms;
};

struct server {
	struct rpma_ep *ep;
	struct rpma_conn_cfg *cfg;
	struct rpma_mr_local *mr;
	uint64_t received[SLOTS];
	struct client clients[SLOTS];
	unsigned long numbers, dropped;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void do_not_block(int fd)
{
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
		fail("fcntl: %s", strerror(errno));
}

/* Messages of this client do not matter any more, nor do errors of closing it. */
static void drop(struct server *s, struct client *c)
{
	(void)rpma_conn_disconnect(c->conn);
	(void)rpma_conn_delete(&c->conn);
	s->dropped++;
}

static struct client *free_slot(struct server *s)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (s->clients[i].conn == NULL)
			return &s->clients[i];
	return NULL;
}

static void accept_one(struct server *s)
{
	struct rpma_conn_private_data full = {"full", 4};
	struct rpma_conn_req *req;
	int fd;

	int ret = rpma_ep_next_conn_req(s->ep, s->cfg, &req);
	if (ret == RPMA_E_NO_EVENT) /* or its client is gone already */
		return;
	CHECK(ret);
	struct client *c = free_slot(s);
	if (c == NULL) {
		(void)rpma_conn_req_reject(&req, &full);
		return;
	}
	const size_t at = (size_t)(c - s->clients) * BYTES;
	CHECK(rpma_conn_req_recv(req, s->mr, at, BYTES, NULL));
	CHECK(rpma_conn_req_connect(&req, NULL, &c->conn)); /* also if its client is gone */
	CHECK(rpma_conn_get_event_fd(c->conn, &fd));
	do_not_block(fd);
	CHECK(rpma_conn_get_cq(c->conn, &c->cq));
	c->since_ms = now_ms();
}

static void take_completions(struct server *s, struct client *c)
{
	struct ibv_wc wc;
	int ret;

	while ((ret = rpma_cq_get_wc(c->cq, 1, &wc, NULL)) == 0) {
		if (wc.status != IBV_WC_SUCCESS || wc.byte_len != BYTES) {
			drop(s, c);
			return;
		}
		s->numbers++;
		c->since_ms = now_ms();
	}
	if (ret != RPMA_E_NO_COMPLETION)
		drop(s, c);
}

static void take_event(struct server *s, struct client *c)
{
	enum rpma_conn_event event;

	int ret = rpma_conn_next_event(c->conn, &event);
	if (ret == RPMA_E_NO_EVENT || (ret == 0 && event == RPMA_CONN_ESTABLISHED))
		return;
	take_completions(s, c); /* what came before the end */
	if (c->conn != NULL)
		drop(s, c);
}

/* The endpoint, and two items of each client. */
static size_t list_items(struct server *s, struct rpma_wait_item *items)
{
	size_t count = 0;

	items[count++] = (struct rpma_wait_item){.ep = s->ep};
	for (unsigned i = 0; i < SLOTS; i++) {
		struct client *c = &s->clients[i];

		if (c->conn == NULL)
			continue;
		items[count++] = (struct rpma_wait_item){.cq = c->cq, .context = c};
		items[count++] = (struct rpma_wait_item){.conn = c->conn, .context = c};
	}
	return count;
}

static void serve_once(struct server *s)
{
	struct rpma_wait_item items[1 + 2 * SLOTS];
	const size_t count = list_items(s, items);

	int ret = rpma_wait(items, count, LOOK_MS, NULL);
	if (ret != RPMA_E_TIMEOUT)
		CHECK(ret);
	for (size_t i = 1; ret == 0 && i < count; i++) {
		struct client *c = items[i].context;

		if (!items[i].ready || c->conn == NULL) /* dropped by the item before */
			continue;
		if (items[i].cq != NULL)
			take_completions(s, c);
		else
			take_event(s, c);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		if (s->clients[i].conn != NULL && now_ms() - s->clients[i].since_ms > SILENCE_MS)
			drop(s, &s->clients[i]);
	if (ret == 0 && items[0].ready) /* last: it may fill a slot that was dropped */
		accept_one(s);
}

static void server(const char *addr, const char *port, const char *numbers)
{
	static struct server s;
	const unsigned long wanted = numbers != NULL ? strtoul(numbers, NULL, 10) : 1;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	int fd;

	CHECK(rpma_mr_reg(peer, s.received, sizeof(s.received), RPMA_MR_USAGE_RECV, &s.mr));
	CHECK(rpma_conn_cfg_new(&s.cfg));
	CHECK(rpma_conn_cfg_set_option(s.cfg, RPMA_CONN_OPT_CONNECT_MS, SILENCE_MS));
	s.ep = listen_at(peer, addr, port);
	CHECK(rpma_ep_get_fd(s.ep, &fd));
	do_not_block(fd);
	while (s.numbers < wanted)
		serve_once(&s);
	printf("%lu numbers received, %lu connections ended\n", s.numbers, s.dropped);

	for (unsigned i = 0; i < SLOTS; i++)
		if (s.clients[i].conn != NULL)
			drop(&s, &s.clients[i]);
	CHECK(rpma_ep_shutdown(&s.ep));
	CHECK(rpma_conn_cfg_delete(&s.cfg));
	CHECK(rpma_mr_dereg(&s.mr));
	CHECK(rpma_peer_delete(&peer));
}

static void client(const char *addr, const char *port, const char *unused)
{
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	static uint64_t number = 42;
	struct rpma_mr_local *src;
	struct rpma_conn_req *req;
	struct rpma_cq *cq;

	(void)unused;
	CHECK(rpma_mr_reg(peer, &number, sizeof(number), RPMA_MR_USAGE_SEND, &src));
	CHECK(rpma_conn_req_new(peer, addr, port, NULL, &req));
	struct rpma_conn *conn = establish(req, NULL);
	CHECK(rpma_conn_get_cq(conn, &cq));
	CHECK(rpma_send(conn, src, 0, BYTES, RPMA_F_COMPLETION_ALWAYS, NULL));
	next_completion(cq);
	close_first(&conn);
	CHECK(rpma_mr_dereg(&src));
	CHECK(rpma_peer_delete(&peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
