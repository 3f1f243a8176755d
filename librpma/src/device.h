/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.h -- what an RDMA device can do, asked once per peer.
 */
#ifndef RPMA_DEVICE_H
#define RPMA_DEVICE_H

#include <librpma.h>

struct rpma_device_caps {
	bool odp;	   /* on-demand paging for RC WRITE and RC READ */
	bool flush;	   /* native RDMA FLUSH, both placement types */
	bool atomic_write; /* native RDMA ATOMIC WRITE */
	bool atomics;	   /* compare-and-swap, fetch-and-add */
	bool iwarp;	   /* a READ destination needs remote write access (RFC 5040) */
};

/* Fills *caps. RPMA_E_PROVIDER when the device cannot be queried. */
int rpma_device_query(struct ibv_context *ibv_ctx, struct rpma_device_caps *caps);

#endif /* RPMA_DEVICE_H */
