/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane.h -- the lanes of a pool: each a connection of its own, used by one
 * thread at a time, connected when first used.
 *
 * Calls on different lanes share no lock and write no common memory. Once
 * connected a lane allocates nothing, except its buffer at the first read into
 * memory outside the pool.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "librpmem/wire/control.h"

struct lanes;

struct lanes_cfg {
	const char *host;			 /* where the daemon is, as the user named it */
	const struct control_pool_reply *daemon; /* borrowed until lanes_open() returns */
	enum control_transport transport;
	void *memory; /* the local pool */
	size_t bytes;
	unsigned work_queue; /* RPMEM_WORK_QUEUE_SIZE */
	int end_fd;	     /* readable: the session has ended, and with it each wait */
};

/*
 * Opens the device, registers the memory, connects lane 0. 0 or a negative errno
 * with the error message set: -EFAULT or -EACCES for memory that is not mapped, or
 * read-only; -ENOMEM where it may not be pinned; -EMFILE, -ETIMEDOUT ...
 */
int lanes_open(struct lanes **lanes, const struct lanes_cfg *cfg);
/* Disconnects and frees; no call is under way. NULL is fine. */
void lanes_close(struct lanes **lanes);
/*
 * How many lanes this host can have: its device and open files limit them. Before
 * lanes_open(). -ENOMEDIUM: no RDMA device; -EMFILE: not even one.
 */
int lanes_most(const char *host, enum control_transport transport, unsigned *nlanes);

/*
 * Lane, range and length above 0 were checked. 0 or a negative errno with the
 * error message set. -ECONNRESET: the connection or the daemon is gone; -EPROTO: it broke the
 * protocol; and so for each later call on any lane. -EIO: the daemon could not make a range
 * durable. The first call on a lane connects it: -EMFILE, -ENOMEM or -ETIMEDOUT if that fails
 * for a reason that may pass.
 * Flushed data must not change until the drain.
 */
int lanes_flush(struct lanes *lanes, unsigned lane, size_t offset, size_t length, bool relaxed);
int lanes_drain(struct lanes *lanes, unsigned lane);
int lanes_persist(struct lanes *lanes, unsigned lane, size_t offset, size_t length, bool relaxed);
int lanes_deep_persist(struct lanes *lanes, unsigned lane, size_t offset, size_t length);
int lanes_read(struct lanes *lanes, unsigned lane, void *buffer, size_t offset, size_t length);
