/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls_ends.c -- the two ends of a connection: the target, which serves its memory, and the
 * client.
 */
#include "calls.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define CONNECTIONS_MAX 32
#define LOOK_EVERY_MS	20
#define USAGE                                                                                      \
	(RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC |               \
	 RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV |                       \
	 RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)

/* --- target --------------------------------------------------------------------------------- */

static struct rpma_ep *target_listen(const struct calls *c, struct target *target,
				     struct rpma_peer *peer)
{
	struct rpma_ep *ep = NULL;
	uint16_t port = 0;

	MUST(rpma_ep_listen(peer, c->addr, "0", &ep));
	MUST(rpma_ep_get_port(ep, &port));
	snprintf(target->port, sizeof(target->port), "%u", port);
	MUST_HOLD(send(target->socket, target->port, sizeof(target->port), 0) ==
		  sizeof(target->port));
	return ep;
}

static struct rpma_mr_local *target_memory(const struct target *target, struct rpma_peer *peer)
{
	struct rpma_mr_local *mr = NULL;

	MUST(rpma_mr_reg(peer, target->memory, MEMORY_BYTES, USAGE, &mr));
	return mr;
}

static bool client_is_there(const struct target *target)
{
	char byte;

	return recv(target->socket, &byte, sizeof(byte), MSG_DONTWAIT | MSG_PEEK) != 0;
}

static void accept_one(struct rpma_ep *ep, const struct rpma_mr_local *mr,
		       struct rpma_wait_item *item)
{
	struct rpma_conn_req *req = NULL;

	MUST(rpma_ep_next_conn_req(ep, NULL, &req));
	*item = (struct rpma_wait_item){.conn = session_accept(req, mr)};
}

/* The last one takes the place of one that has ended. */
static void drop_one(struct rpma_wait_item *items, size_t at, size_t *count)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	MUST(rpma_conn_next_event(items[at].conn, &event));
	MUST_HOLD(event == RPMA_CONN_CLOSED || event == RPMA_CONN_LOST);
	MUST(rpma_conn_disconnect(items[at].conn));
	session_delete(items[at].conn);
	items[at] = items[--*count];
}

void target_serve(const struct calls *c, struct target *target)
{
	struct rpma_wait_item items[1 + CONNECTIONS_MAX] = {{0}};
	struct rpma_peer *peer = session_peer(c->addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_mr_local *mr = target_memory(target, peer);
	size_t count = 1;

	items[0].ep = target_listen(c, target, peer);
	while (count > 1 || client_is_there(target)) {
		int ret = rpma_wait(items, count, LOOK_EVERY_MS, NULL);

		if (ret == RPMA_E_TIMEOUT)
			continue;
		session_must(ret, 0, "rpma_wait()");
		for (size_t i = count; i-- > 1;)
			if (items[i].ready)
				drop_one(items, i, &count);
		MUST_HOLD(count <= CONNECTIONS_MAX);
		if (items[0].ready) {
			accept_one(items[0].ep, mr, &items[count]);
			count++;
		}
	}
	MUST(rpma_ep_shutdown(&items[0].ep));
	MUST(rpma_mr_dereg(&mr));
	MUST(rpma_peer_delete(&peer));
}

/* --- client --------------------------------------------------------------------------------- */

static struct rpma_conn_cfg *conn_cfg(const struct option *options, size_t count)
{
	struct rpma_conn_cfg *cfg = NULL;

	MUST(rpma_conn_cfg_new(&cfg));
	for (size_t i = 0; i < count; i++)
		MUST(rpma_conn_cfg_set_option(cfg, options[i].option, options[i].value));
	return cfg;
}

int client_request(const struct calls *c, struct client *client, const struct target *target,
		   const struct option *options, size_t count, struct rpma_conn_req **req)
{
	struct rpma_conn_cfg *cfg = conn_cfg(options, count);

	if (client->peer == NULL)
		client->peer = session_peer(c->addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	MUST(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_FLUSH_METHOD, c->method));
	int ret = rpma_conn_req_new(client->peer, c->addr, target->port, cfg, req);
	MUST(rpma_conn_cfg_delete(&cfg));
	return ret;
}

void client_open(const struct calls *c, struct client *client, const struct target *target,
		 const struct option *options, size_t count)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_peer_cfg *pcfg = NULL;

	MUST(client_request(c, client, target, options, count, &req));
	client->conn = session_connect(req, "calls");
	session_take_region(client->conn, &client->dst, &pcfg);
	MUST(rpma_conn_apply_remote_peer_cfg(client->conn, pcfg));
	MUST(rpma_peer_cfg_delete(&pcfg));
	MUST(rpma_conn_get_cq(client->conn, &client->cq));
	client->memory = session_memory("dram", MEMORY_BYTES);
	MUST(rpma_mr_reg(client->peer, client->memory, MEMORY_BYTES, USAGE, &client->mr));
}

void client_close(struct client *client, bool stands)
{
	if (stands) {
		MUST(rpma_conn_disconnect(client->conn));
		session_expect_event(client->conn, RPMA_CONN_CLOSED);
	}
	session_delete(client->conn);
	MUST(rpma_mr_remote_delete(&client->dst));
	MUST(rpma_mr_dereg(&client->mr));
	munmap(client->memory, MEMORY_BYTES);
	if (client->peer != NULL)
		MUST(rpma_peer_delete(&client->peer));
}

struct ibv_wc client_completion(struct client *client)
{
	struct ibv_wc wc;

	MUST(rpma_cq_await_wc(client->cq, 1, &wc, NULL, 0, -1));
	MUST_HOLD(wc.status == IBV_WC_SUCCESS);
	return wc;
}

void client_flush(struct client *client)
{
	struct ibv_wc wc;
	int ret;

	/* the queue may be full of operations that leave no completion to the program */
	while ((ret = rpma_flush(client->conn, client->dst, 0, MEMORY_BYTES,
				 RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS, client)) ==
	       RPMA_E_AGAIN)
		MUST_GIVE(RPMA_E_AGAIN, rpma_cq_await_wc(client->cq, 1, &wc, NULL, 0, -1));
	session_must(ret, 0, "rpma_flush()");
	MUST_HOLD(client_completion(client).wr_id == (uintptr_t)client);
}
