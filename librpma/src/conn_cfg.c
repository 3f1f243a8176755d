/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_cfg.c -- configuration of a connection.
 */
#include "conn_cfg.h"
#include "cfg_size.h"

#include <stdlib.h>

enum { DEFAULT_QUEUE_SIZE = 10 };

const struct rpma_conn_cfg rpma_conn_cfg_default = {
	.timeout_ms = RPMA_DEFAULT_TIMEOUT_MS,
	.cq_size = DEFAULT_QUEUE_SIZE,
	.sq_size = DEFAULT_QUEUE_SIZE,
	.rq_size = DEFAULT_QUEUE_SIZE,
};

int rpma_conn_cfg_new(struct rpma_conn_cfg **cfg_ptr)
{
	if (cfg_ptr == NULL)
		return RPMA_E_INVAL;

	struct rpma_conn_cfg *cfg = malloc(sizeof(*cfg));
	if (cfg == NULL)
		return RPMA_E_NOMEM;
	*cfg = rpma_conn_cfg_default;
	*cfg_ptr = cfg;
	return 0;
}

int rpma_conn_cfg_delete(struct rpma_conn_cfg **cfg_ptr)
{
	if (cfg_ptr == NULL)
		return RPMA_E_INVAL;

	free(*cfg_ptr);
	*cfg_ptr = NULL;
	return 0;
}

int rpma_conn_cfg_set_timeout(struct rpma_conn_cfg *cfg, int timeout_ms)
{
	if (cfg == NULL || timeout_ms < 0)
		return RPMA_E_INVAL;

	cfg->timeout_ms = timeout_ms;
	return 0;
}

int rpma_conn_cfg_get_timeout(const struct rpma_conn_cfg *cfg, int *timeout_ms)
{
	if (cfg == NULL || timeout_ms == NULL)
		return RPMA_E_INVAL;

	*timeout_ms = cfg->timeout_ms;
	return 0;
}

RPMA_CFG_SIZE(conn_cfg, cq_size)
RPMA_CFG_SIZE(conn_cfg, rcq_size)
RPMA_CFG_SIZE(conn_cfg, sq_size)
RPMA_CFG_SIZE(conn_cfg, rq_size)

int rpma_conn_cfg_set_compl_channel(struct rpma_conn_cfg *cfg, bool shared)
{
	if (cfg == NULL)
		return RPMA_E_INVAL;

	cfg->shared_channel = shared;
	return 0;
}

int rpma_conn_cfg_get_compl_channel(const struct rpma_conn_cfg *cfg, bool *shared)
{
	if (cfg == NULL || shared == NULL)
		return RPMA_E_INVAL;

	*shared = cfg->shared_channel;
	return 0;
}

int rpma_conn_cfg_set_srq(struct rpma_conn_cfg *cfg, struct rpma_srq *srq)
{
	if (cfg == NULL || srq == NULL)
		return RPMA_E_INVAL;

	cfg->srq = srq;
	return 0;
}

int rpma_conn_cfg_get_srq(const struct rpma_conn_cfg *cfg, struct rpma_srq **srq_ptr)
{
	if (cfg == NULL || srq_ptr == NULL)
		return RPMA_E_INVAL;

	*srq_ptr = cfg->srq;
	return 0;
}
