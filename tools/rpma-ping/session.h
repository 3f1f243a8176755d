/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h -- one client of the server, in a thread of its own: greeted, given
 * a place, and watched until it leaves.
 *
 * The server does nothing for a ping, so all a session waits for is the end.
 */
#ifndef SESSION_H
#define SESSION_H

#include <pthread.h>
#include <stdbool.h>

#include "place.h"
#include "tools/common/rdma/allow.h"

/* What all sessions of a server share. */
struct host {
	struct rpma_peer *peer;
	const struct allow *allow; /* borrowed */
	bool quiet;
	int stop_fd; /* readable: every session is to end */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under lock */
	struct places places;
	unsigned sessions;
};

int host_init(struct host *host);
/* No session may be left. */
void host_destroy(struct host *host);

/* What a connection of a client is made with. */
extern const struct link_lane session_queues;

/* Takes the request in any case. */
void session_start(struct host *host, struct rpma_conn_req *req);

/* Tells all sessions to end, and waits for it. */
void session_end_all(struct host *host);

#endif /* SESSION_H */
