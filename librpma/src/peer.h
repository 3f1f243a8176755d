/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.h -- the protection domain that everything of one process hangs on. */
#pragma once

#include <librpma.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The abilities of an RDMA device, asked once per peer. */
struct rpma_device_caps {
	bool odp;	   /* on-demand paging for RC WRITE and RC READ */
	bool flush;	   /* native RDMA FLUSH, both placement types */
	bool atomic_write; /* native RDMA ATOMIC WRITE */
	bool atomics;	   /* compare-and-swap, fetch-and-add */
	bool iwarp;	   /* a READ destination needs remote write access (RFC 5040) */
};

/* One side's declaration about its platform. */
struct rpma_peer_cfg {
	atomic_bool direct_write_to_pmem;
};

struct rpma_peer {
	struct ibv_pd *pd; /* owned; pd->context is the caller's */
	struct rpma_device_caps caps;
};
