/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls_connections.c -- cases of making connections: addresses, refusals, options.
 */
#include "calls.h"

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <sys/socket.h>

#define REASON	    "the reason, in words"
#define TOS_AF11    0x28 /* RFC 2597, in the upper six bits */
#define RNR_TIMER   9
#define ACK_TIMEOUT 15

/* --- addresses ----------------------------------------------------------------------------------
 */

static uint16_t port_of(const struct sockaddr *addr)
{
	/* the same place in both */
	return ntohs(((const struct sockaddr_in *)(const void *)addr)->sin_port);
}

static bool is_address(const struct sockaddr *addr, const char *text)
{
	const struct sockaddr_in *in = (const void *)addr;
	const struct sockaddr_in6 *in6 = (const void *)addr;
	unsigned char bytes[16];

	MUST_HOLD(inet_pton(addr->sa_family, text, bytes) == 1);
	return addr->sa_family == AF_INET
		       ? memcmp(&in->sin_addr, bytes, sizeof(in->sin_addr)) == 0
		       : memcmp(&in6->sin6_addr, bytes, sizeof(in6->sin6_addr)) == 0;
}

/* Port 0 gives an endpoint a free port: two get different ones. */
static void ask_endpoints(const char *addr, struct rpma_peer *peer)
{
	struct rpma_ep *ep[2];
	uint16_t ports[2] = {0};

	for (int i = 0; i < 2; i++) {
		MUST(rpma_ep_listen(peer, addr, "0", &ep[i]));
		MUST(rpma_ep_get_port(ep[i], &ports[i]));
		MUST_HOLD(ports[i] != 0);
	}
	MUST_HOLD(ports[0] != ports[1]);
	for (int i = 0; i < 2; i++)
		MUST(rpma_ep_shutdown(&ep[i]));
}

int both_sides_have_addresses(struct calls *c)
{
	struct client client = {0};
	struct rdma_cm_id *id = NULL;

	client_open(c, &client, &c->target[0], NULL, 0);
	ask_endpoints(c->addr, client.peer);
	MUST(rpma_conn_get_id(client.conn, &id));
	const struct sockaddr *local = rdma_get_local_addr(id), *peer = rdma_get_peer_addr(id);
	MUST_HOLD(is_address(peer, c->addr) && is_address(local, c->addr));
	char port[8];
	snprintf(port, sizeof(port), "%u", port_of(peer));
	MUST_HOLD(strcmp(port, c->target[0].port) == 0);
	MUST_HOLD(port_of(local) != 0);
	client_close(&client, true);
	return 0;
}

/* --- refusals -----------------------------------------------------------------------------------
 */

static void next_request(struct rpma_ep *ep, struct rpma_conn_req **req)
{
	*req = NULL;
	MUST(rpma_ep_next_conn_req(ep, NULL, req));
}

