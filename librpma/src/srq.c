/* SPDX-License-Identifier: BSD-3-Clause */
/* srq.c -- shared receive queues. */
#include "cq.h"

#include <errno.h>
#include <librpma.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cfg_size.h"
#include "err.h"
#include "peer.h"
#include "status.h"
#include "work.h"

struct rpma_srq_cfg {
	_Atomic uint32_t rq_size;
	_Atomic uint32_t rcq_size; /* 0: no completion queue of its own */
};

extern const struct rpma_srq_cfg rpma_srq_cfg_default;

/* what librpma 1.0 to 1.3 do; their manuals say 100 */
enum { DEFAULT_RQ_SIZE = 20, DEFAULT_RCQ_SIZE = 20 };

const struct rpma_srq_cfg rpma_srq_cfg_default = {
	.rq_size = DEFAULT_RQ_SIZE,
	.rcq_size = DEFAULT_RCQ_SIZE,
};

int rpma_srq_cfg_new(struct rpma_srq_cfg **cfg_ptr)
{
	if (cfg_ptr == NULL)
		return RPMA_FAIL_NULL(cfg_ptr);

	struct rpma_srq_cfg *cfg = malloc(sizeof(*cfg));
	if (cfg == NULL)
		return RPMA_FAIL_NOMEM(sizeof(*cfg));
	atomic_init(&cfg->rq_size, DEFAULT_RQ_SIZE);
	atomic_init(&cfg->rcq_size, DEFAULT_RCQ_SIZE);
	*cfg_ptr = cfg;
	return 0;
}

int rpma_srq_cfg_delete(struct rpma_srq_cfg **cfg_ptr)
{
	if (cfg_ptr == NULL)
		return RPMA_FAIL_NULL(cfg_ptr);

	free(*cfg_ptr);
	*cfg_ptr = NULL;
	return 0;
}

RPMA_CFG_SIZE(srq_cfg, rq_size, rq_size)
RPMA_CFG_SIZE(srq_cfg, rcq_size, rcq_size)

static int srq_create(struct rpma_srq *srq, struct ibv_pd *pd, const struct rpma_srq_cfg *cfg)
{
	struct ibv_srq_init_attr attr = {
		.attr = {.max_wr = cfg->rq_size, .max_sge = 1},
	};

	srq->ibv_srq = ibv_create_srq(pd, &attr);
	if (srq->ibv_srq == NULL) {
		RPMA_LOG_ERRNO(errno, "ibv_create_srq(max_wr=%u)", attr.attr.max_wr);
		return RPMA_E_PROVIDER;
	}
	srq->size = attr.attr.max_wr;
	if (cfg->rcq_size == 0)
		return 0;
	return rpma_cq_open(pd->context, cfg->rcq_size, 0, NULL, &srq->rcq);
}

int rpma_srq_new(struct rpma_peer *peer, struct rpma_srq_cfg *cfg, struct rpma_srq **srq_ptr)
{
	if (peer == NULL || srq_ptr == NULL)
		return RPMA_FAIL_NULL(peer, srq_ptr);

	struct rpma_srq *srq = calloc(1, sizeof(*srq));
	if (srq == NULL)
		return RPMA_FAIL_NOMEM(sizeof(*srq));

	int ret = srq_create(srq, peer->pd, cfg ? cfg : &rpma_srq_cfg_default);
	if (ret) {
		(void)rpma_srq_delete(&srq);
		return ret;
	}
	*srq_ptr = srq;
	return 0;
}

int rpma_srq_delete(struct rpma_srq **srq_ptr)
{
	int ret = 0;

	if (srq_ptr == NULL)
		return RPMA_FAIL_NULL(srq_ptr);
	struct rpma_srq *srq = *srq_ptr;
	if (srq == NULL)
		return 0;

	rpma_status_keep(&ret, rpma_cq_close(&srq->rcq));
	if (srq->ibv_srq != NULL)
		rpma_status_verb(&ret, "ibv_destroy_srq()", ibv_destroy_srq(srq->ibv_srq));
	free(srq);
	*srq_ptr = NULL;
	return ret;
}

int rpma_srq_get_rcq(const struct rpma_srq *srq, struct rpma_cq **rcq_ptr)
{
	if (srq == NULL || rcq_ptr == NULL)
		return RPMA_FAIL_NULL(srq, rcq_ptr);

	*rcq_ptr = srq->rcq;
	return 0;
}

int rpma_srq_recv(struct rpma_srq *srq, struct rpma_mr_local *dst, size_t offset, size_t len,
		  const void *op_context)
{
	struct ibv_recv_wr *bad_wr;
	struct rpma_recv_work work;

	if (srq == NULL)
		return RPMA_FAIL_NULL(srq);
	if (!rpma_recv_work_init(&work, dst, offset, len, op_context))
		return RPMA_FAIL_RANGE(offset, len);

	int err = ibv_post_srq_recv(srq->ibv_srq, &work.wr, &bad_wr);
	if (err)
		return rpma_post_recv_failed("ibv_post_srq_recv", &work.wr, err);
	return 0;
}
