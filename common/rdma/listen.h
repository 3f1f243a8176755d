/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listen.h -- where a tool is on the RDMA network: the device that owns its
 * address or has the route to its peer, and the port it listens on.
 */
#pragma once

#include <librpma.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/host/sysroot.h"
#include "connection.h"
#include "device.h"

/*
 * May this process open the device files of RDMA? librdmacm answers a file that it cannot open
 * with whatever errno it had, so the files themselves are asked. Failures have the exit code
 * EXIT_NO_DEVICE.
 */

/* 0, or the failure: the RDMA CM, which every device needs, cannot be used. */
int device_files_check(const struct sysroot *root);

/*
 * To be asked once an address could not be opened: 0, or the failure, stored
 * instead of that one: a device may not be opened.
 */
int device_files_blame(const struct sysroot *root, const char *address);

/* The user's choice of a device, and how to start the tool again on the software one. */
struct endpoint_options {
	const char *device; /* NULL: any */
	bool quiet;
	char *const *argv; /* as soft_enter() takes them; NULL: it is not to start again */
};

/* The device of this host that owns the address; may start the tool again. */
int endpoint_own(const struct sysroot *root, const struct endpoint_options *options,
		 const char *address, struct rpma_peer **peer, char device[DEVICE_NAME_MAX]);

/*
 * The device that has the route to the address; may start the tool again. A
 * device that is not the requested one is still told, with the failure.
 */
int endpoint_route(const struct sysroot *root, const struct endpoint_options *options,
		   const char *address, struct rpma_peer **peer, struct device *device);

/*
 * *port is the one asked for, 0 for any, and then the one it is. Asking for
 * requests never blocks. A librpma before 1.4 cannot tell which port it is.
 */
int endpoint_listen(struct rpma_peer *peer, const char *address, uint16_t *port,
		    struct rpma_ep **ep, int *fd);

/*
 * One request, with these queues or, NULL, those of messages, and the knobs or, NULL, none. *req
 * is NULL where there is none, or its client has given up meanwhile. -ECONNABORTED, with a failure:
 * this host has no queue pair for it. -ENODEV: the device was removed, and no other will come.
 */
int endpoint_next(struct rpma_ep *ep, const struct connection_queues *queues,
		  const struct connection_knobs *knobs, struct rpma_conn_req **req);

/* Tells if the code of rpma_ep_next_conn_req(3) means that: 0 or -ENODEV. */
int endpoint_lost(int rpma_code);
