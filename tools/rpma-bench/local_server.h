/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local_server.h -- a server in a process of its own, for who measures it.
 *
 * The child is forked before anything touches RDMA, waits until it is told to
 * serve, reports the port it got, and dies with its parent.
 */
#pragma once

#include <sys/types.h>

#include "common/rdma/device.h"
#include "tools/rpma-bench/server/server.h"

struct server_child {
	pid_t pid; /* 0: there is none */
	int order_fd;
	int ready_fd;
};

struct server_order {
	bool once;	      /* it ends with its first client */
	uint32_t cores_taken; /* by those it shares the host with */
};

/* Starts this program again where its device is to be preloaded; before the fork. */
int server_child_enter(const struct options *options);

/* -EIO with the error message set; options are borrowed until it was started. */
int server_child_fork(struct server_child *child, const struct options *options);

/* The port it listens on; -ECANCELED: a signal; else -EIO with the error message set. */
int server_child_start(struct server_child *child, const struct server_order *order,
		       uint16_t *port);

/* Waits for its end, which it is told to come to if now is set; none is fine. */
void server_child_end(struct server_child *child, bool now);

/* The device at whose address both sides meet: each looks it up, as it does not outlive a fork. */
int server_child_device(const struct options *options, struct device *device);
