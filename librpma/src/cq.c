/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq.c -- completion queues: made for connections and shared receive queues,
 * waited for and polled by the user.
 */
#include "cq.h"
#include "log.h"
#include "status.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

int rpma_cq_arm(struct rpma_cq *cq)
{
	int err = ibv_req_notify_cq(cq->ibv_cq, 0 /* every completion */);
	if (err == 0)
		return 0;

	RPMA_LOG_ERRNO(err, "ibv_req_notify_cq()");
	return RPMA_E_PROVIDER;
}

static int cq_create(struct rpma_cq *cq, struct ibv_context *ibv_ctx, uint32_t size)
{
	if (!cq->channel_shared) {
		cq->channel = ibv_create_comp_channel(ibv_ctx);
		if (cq->channel == NULL) {
			RPMA_LOG_ERRNO(errno, "ibv_create_comp_channel()");
			return RPMA_E_PROVIDER;
		}
	}

	int cqe = size > INT_MAX ? INT_MAX : (int)size;
	cq->ibv_cq = ibv_create_cq(ibv_ctx, cqe, NULL, cq->channel, 0);
	if (cq->ibv_cq == NULL) {
		RPMA_LOG_ERRNO(errno, "device %s refused a CQ with cqe %d: ibv_create_cq()",
			       ibv_ctx->device->name, cqe);
		return RPMA_E_PROVIDER;
	}
	return rpma_cq_arm(cq);
}

int rpma_cq_new(struct ibv_context *ibv_ctx, uint32_t size, struct ibv_comp_channel *shared_channel,
		struct rpma_cq **cq_ptr)
{
	struct rpma_cq *cq = malloc(sizeof(*cq));
	if (cq == NULL)
		return RPMA_E_NOMEM;
	*cq = (struct rpma_cq){
		.channel = shared_channel,
		.channel_shared = shared_channel != NULL,
	};

	int ret = cq_create(cq, ibv_ctx, size);
	if (ret) {
		(void)rpma_cq_delete(&cq);
		return ret;
	}
	*cq_ptr = cq;
	return 0;
}

int rpma_cq_delete(struct rpma_cq **cq_ptr)
{
	struct rpma_cq *cq = *cq_ptr;
	int ret = 0;

	if (cq == NULL)
		return 0;

	if (cq->ibv_cq != NULL)
		rpma_status_verb(&ret, "ibv_destroy_cq()", ibv_destroy_cq(cq->ibv_cq));
	if (cq->channel != NULL && !cq->channel_shared)
		rpma_status_verb(&ret, "ibv_destroy_comp_channel()",
				 ibv_destroy_comp_channel(cq->channel));
	free(cq);
	*cq_ptr = NULL;
	return ret;
}

int rpma_cq_get_fd(const struct rpma_cq *cq, int *fd)
{
	if (cq == NULL || fd == NULL)
		return RPMA_E_INVAL;

	*fd = cq->channel->fd;
	return 0;
}

int rpma_cq_wait(struct rpma_cq *cq)
{
	struct ibv_cq *ev_cq;
	void *ev_ctx;

	if (cq == NULL)
		return RPMA_E_INVAL;
	if (cq->channel_shared)
		return RPMA_E_SHARED_CHANNEL;

	if (ibv_get_cq_event(cq->channel, &ev_cq, &ev_ctx))
		return RPMA_E_NO_COMPLETION;
	ibv_ack_cq_events(ev_cq, 1);
	return rpma_cq_arm(cq);
}

static int poll_failed(int polled, int num_entries)
{
	if (polled < 0) {
		RPMA_LOG_ERROR("ibv_poll_cq() returned %d", polled);
		return RPMA_E_PROVIDER;
	}
	RPMA_LOG_ERROR("ibv_poll_cq() gave %d completions, more than the %d asked for", polled,
		       num_entries);
	return RPMA_E_UNKNOWN;
}

int rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got)
{
	if (cq == NULL || wc == NULL)
		return RPMA_E_INVAL;
	if (num_entries != 1 && (num_entries < 1 || num_entries_got == NULL))
		return RPMA_E_INVAL;

	int polled = ibv_poll_cq(cq->ibv_cq, num_entries, wc);
	if (polled == 0) { /* most often, where a program polls */
		RPMA_LOG_DEBUG("no completion in the queue");
		return RPMA_E_NO_COMPLETION;
	}
	if (polled < 0 || polled > num_entries)
		return poll_failed(polled, num_entries);

	if (num_entries_got != NULL)
		*num_entries_got = polled;
	return 0;
}
