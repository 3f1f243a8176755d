/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_server_private.h -- what the files of the server share: memory_server.c sets it up,
 * memory_server.c judges who wants to come in, memory_server_serve.c is the loop.
 */
#ifndef MEMORY_SERVER_PRIVATE_H
#define MEMORY_SERVER_PRIVATE_H

#include "common/rdma/service.h"
#include "memory_server.h"
#include "session.h"

#define SERVER_CLIENTS_MAX 1024
#define SERVER_SESSIONS_MAX                                                                        \
	(SERVER_CLIENTS_MAX + 64) /* who is refused takes one for a moment too */

struct memory_server {
	struct memory_server_cfg cfg;
	struct service service;
	uint16_t port; /* the service's */
	struct target target;
	struct persist persist;
	struct region region;
	uint16_t depth;		      /* messages of a client at once */
	struct rpma_conn_cfg *queues; /* for every connection */
	struct session_cfg session_cfg;
	struct session *sessions[SERVER_SESSIONS_MAX];
	unsigned count;	   /* how many sessions there are */
	unsigned expected; /* clients; 0: not known yet */
	unsigned come;	   /* clients that have come */
	unsigned missed;
	char missed_name[SESSION_NAME_MAX]; /* the first one */
};

/* Takes one request of the endpoint, if there is one. Not 0: none can come any more. */
int memory_server_admit(struct memory_server *memory_server, int64_t now_ms);

#endif /* MEMORY_SERVER_PRIVATE_H */
