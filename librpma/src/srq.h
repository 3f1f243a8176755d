/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srq.h -- a receive queue that several connections feed from.
 */
#ifndef RPMA_SRQ_H
#define RPMA_SRQ_H

#include "cq.h"

struct rpma_srq {
	struct ibv_srq *ibv_srq;
	uint32_t size;	     /* receives that it holds */
	struct rpma_cq *rcq; /* owned; NULL: its messages complete on the connections' queues */
};

#endif /* RPMA_SRQ_H */
