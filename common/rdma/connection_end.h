/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection_end.h -- how an established connection ends, and why work on it fails.
 */
#ifndef COMMON_RDMA_CONNECTION_END_H
#define COMMON_RDMA_CONNECTION_END_H

#include "connection.h"

/* The meaning of an event other than RPMA_CONN_ESTABLISHED once the connection stands. */
enum cause connection_end_of(enum rpma_conn_event event);

/* Sets the error message of that end; gives -EIO. */
int connection_ended(enum cause end, const char *peer_name);

/* The cause that a completion's status tells; CAUSE_UNKNOWN: it may be anything. */
enum cause connection_status_cause(enum ibv_wc_status status);

#endif /* COMMON_RDMA_CONNECTION_END_H */
