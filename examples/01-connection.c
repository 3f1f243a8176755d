/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 01-connection.c -- make a connection, exchange a greeting in its private
 * data, close it.
 *
 * The whole life of a connection without any help but CHECK(). A client whose
 * server is not there yet is rejected and tries again.
 */
#include <unistd.h>

#include "example.h"

enum { ATTEMPTS = 10 };

static const char server_greeting[] = "Hello, client!";
static const char client_greeting[] = "Hello, server!";

/* The receiver of private data sees padding behind it: the text ends in a 0. */
static void check_greeting(const struct rpma_conn_private_data *pdata, const char *expected)
{
	if (pdata->ptr == NULL || pdata->len < strlen(expected) + 1)
		fail("%u bytes of private data, expected \"%s\"", pdata->len, expected);
	if (strcmp(pdata->ptr, expected) != 0)
		fail("received \"%.*s\", expected \"%s\"", pdata->len, (char *)pdata->ptr,
		     expected);
	printf("received \"%s\"\n", (char *)pdata->ptr);
}

static void server(const char *addr, const char *port, const char *unused)
{
	struct rpma_conn_private_data greeting = {(void *)server_greeting, sizeof(server_greeting)};
	struct rpma_conn_private_data received;
	struct ibv_context *device;
	enum rpma_conn_event event;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_peer *peer;
	struct rpma_ep *ep;
	uint16_t number;

	(void)unused;
	CHECK(rpma_utils_get_ibv_context(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	CHECK(rpma_peer_new(device, &peer));
	CHECK(rpma_ep_listen(peer, addr, port, &ep));
	CHECK(rpma_ep_get_port(ep, &number));
	printf("port %u\n", number);
	fflush(stdout);

	CHECK(rpma_ep_next_conn_req(ep, NULL, &req));
	CHECK(rpma_conn_req_get_private_data(req, &received));
	check_greeting(&received, client_greeting);
	CHECK(rpma_conn_req_connect(&req, &greeting, &conn));
	CHECK(rpma_conn_next_event(conn, &event));
	if (event != RPMA_CONN_ESTABLISHED)
		fail("not connected: %s", rpma_utils_conn_event_2str(event));

	CHECK(rpma_conn_next_event(conn, &event));
	if (event != RPMA_CONN_CLOSED)
		fail("not closed: %s", rpma_utils_conn_event_2str(event));
	CHECK(rpma_conn_disconnect(conn));
	CHECK(rpma_conn_delete(&conn));
	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_peer_delete(&peer));
}

static struct rpma_conn *connect_once(struct rpma_peer *peer, const char *addr, const char *port,
				      enum rpma_conn_event *event)
{
	struct rpma_conn_private_data greeting = {(void *)client_greeting, sizeof(client_greeting)};
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	CHECK(rpma_conn_req_new(peer, addr, port, NULL, &req));
	CHECK(rpma_conn_req_connect(&req, &greeting, &conn));
	CHECK(rpma_conn_next_event(conn, event));
	return conn;
}

static void client(const char *addr, const char *port, const char *unused)
{
	struct rpma_conn_private_data received;
	struct ibv_context *device;
	enum rpma_conn_event event;
	struct rpma_conn *conn;
	struct rpma_peer *peer;

	(void)unused;
	CHECK(rpma_utils_get_ibv_context(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE, &device));
	CHECK(rpma_peer_new(device, &peer));

	conn = connect_once(peer, addr, port, &event);
	for (int attempt = 1; event == RPMA_CONN_REJECTED && attempt < ATTEMPTS; attempt++) {
		CHECK(rpma_conn_delete(&conn));
		sleep(1);
		conn = connect_once(peer, addr, port, &event);
	}
	if (event != RPMA_CONN_ESTABLISHED)
		fail("not connected: %s", rpma_utils_conn_event_2str(event));

	/* on this side the private data comes with the event */
	CHECK(rpma_conn_get_private_data(conn, &received));
	check_greeting(&received, server_greeting);

	CHECK(rpma_conn_disconnect(conn));
	CHECK(rpma_conn_next_event(conn, &event));
	if (event != RPMA_CONN_CLOSED)
		fail("not closed: %s", rpma_utils_conn_event_2str(event));
	CHECK(rpma_conn_delete(&conn));
	CHECK(rpma_peer_delete(&peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
