/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waiter.c -- a librpma program that waits for a peer which never sends anything.
 *
 *	waiter server ADDR WHAT
 *	waiter client ADDR WHAT PORT
 *
 * WHAT is event, the next of the connection, or completion, of a receive. What
 * comes in the end is printed, and it is an error: the exit status is 1. The
 * public API alone, so that LD_LIBRARY_PATH chooses the library.
 */
#include "tests/vm/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_BYTES = 4096, MESSAGE_BYTES = 64, LIMIT_S = 300, USAGE = 64 };

static void wait_for_event(struct rpma_conn *conn)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	MUST(rpma_conn_next_event(conn, &event));
	printf("event: %s\n", rpma_utils_conn_event_2str(event));
}

static void wait_for_completion(struct rpma_conn *conn)
{
	struct ibv_wc wc = session_conn_completion(conn);

	printf("completion: %s\n", ibv_wc_status_str(wc.status));
}

static struct rpma_conn *serve(struct rpma_peer *peer, const char *addr, struct rpma_mr_local *mr)
{
	struct rpma_ep *ep = session_serve(peer, addr);
	struct rpma_conn_req *req = NULL;

	MUST(rpma_ep_next_conn_req(ep, NULL, &req));
	MUST(rpma_conn_req_recv(req, mr, 0, MESSAGE_BYTES, NULL));
	return session_accept(req, mr);
}

static struct rpma_conn *call(struct rpma_peer *peer, const char *addr, const char *port,
			      struct rpma_mr_local *mr)
{
	struct rpma_conn_req *req = NULL;

	MUST(rpma_conn_req_new(peer, addr, port, NULL, &req));
	MUST(rpma_conn_req_recv(req, mr, 0, MESSAGE_BYTES, NULL));
	return session_connect(req, "waiter");
}

int main(int argc, char **argv)
{
	const char *port = argc == 5 ? argv[4] : NULL;
	struct rpma_mr_local *mr = NULL;
	struct rpma_conn *conn;

	if (argc < 4) {
		fprintf(stderr, "waiter: expected server ADDR WHAT or client ADDR WHAT PORT\n");
		return USAGE;
	}
	session_start(argv[1], LIMIT_S);
	struct rpma_peer *peer = session_peer(argv[2], port != NULL ? RPMA_UTIL_IBV_CONTEXT_REMOTE
								    : RPMA_UTIL_IBV_CONTEXT_LOCAL);
	void *memory = session_memory("dram", MEMORY_BYTES);
	MUST(rpma_mr_reg(peer, memory, MEMORY_BYTES, RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_WRITE_DST,
			 &mr));
	conn = port != NULL ? call(peer, argv[2], port, mr) : serve(peer, argv[2], mr);
	if (strcmp(argv[3], "event") == 0)
		wait_for_event(conn);
	else
		wait_for_completion(conn);
	return EXIT_FAILURE;
}
