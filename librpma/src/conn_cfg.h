/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_cfg.h -- what a configuration asks of a connection, read once when it is made.
 */
#ifndef RPMA_CONN_CFG_H
#define RPMA_CONN_CFG_H

#include <librpma.h>
#include <stdatomic.h>

struct rpma_conn_cfg {
	_Atomic int timeout_ms; /* to resolve the address, and again for the route */
	_Atomic uint32_t cq_size;
	_Atomic uint32_t rcq_size; /* 0: receives complete on the main queue */
	_Atomic uint32_t sq_size;
	_Atomic uint32_t rq_size;
	atomic_bool shared_channel;	/* one channel for both queues */
	_Atomic(struct rpma_srq *) srq; /* borrowed */
};

extern const struct rpma_conn_cfg rpma_conn_cfg_default;

#endif /* RPMA_CONN_CFG_H */
