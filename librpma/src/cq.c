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

enum { ACK_BATCH = 64 };

int rpma_cq_arm(struct rpma_cq *cq, bool solicited_only)
{
	if (cq == NULL)
		return RPMA_FAIL_NULL(cq);

	atomic_store_explicit(&cq->solicited_only, solicited_only, memory_order_relaxed);
	return rpma_cq_arm_again(cq);
}

int rpma_cq_arm_again(struct rpma_cq *cq)
{
	int err = ibv_req_notify_cq(
		cq->ibv_cq, atomic_load_explicit(&cq->solicited_only, memory_order_relaxed));
	if (err == 0)
		return 0;

	RPMA_LOG_ERRNO(err, "ibv_req_notify_cq()");
	return RPMA_E_PROVIDER;
}

static int cq_create(struct rpma_cq *cq, struct ibv_context *ibv_ctx, uint32_t size, int vector)
{
	if (!cq->channel_shared) {
		cq->channel = ibv_create_comp_channel(ibv_ctx);
		if (cq->channel == NULL) {
			RPMA_LOG_ERRNO(errno, "ibv_create_comp_channel()");
			return RPMA_E_PROVIDER;
		}
	}

	int cqe = size > INT_MAX ? INT_MAX : (int)size;
	cq->ibv_cq = ibv_create_cq(ibv_ctx, cqe, NULL, cq->channel, vector);
	if (cq->ibv_cq == NULL) {
		RPMA_LOG_ERRNO(errno,
			       "device %s refused a CQ with cqe %d on completion vector %d of %d: "
			       "ibv_create_cq()",
			       ibv_ctx->device->name, cqe, vector, ibv_ctx->num_comp_vectors);
		return RPMA_E_PROVIDER;
	}
	cq->ibv_cq->cq_context = cq; /* for rpma_peer_next_async_event() */
	return rpma_cq_arm_again(cq);
}

int rpma_cq_open(struct ibv_context *ibv_ctx, uint32_t size, int vector,
		 struct ibv_comp_channel *shared_channel, struct rpma_cq **cq_ptr)
{
	struct rpma_cq *cq = malloc(sizeof(*cq));
	if (cq == NULL)
		return RPMA_FAIL_NOMEM(sizeof(*cq));
	*cq = (struct rpma_cq){
		.channel = shared_channel,
		.channel_shared = shared_channel != NULL,
	};

	int ret = cq_create(cq, ibv_ctx, size, vector);
	if (ret) {
		(void)rpma_cq_close(&cq);
		return ret;
	}
	*cq_ptr = cq;
	return 0;
}

int rpma_cq_moderate(struct rpma_cq *cq, uint32_t count, uint32_t us)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = {.cq_count = (uint16_t)count, .cq_period = (uint16_t)us},
	};

	if (count == 0 && us == 0)
		return 0;
	int err = ibv_modify_cq(cq->ibv_cq, &attr);
	if (err == 0)
		return 0;

	RPMA_LOG_ERRNO(err, "ibv_modify_cq(cq_count=%u, cq_period=%u)", count, us);
	return err == EOPNOTSUPP || err == ENOSYS ? RPMA_E_NOSUPP : RPMA_E_PROVIDER;
}

void rpma_cq_ack_event(struct rpma_cq *cq)
{
	if (atomic_fetch_add(&cq->unacked, 1) + 1 < ACK_BATCH)
		return;
	unsigned events = atomic_exchange(&cq->unacked, 0);
	if (events > 0)
		ibv_ack_cq_events(cq->ibv_cq, events);
}

int rpma_cq_close(struct rpma_cq **cq_ptr)
{
	struct rpma_cq *cq = *cq_ptr;
	int ret = 0;

	if (cq == NULL)
		return 0;

	if (cq->unacked > 0) /* or the next call would wait for it */
		ibv_ack_cq_events(cq->ibv_cq, cq->unacked);
	if (cq->ibv_cq != NULL)
		rpma_status_verb(&ret, "ibv_destroy_cq()", ibv_destroy_cq(cq->ibv_cq));
	if (cq->channel != NULL && !cq->channel_shared)
		rpma_status_verb(&ret, "ibv_destroy_comp_channel()",
				 ibv_destroy_comp_channel(cq->channel));
	free(cq->conns);
	free(cq);
	*cq_ptr = NULL;
	return ret;
}

int rpma_cq_get_fd(const struct rpma_cq *cq, int *fd)
{
	if (cq == NULL || fd == NULL)
		return RPMA_FAIL_NULL(cq, fd);

	*fd = cq->channel->fd;
	return 0;
}

int rpma_cq_wait(struct rpma_cq *cq)
{
	struct ibv_cq *ev_cq;
	void *ev_ctx;

	if (cq == NULL)
		return RPMA_FAIL_NULL(cq);
	if (cq->channel_shared)
		return RPMA_FAIL(RPMA_E_SHARED_CHANNEL, "the completion channel is shared");

	if (ibv_get_cq_event(cq->channel, &ev_cq, &ev_ctx))
		return RPMA_E_NO_COMPLETION;
	rpma_cq_ack_event(cq);
	return rpma_cq_arm_again(cq);
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

static __always_inline int poll_cq(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc,
				   int *num_entries_got)
{
	int polled = ibv_poll_cq(cq->ibv_cq, num_entries, wc);
	if (polled == 0) { /* most often, where a program polls */
		RPMA_LOG_DEBUG("no completion in the queue");
		return RPMA_E_NO_COMPLETION;
	}
	if ((unsigned)polled > (unsigned)num_entries)
		return poll_failed(polled, num_entries);

	if (num_entries_got != NULL)
		*num_entries_got = polled;
	return 0;
}

/* Without those that only free room in the send queue. */
static int get_counted(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got)
{
	int polled = 0, asked_for;

	do {
		int ret = poll_cq(cq, num_entries, wc, &polled);
		if (ret)
			return ret;
		asked_for = cq->conns != NULL ? rpma_cq_conns_fetched(cq, wc, polled)
					      : rpma_sendq_fetched(cq->sendq, wc, polled);
	} while (asked_for == 0);
	if (num_entries_got != NULL)
		*num_entries_got = asked_for;
	return 0;
}

/* Looked at again, to cost nothing before. */
static RPMA_COLD int get_wc_refused(const struct rpma_cq *cq, int num_entries,
				    const struct ibv_wc *wc)
{
	static const char function[] = "rpma_cq_get_wc";

	if (cq == NULL || wc == NULL)
		return RPMA_FAIL_NULL_OF(function, cq, wc);
	if (num_entries < 1)
		return RPMA_FAIL_OF(function, RPMA_E_INVAL, "num_entries is %d, expected 1 or more",
				    num_entries);
	return RPMA_FAIL_OF(function, RPMA_E_INVAL,
			    "num_entries_got is NULL, which needs num_entries of 1, not %d",
			    num_entries);
}

/* apart, so that the others save no registers for it */
static RPMA_APART int get_several(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc,
				  int *num_entries_got)
{
	if (num_entries < 1 || (num_entries > 1 && num_entries_got == NULL))
		return get_wc_refused(cq, num_entries, wc);
	if (cq->sendq != NULL)
		return get_counted(cq, num_entries, wc, num_entries_got);
	return poll_cq(cq, num_entries, wc, num_entries_got);
}

int rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got)
{
	if (cq == NULL || wc == NULL)
		return get_wc_refused(cq, num_entries, wc);
	if (num_entries != 1 || __builtin_expect(cq->sendq != NULL, 0))
		return get_several(cq, num_entries, wc, num_entries_got);
	return poll_cq(cq, 1, wc, num_entries_got);
}
