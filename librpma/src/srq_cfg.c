/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srq_cfg.c -- configuration of a shared receive queue.
 */
#include "srq_cfg.h"
#include "cfg_size.h"
#include "err.h"

#include <stdlib.h>

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