/* With a reason, without, by giving the request up; then one is accepted. */
void reject_three(const struct calls *c, struct target *target)
{
	struct rpma_peer *peer = session_peer(c->addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_mr_local *mr = target_memory(target, peer);
	struct rpma_ep *ep = target_listen(c, target, peer);
	struct rpma_conn_private_data reason = {REASON, sizeof(REASON)};
	struct rpma_conn_req *req;

	next_request(ep, &req);
	MUST(rpma_conn_req_reject(&req, &reason));
	MUST_HOLD(req == NULL);
	next_request(ep, &req);
	MUST(rpma_conn_req_reject(&req, NULL));
	next_request(ep, &req);
	MUST(rpma_conn_req_delete(&req));
	next_request(ep, &req);
	struct rpma_conn *conn = session_accept(req, mr);
	session_expect_event(conn, RPMA_CONN_CLOSED);
	MUST(rpma_conn_disconnect(conn));
	session_delete(conn);
	MUST(rpma_ep_shutdown(&ep));
	MUST(rpma_mr_dereg(&mr));
	MUST(rpma_peer_delete(&peer));
}

static void expect_rejection(const struct calls *c, struct client *client,
			     const struct target *target, enum rpma_rejection expected,
			     const char *reason)
{
	enum rpma_rejection rejection = RPMA_REJECTION_NONE;
	struct rpma_conn_private_data data = {NULL, 0};
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;

	MUST(client_request(c, client, target, NULL, 0, &req));
	MUST(rpma_conn_req_connect(&req, NULL, &conn));
	MUST(rpma_conn_get_rejection(conn, &rejection));
	MUST_HOLD(rejection == RPMA_REJECTION_NONE);
	session_expect_event(conn, RPMA_CONN_REJECTED);
	MUST(rpma_conn_get_rejection(conn, &rejection));
	MUST_HOLD(rejection == expected);
	MUST(rpma_conn_get_private_data(conn, &data));
	if (reason != NULL)
		MUST_HOLD(data.len >= strlen(reason) && strcmp(data.ptr, reason) == 0);
	else
		for (uint8_t i = 0; i < data.len; i++)
			MUST_HOLD(((const char *)data.ptr)[i] == 0);
	session_delete(conn);
}

/* tcpmux, which only root could serve: another test gets a port that was free a moment ago */
static const struct target no_server = {.port = "1"};

int rejection_is_told_apart(struct calls *c)
{
	enum rpma_rejection rejection = RPMA_REJECTION_OTHER;
	const struct target *target = &c->target[0];
	struct client client = {.peer = session_peer(c->addr, RPMA_UTIL_IBV_CONTEXT_REMOTE)};

	expect_rejection(c, &client, &no_server, RPMA_REJECTION_NO_LISTENER, NULL);
	expect_rejection(c, &client, target, RPMA_REJECTION_PROGRAM, REASON);
	expect_rejection(c, &client, target, RPMA_REJECTION_PROGRAM, NULL);
	expect_rejection(c, &client, target, RPMA_REJECTION_PROGRAM, NULL);
	client_open(c, &client, target, NULL, 0);
	MUST(rpma_conn_get_rejection(client.conn, &rejection));
	MUST_HOLD(rejection == RPMA_REJECTION_NONE);
	client_close(&client, true);
	return 0;
}

/* --- options ------------------------------------------------------------------------------------
 */

static void expect_option(const struct client *client, enum rpma_conn_option option, uint32_t least,
			  uint32_t most)
{
	uint32_t value = 0;

	MUST(rpma_conn_get_option(client->conn, option, &value));
	MUST_HOLD(value >= least && value <= most);
}

/* The queue pair, through the door, has what was asked for. */
static void expect_attributes(const struct client *client)
{
	struct ibv_qp_init_attr init;
	struct rdma_cm_id *id = NULL;
	struct ibv_qp_attr attr;
	struct ibv_pd *pd = NULL;
	uint32_t qp_num = 0;

	MUST(rpma_conn_get_id(client->conn, &id));
	MUST(rpma_conn_get_qp_num(client->conn, &qp_num));
	MUST(rpma_peer_get_pd(client->peer, &pd));
	MUST_HOLD(id->qp->qp_num == qp_num && id->qp->pd == pd);
	/* rnr_retry is what the peer asked for: rdma_connect(3) */
	MUST_HOLD(ibv_query_qp(id->qp, &attr,
			       IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER | IBV_QP_RETRY_CNT,
			       &init) == 0);
	MUST_HOLD(attr.timeout == ACK_TIMEOUT);
	MUST_HOLD(attr.min_rnr_timer == RNR_TIMER);
	MUST_HOLD(attr.retry_cnt == 5);
}

static void keep_contexts(const struct client *client)
{
	int of_conn = 0;
	void *context = &of_conn;

	MUST(rpma_conn_get_context(client->conn, &context));
	MUST_HOLD(context == NULL);
	MUST(rpma_conn_set_context(client->conn, &of_conn));
	MUST(rpma_conn_get_context(client->conn, &context));
	MUST_HOLD(context == &of_conn);
}

/* With moderation on, a wait ends by its period, though few completions come; else it is refused.
 */
static int moderate(const struct calls *c)
{
	const struct option options[] = {
		{RPMA_CONN_OPT_CQ_MODERATION_COUNT, 1000},
		{RPMA_CONN_OPT_CQ_MODERATION_US, 5000},
	};
	struct client client = {0};
	struct rpma_conn_req *req = NULL;

	int ret = client_request(c, &client, &c->target[0], options, NUM_OPTIONS(options), &req);
	if (ret != 0) {
		session_must(ret, RPMA_E_NOSUPP, "rpma_conn_req_new() with moderation");
		MUST(rpma_peer_delete(&client.peer));
		return 0;
	}
	MUST(rpma_conn_req_delete(&req));
	client_open(c, &client, &c->target[0], options, NUM_OPTIONS(options));
	for (int i = 0; i < 5; i++) {
		MUST(rpma_write(client.conn, client.dst, 0, client.mr, 0, 8,
				RPMA_F_COMPLETION_ALWAYS, NULL));
		client_completion(&client);
	}
	client_close(&client, true);
	return 0;
}

int options_are_granted(struct calls *c)
{
	const struct option options[] = {
		{RPMA_CONN_OPT_SQ_SIZE, 33},
		{RPMA_CONN_OPT_RQ_SIZE, 21},
		{RPMA_CONN_OPT_CQ_SIZE, 70},
		{RPMA_CONN_OPT_RCQ_SIZE, 40},
		{RPMA_CONN_OPT_INLINE_SIZE, 24},
		{RPMA_CONN_OPT_SEND_SGES, 3},
		{RPMA_CONN_OPT_RETRIES, 5},
		{RPMA_CONN_OPT_RNR_RETRIES, 6},
		{RPMA_CONN_OPT_RNR_TIMER, RNR_TIMER},
		{RPMA_CONN_OPT_ACK_TIMEOUT, ACK_TIMEOUT},
		{RPMA_CONN_OPT_TRAFFIC_CLASS, TOS_AF11},
	};
	struct client client = {0};

	client_open(c, &client, &c->target[0], options, NUM_OPTIONS(options));
	for (size_t i = 0; i < NUM_OPTIONS(options); i++)
		expect_option(&client, options[i].option, options[i].value, 100000);
	expect_option(&client, RPMA_CONN_OPT_RETRIES, 5, 5);
	expect_option(&client, RPMA_CONN_OPT_TRAFFIC_CLASS, TOS_AF11, TOS_AF11);
	expect_option(&client, RPMA_CONN_OPT_FLUSH_METHOD, RPMA_FLUSH_METHOD_READ,
		      RPMA_FLUSH_METHOD_NATIVE);
	expect_attributes(&client);
	keep_contexts(&client);
	MUST(rpma_write(client.conn, client.dst, 0, client.mr, 0, 64, RPMA_F_COMPLETION_ALWAYS,
			NULL));
	client_completion(&client);
	client_close(&client, true);
	return moderate(c);
}
