/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link_end.h -- how an established connection ends, and why work on it fails.
 */
#ifndef COMMON_RDMA_LINK_END_H
#define COMMON_RDMA_LINK_END_H

#include "connection.h"

/* What an event other than RPMA_CONN_ESTABLISHED means once the connection stands. */
enum cause link_end_of(enum rpma_conn_event event);

/* Sets the error message of that end; gives -EIO. */
int link_ended(enum cause end, const char *peer_name);

/* What a completion's status tells; CAUSE_UNKNOWN: it may be anything. */
enum cause link_status_cause(enum ibv_wc_status status);

#endif /* COMMON_RDMA_LINK_END_H */
