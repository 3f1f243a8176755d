/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_cfg.c -- configuration of a connection.
 */
#include "conn_cfg.h"
#include "cfg_size.h"
#include "cq.h"
#include "err.h"

#include <stdlib.h>

void rpma_conn_cfg_init(struct rpma_conn_cfg *cfg)
{
	atomic_init(&cfg->timeout_ms, RPMA_DEFAULT_TIMEOUT_MS);
	atomic_init(&cfg->shared_channel, false);
	atomic_init(&cfg->srq, NULL);
	atomic_init(&cfg->cq, NULL);
	atomic_init(&cfg->sizes_sq, false);
	for (int i = 0; i < RPMA_CONN_OPTIONS; i++)
		atomic_init(&cfg->options[i], rpma_conn_option_defaults[i]);
}

int rpma_conn_cfg_new(struct rpma_conn_cfg **cfg_ptr)
{
	if (cfg_ptr == NULL)
		return RPMA_FAIL_NULL(cfg_ptr);

	struct rpma_conn_cfg *cfg = malloc(sizeof(*cfg));
	if (cfg == NULL)
		return RPMA_FAIL_NOMEM(sizeof(*cfg));
	rpma_conn_cfg_init(cfg);
	*cfg_ptr = cfg;
	return 0;
}

int rpma_conn_cfg_delete(struct rpma_conn_cfg **cfg_ptr)
{
	if (cfg_ptr == NULL)
		return RPMA_FAIL_NULL(cfg_ptr);

	free(*cfg_ptr);
	*cfg_ptr = NULL;
	return 0;
}

int rpma_conn_cfg_set_timeout(struct rpma_conn_cfg *cfg, int timeout_ms)
{
	if (cfg == NULL)
		return RPMA_FAIL_NULL(cfg);
	if (timeout_ms < 0)
		return RPMA_FAIL(RPMA_E_INVAL, "timeout_ms is %d, expected 0 or more", timeout_ms);

	cfg->timeout_ms = timeout_ms;
	return 0;
}

int rpma_conn_cfg_get_timeout(const struct rpma_conn_cfg *cfg, int *timeout_ms)
{
	if (cfg == NULL || timeout_ms == NULL)
		return RPMA_FAIL_NULL(cfg, timeout_ms);

	*timeout_ms = cfg->timeout_ms;
	return 0;
}

RPMA_CFG_SIZE(conn_cfg, cq_size, options[RPMA_CONN_OPT_CQ_SIZE])
RPMA_CFG_SIZE(conn_cfg, rcq_size, options[RPMA_CONN_OPT_RCQ_SIZE])
RPMA_CFG_SIZE(conn_cfg, sq_size, options[RPMA_CONN_OPT_SQ_SIZE])
RPMA_CFG_SIZE(conn_cfg, rq_size, options[RPMA_CONN_OPT_RQ_SIZE])

int rpma_conn_cfg_set_compl_channel(struct rpma_conn_cfg *cfg, bool shared)
{
	if (cfg == NULL)
		return RPMA_FAIL_NULL(cfg);

	cfg->shared_channel = shared;
	return 0;
}

int rpma_conn_cfg_get_compl_channel(const struct rpma_conn_cfg *cfg, bool *shared)
{
	if (cfg == NULL || shared == NULL)
		return RPMA_FAIL_NULL(cfg, shared);

	*shared = cfg->shared_channel;
	return 0;
}

int rpma_conn_cfg_set_srq(struct rpma_conn_cfg *cfg, struct rpma_srq *srq)
{
	if (cfg == NULL || srq == NULL)
		return RPMA_FAIL_NULL(cfg, srq);

	cfg->srq = srq;
	return 0;
}

int rpma_conn_cfg_get_srq(const struct rpma_conn_cfg *cfg, struct rpma_srq **srq_ptr)
{
	if (cfg == NULL || srq_ptr == NULL)
		return RPMA_FAIL_NULL(cfg, srq_ptr);

	*srq_ptr = cfg->srq;
	return 0;
}

int rpma_conn_cfg_set_cq(struct rpma_conn_cfg *cfg, struct rpma_cq *cq)
{
	if (cfg == NULL)
		return RPMA_FAIL_NULL(cfg);
	if (cq != NULL && cq->conns == NULL)
		return RPMA_FAIL(RPMA_E_INVAL, "the queue is of a connection or an SRQ");

	cfg->cq = cq;
	return 0;
}
