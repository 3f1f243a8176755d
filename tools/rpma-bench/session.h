/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h -- the server's side of one connection, in a thread of its own.
 */
#ifndef SESSION_H
#define SESSION_H

#include <pthread.h>
#include <stdbool.h>

#include "../common/greeting.h"
#include "../common/link.h"

#define SESSION_MAX 256

/* What all sessions share; outlives them. */
struct session_host {
	struct rpma_peer *peer;
	struct greeting_reply reply; /* of a welcome */
	const char *environment;     /* JSON text */
	bool quiet;
	int ended_fd; /* readable once a run has ended */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned active; /* under lock */
};

int session_host_init(struct session_host *host);
void session_host_destroy(struct session_host *host);

/* Takes the request: answers it in a new thread, or refuses it. */
void session_start(struct session_host *host, struct rpma_conn_req *req);

/* Waits until no session is active. */
void session_wait_all(struct session_host *host);

/* The send slots of a server's connection: it sends control messages only. */
#define SESSION_SEND_SLOTS 4

#endif /* SESSION_H */
