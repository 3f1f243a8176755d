/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn.h -- a connection, from the moment its queue pair exists.
 *
 * A connection request owns one of these until rpma_conn_req_connect() hands
 * it to the user; so there is one list of what a connection holds and one
 * place that lets go of it.
 */
#ifndef RPMA_CONN_H
#define RPMA_CONN_H

#include "address.h"
#include "conn_cfg.h"
#include "cq.h"
#include "flush.h"
#include "peer.h"

struct rpma_conn {
	/* read by every operation */
	struct ibv_qp *qp;     /* the id's */
	struct ibv_qp_ex *qpx; /* the same with its native operations, or NULL: see native.h */
	bool native_flush;     /* which they are */
	bool native_atomic_write;
	atomic_bool direct_write; /* the remote peer's configuration */
	struct rpma_flush_sink sink;

	struct rpma_peer *peer; /* borrowed */
	struct rdma_cm_id *id;
	struct rdma_event_channel *evch;  /* NULL before connect */
	struct ibv_comp_channel *channel; /* shared by cq and rcq, or NULL */
	struct rpma_cq *cq;
	struct rpma_cq *rcq;			    /* or NULL */
	struct rpma_conn_private_data private_data; /* what the other side sent */
};

/*
 * Make a connection on id: completion queues and a queue pair as in cfg (NULL:
 * defaults). On success the connection owns id; on failure the caller still
 * does. RPMA_E_INVAL, RPMA_E_NOMEM or RPMA_E_PROVIDER.
 */
int rpma_conn_new(struct rpma_peer *peer, struct rdma_cm_id *id, const struct rpma_conn_cfg *cfg,
		  struct rpma_conn **conn_ptr);

/* Give the connection an event channel of its own and what a flush needs. */
int rpma_conn_prepare(struct rpma_conn *conn);

#endif /* RPMA_CONN_H */
