/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm_event.h -- fetch and acknowledge RDMA CM events.
 */
#ifndef RPMA_CM_EVENT_H
#define RPMA_CM_EVENT_H

#include <librpma.h>
#include <rdma/rdma_cma.h>

/*
 * The next event of evch. RPMA_E_NO_EVENT: none there on a non-blocking
 * descriptor, or a signal came. RPMA_E_PROVIDER: anything else.
 */
int rpma_cm_event_get(struct rdma_event_channel *evch, struct rdma_cm_event **event_ptr);

/* RPMA_E_PROVIDER. */
int rpma_cm_event_ack(struct rdma_cm_event *event);

/* Keep a copy of the private data that event brought, if any. RPMA_E_NOMEM. */
int rpma_cm_event_copy_data(const struct rdma_cm_event *event, struct rpma_conn_private_data *copy);

#endif /* RPMA_CM_EVENT_H */
