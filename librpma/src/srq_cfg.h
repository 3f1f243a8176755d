/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srq_cfg.h -- what a configuration asks of a shared receive queue.
 */
#ifndef RPMA_SRQ_CFG_H
#define RPMA_SRQ_CFG_H

#include <librpma.h>
#include <stdatomic.h>

struct rpma_srq_cfg {
	_Atomic uint32_t rq_size;
	_Atomic uint32_t rcq_size; /* 0: no completion queue of its own */
};

extern const struct rpma_srq_cfg rpma_srq_cfg_default;

#endif /* RPMA_SRQ_CFG_H */
