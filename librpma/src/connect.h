/* SPDX-License-Identifier: BSD-3-Clause */
/* connect.h -- the handshake, and the steps of a connection that is made without blocking. */
#pragma once

#include "address.h"

#include <librpma.h>

struct rpma_connecting; /* what rpma_conn_connect() has still to do */

/* Before the address is resolved; RPMA_CONN_OPT_UNSET: as it is. RPMA_E_NOSUPP, RPMA_E_PROVIDER. */
int rpma_connect_set_traffic_class(struct rdma_cm_id *id, uint32_t value);

/* Asks the other side, or accepts. pdata may be NULL. RPMA_E_NOSUPP or RPMA_E_PROVIDER. */
int rpma_connect_begin(struct rpma_conn *conn, enum rpma_side side,
		       const struct rpma_conn_private_data *pdata);

/*
 * Takes the next step after this event, of which event is what it means to a program. True: the
 * program hears nothing of it. False: *event or *ret is the outcome, and connecting is NULL.
 */
bool rpma_connecting_step(struct rpma_conn *conn, enum rdma_cm_event_type type,
			  enum rpma_conn_event *event, int *ret);

/* Takes a pointer to NULL. */
void rpma_connecting_delete(struct rpma_connecting **connecting_ptr);
