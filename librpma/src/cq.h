/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq.h -- a completion queue and the channel its events come through.
 */
#ifndef RPMA_CQ_H
#define RPMA_CQ_H

#include <librpma.h>

struct rpma_cq {
	struct ibv_cq *ibv_cq;
	struct ibv_comp_channel *channel;
	bool channel_shared; /* and then the connection's, not ours */
};

/*
 * Create a completion queue, armed for every completion, on shared_channel or,
 * if that is NULL, on a channel of its own. RPMA_E_NOMEM or RPMA_E_PROVIDER.
 */
int rpma_cq_new(struct ibv_context *ibv_ctx, uint32_t size, struct ibv_comp_channel *shared_channel,
		struct rpma_cq **cq_ptr);

/* Takes a pointer to NULL. The queue is gone even when RPMA_E_PROVIDER is returned. */
int rpma_cq_delete(struct rpma_cq **cq_ptr);

/* Ask for an event at the next completion. */
int rpma_cq_arm(struct rpma_cq *cq);

#endif /* RPMA_CQ_H */
