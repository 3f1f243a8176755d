/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_req.h -- a connection that is not connected yet.
 */
#ifndef RPMA_CONN_REQ_H
#define RPMA_CONN_REQ_H

#include "conn.h"

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

#endif /* RPMA_CONN_REQ_H */
