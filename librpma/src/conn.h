/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn.h -- a connection, from the moment its queue pair exists.
 *
 * A connection request owns one of these until rpma_conn_req_connect() hands
 * it to the user; so there is one list of what a connection holds and one
 * place that lets go of it.
 */
#pragma once

#include <librpma.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#include "address.h"
#include "conn_cfg.h"
#include "connect.h"
#include "cq.h"
#include "flush.h"
#include "peer.h"
#include "sendq.h"

/*
 * The time that a handshake has, as a part of the descriptor that its events come through: so a
 * program that polls it needs no clock of its own.
 */
struct rpma_deadline {
	bool is_set;
	int fd;	      /* epoll(7): for events of the channel, and the end of the time */
	int timer_fd; /* -1: it does not count any more */
};

/*
 * The time begins. The channel does not block from now on, and fd is what a program gets in its
 * place. RPMA_E_PROVIDER. The caller closes it in any case.
 */
int rpma_deadline_set(struct rpma_deadline *deadline, const struct rdma_event_channel *evch,
		      uint32_t timeout_ms);

/* The handshake has ended. fd stays. */
void rpma_deadline_drop(struct rpma_deadline *deadline);

/* Takes one that was never set. */
void rpma_deadline_close(struct rpma_deadline *deadline);

bool rpma_deadline_is_over(const struct rpma_deadline *deadline);

/* Sleeps until fd is readable. RPMA_E_NO_EVENT: it is non-blocking, or a signal came. */
int rpma_deadline_wait(const struct rpma_deadline *deadline);

struct rpma_conn {
	/* read by every operation */
	struct ibv_qp *qp;     /* the id's, or rpma_no_qp */
	struct ibv_qp_ex *qpx; /* the same with its native operations, or NULL: see native.h */
	bool native_flush;     /* which they are, and flushes may use */
	bool native_atomic_write;
	bool flushes_natively_only;
	atomic_bool direct_write; /* the remote peer's configuration */
	struct rpma_flush_sink sink;
	struct rpma_sendq sendq;
	uint32_t options[RPMA_CONN_OPTIONS]; /* granted, or as configured */

	struct rpma_peer *peer; /* borrowed */
	struct rdma_cm_id *id;
	struct rdma_event_channel *evch;  /* NULL before connect */
	struct ibv_comp_channel *channel; /* shared by cq and rcq, or NULL */
	struct rpma_cq *cq;
	bool shares_cq;				    /* and then it is borrowed */
	uint32_t cq_entries;			    /* so many of it are for this connection */
	struct rpma_cq *rcq;			    /* or NULL */
	struct rpma_srq *srq;			    /* borrowed, or NULL */
	struct rpma_connecting *connecting;	    /* what rpma_conn_connect() has still to do */
	struct rpma_deadline deadline;		    /* the end of the handshake */
	bool is_given_up;			    /* the handshake, so its events are late */
	struct rpma_conn_private_data private_data; /* what the other side sent */
	_Atomic int rejection;			    /* enum rpma_rejection */
	_Atomic(void *) context;		    /* the program's */
};

/* The queue pair of a connection that has none: it refuses what is posted. */
extern struct ibv_qp rpma_no_qp;

/* Its send queue: it refuses what is to wait. */
extern const struct rpma_sendq rpma_no_sendq;

/*
 * Make a connection without an id: with completion queues as in cfg. counts: operations in the
 * send queue are counted where cfg leaves it open. RPMA_E_INVAL, RPMA_E_NOMEM, RPMA_E_NOSUPP or
 * RPMA_E_PROVIDER.
 */
int rpma_conn_new(struct rpma_peer *peer, const struct rpma_conn_cfg *cfg, bool counts,
		  struct rpma_conn **conn_ptr);

/*
 * Make the queue pair of an id that knows its device. On success the connection owns the id; on
 * failure the caller still does. RPMA_E_NOMEM, RPMA_E_NOSUPP or RPMA_E_PROVIDER.
 */
int rpma_conn_adopt_id(struct rpma_conn *conn, struct rdma_cm_id *id);

/* The reverse: without queue pair and id, as after rpma_conn_new(), but for granted sizes. */
void rpma_conn_drop_id(struct rpma_conn *conn);

/*
 * Give the connection an event channel of its own, which its id moves to if it has one, with the
 * deadline of the handshake, and what a flush needs.
 */
int rpma_conn_prepare(struct rpma_conn *conn);

struct rpma_conn_req {
	struct rpma_conn *conn;
	enum rpma_side side; /* whether it connects or answers */
};

/*
 * A request on id, which the request owns from then on. On failure the caller
 * still owns id. RPMA_E_INVAL, RPMA_E_NOMEM or RPMA_E_PROVIDER.
 */
int rpma_conn_req_from_id(struct rpma_peer *peer, struct rdma_cm_id *id,
			  const struct rpma_conn_cfg *cfg, enum rpma_side side,
			  struct rpma_conn_req **req_ptr);

/*
 * The next event of evch. RPMA_E_NO_EVENT: none there on a non-blocking
 * descriptor, or a signal came. RPMA_E_PROVIDER: anything else.
 */
int rpma_cm_event_get(struct rdma_event_channel *evch, struct rdma_cm_event **event_ptr);

/* RPMA_E_PROVIDER. */
int rpma_cm_event_ack(struct rdma_cm_event *event);

/* Keep a copy of the private data that event brought, if any. RPMA_E_NOMEM. */
int rpma_cm_event_copy_data(const struct rdma_cm_event *event, struct rpma_conn_private_data *copy);
