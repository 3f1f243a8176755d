/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection.h -- a connection between two tools, and messages over it.
 *
 * Every wait has a limit, and every failure names its step. A connection either
 * carries control messages, or its user gives it queues: they have the sizes that
 * the user asks for, hold nothing but the user's work, and complete it all in one
 * completion queue.
 */
#pragma once

#include <librpma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/base/failure.h"
#include "connection_knobs.h"

/* The meaning of an event other than RPMA_CONN_ESTABLISHED once the connection stands. */
enum cause connection_end_of(enum rpma_conn_event event);

/* Sets the error message of that end; gives -EIO. */
int connection_ended(enum cause end, const char *peer_name);

/* The cause that a completion's status tells; CAUSE_UNKNOWN: it may be anything. */
enum cause connection_status_cause(enum ibv_wc_status status);

#define CONNECTION_MESSAGE_MAX 4096
#define CONNECTION_TIMEOUT_MS  5000
#define CONNECTION_PEER_MAX    96

struct connection; /* one connection */

struct connection_queues {
	uint32_t sq_size;
	uint32_t cq_size; /* completions of sends and receives */
	uint32_t rq_size;
	struct rpma_srq *srq; /* borrowed: receives come from there; NULL: of its own */
	/*
	 * Posts what the peer may send right after it is connected. NULL:
	 * nothing. Sets the error message when it fails.
	 */
	int (*post)(struct rpma_conn_req *req, void *arg);
	void *arg;
	/* work requests that may wait for one doorbell, with librpma 1.4; 0: librpma's choice */
	uint32_t batch;
};

struct connection_cfg {
	const char *peer_name; /* for error messages: "server 10.0.0.1:7204" */
	const char *device;    /* whose ports tell why work failed; NULL: not known */
	int stop_fd;	       /* waiting ends when it is readable; -1: none */
	int timeout_ms;	       /* for each step of connecting; 0: CONNECTION_TIMEOUT_MS */
	const struct connection_queues *queues; /* NULL: it carries messages */
	const struct connection_knobs *knobs;	/* NULL: librpma's choice */
	struct timespec *requested; /* gets when address and route were known; NULL: no */
};

/* Sends librpma's own log to the error messages, and to stderr if asked. */
void connection_log_to_failures(bool verbose);
/* The last log line of librpma in this thread, or its name of the code. */
const char *connection_cause(int rpma_code);
/* The code that connection_cause() last had in this thread; 0: none since it was cleared. */
int connection_cause_code(void);
void connection_cause_clear(void);
/* The cause that this code, and the errno that librpma logged last in this thread, stand for. */
enum cause connection_cause_of(int rpma_code);
/* Sets the error message of a call of librpma that gave this code; gives -EIO. */
#define librpma_failed(rpma_code, step, ...)                                                       \
	failure_because(connection_cause_of(rpma_code), EXIT_RUN_FAILED, step, __VA_ARGS__)

/* The verbs context that owns the address, or a route to it. */
int connection_open_device(const char *address, enum rpma_util_ibv_context_type type,
			   struct rpma_peer **peer, char device[64]);

/* Connects, with a handshake as private data. */
int connection_connect(struct connection **connection, struct rpma_peer *peer, const char *address,
		       uint16_t port, const struct connection_cfg *cfg, const void *handshake,
		       size_t handshake_len);

/*
 * Takes the request in any case. The request's queues come from its endpoint:
 * rpma_ep_next_conn_req() with connection_conn_cfg() of the same cfg.
 */
int connection_accept(struct connection **connection, struct rpma_peer *peer,
		      struct rpma_conn_req **req, const struct connection_cfg *cfg,
		      const void *reply, size_t reply_len);

/* The configuration both ends use; the caller deletes it. */
int connection_conn_cfg(const struct connection_cfg *cfg, struct rpma_conn_cfg **out);

/* The private data that the peer sent; borrowed, and may be padded with zeros. */
int connection_handshake(const struct connection *connection, const void **bytes, size_t *len);

/* If it carries messages. */
int connection_send(struct connection *connection, const void *message, size_t len);
/*
 * If it carries messages. *len holds the buffer's size, then the message's. -ECANCELED:
 * stop_fd; -ETIMEDOUT, with the error message set.
 */
int connection_receive(struct connection *connection, void *message, size_t *len, int timeout_ms);
/* Readable: connection_receive() may have a message. If it carries messages. */
int connection_receive_fd(const struct connection *connection);

/* False, with the error message and cause stored, if the connection has ended; waits for that. */
bool connection_alive(struct connection *connection, int timeout_ms);
/*
 * Stores why work on the connection failed, "WHAT failed: STATUS" or how the connection
 * ended: the CM may tell of that a moment later, which is waited for. Gives -EIO.
 */
int connection_work_failed(struct connection *connection, const char *step, const char *what,
			   const struct ibv_wc *wc);
/* Readable: connection_alive has something to look at. */
int connection_event_fd(const struct connection *connection);

#define CONNECTION_CLOSE_MS 1000
/* Disconnects, waits so long at most for the peer to do it too, and frees; NULL is fine. */
void connection_close_within(struct connection **connection, int wait_ms);
/* The same with CONNECTION_CLOSE_MS. */
void connection_close(struct connection **connection);

struct rpma_conn *connection_conn(const struct connection *connection);
/* All completions of the user's work; of one that carries messages those of what was sent. */
struct rpma_cq *connection_cq(const struct connection *connection);
/* Readable: rpma_cq_wait() of it does not block. */
int connection_cq_fd(const struct connection *connection);
const char *connection_peer_name(const struct connection *connection);
/* Empty: it was not told. */
const char *connection_device(const struct connection *connection);

/* "RETRY_EXC_ERR" and the like. */
const char *connection_wc_status_name(enum ibv_wc_status status);

/* The configuration that a connection asked for and was granted, as far as librpma tells. */
#define CONNECTION_GID_MAX 48

struct connection_facts {
	bool known; /* librpma is 1.4 or newer */
	uint32_t sq_size;
	uint32_t rq_size;
	uint32_t cq_size;
	struct connection_knobs
		knobs;		      /* as configured; of CONNECTION_INLINE what the device gave */
	uint32_t path_mtu_bytes;      /* 0: not known */
	int gid_index;		      /* -1: not known */
	const char *gid_type;	      /* ib, roce-v1, roce-v2; NULL: not known */
	char gid[CONNECTION_GID_MAX]; /* as an IPv6 address; empty: not known */
};

void connection_facts_take(struct connection_facts *facts, const struct connection *connection);
