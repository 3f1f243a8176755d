/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_server_private.h -- what the files of the server share: memory_server.c sets it up,
 * memory_server.c judges who wants to come in, memory_server_serve.c is the loop.
 */
#pragma once

#include <librpma.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/rdma/service.h"
#include "job_handshake.h"
#include "memory_server.h"

#define SESSION_AGAIN_MS 5000 /* how long a client is waited for */
#define SESSION_NAME_MAX 128

/* Shared by all sessions; borrowed. */
struct session_cfg {
	struct rpma_peer *peer;
	const struct persist *persist;
	uint16_t depth; /* messages of one client that its queues have room for */
};

enum session_state {
	SESSION_OPENING, /* accepted, and not yet connected */
	SESSION_SERVED,
	SESSION_REFUSED, /* was told why, and is to leave */
	SESSION_LEAVING, /* disconnected from here, the other side has not said so yet */
	SESSION_AWAITED, /* left without saying so */
	SESSION_OVER,	 /* the server's to close */
};

struct session {
	const struct session_cfg *cfg;
	enum session_state state;
	struct job_request job_request; /* set when it is welcome */
	char name[SESSION_NAME_MAX];	/* "client 10.0.0.2, job 1 of 4" */
	bool welcome;
	bool came;	     /* it was connected, now or the last time */
	bool goodbye;	     /* it has said that it is done */
	bool dropped;	     /* it broke the rules: it is not waited for */
	bool failed;	     /* the system refused to make something durable: it was said */
	bool missed;	     /* it is over without the goodbye it owed */
	int64_t deadline_ms; /* its state's; while served, when to check that it is alive */
	/* the connection's; NULL and -1 without one */
	struct rpma_conn *conn;
	struct rpma_cq *cq;  /* for answers */
	struct rpma_cq *rcq; /* for what was received */
	int event_fd;
	int messages_fd; /* both queues' */
	bool asked;	 /* whether it lives, and the answer has not come */
	/* messages: requests, then answers */
	uint8_t *memory;
	struct rpma_mr_local *mr;
	uint32_t receives;
	uint32_t answers;
	uint32_t answer_next;
	uint32_t answers_out; /* that have not left yet */
	uint32_t consumed;    /* numbers, since it was last told; where there are no answers */
};

/*
 * Takes the request in any case, and accepts it with the reply. job_request NULL: the
 * reply refuses.
 */
int session_open(struct session **session, const struct session_cfg *cfg,
		 struct rpma_conn_req **req, const struct job_request *job_request,
		 const char *name, const uint8_t reply[HANDSHAKE_REPLY_BYTES], int64_t now_ms);
void session_close(struct session **session);

/* True if messages of it may come. */
bool session_active(const struct session *session);
/* Takes some of what has arrived, and answers; false: there was nothing. */
bool session_poll(struct session *session, int64_t now_ms);
/* messages_fd is readable. */
void session_wake(struct session *session);
/* event_fd is readable. */
void session_event(struct session *session, int64_t now_ms);
/* Now and then: deadlines. */
void session_tick(struct session *session, int64_t now_ms);
/* Disconnects. */
void session_leave(struct session *session, int64_t now_ms);

/* One line on stderr. */
void session_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

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
