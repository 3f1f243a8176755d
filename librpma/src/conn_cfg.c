/* SPDX-License-Identifier: BSD-3-Clause */
/* conn_cfg.c -- configuration of a connection. */
#include "conn_cfg.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cfg_size.h"
#include "conn.h"
#include "cq.h"
#include "err.h"

/* The counts of rdma_connect(3) have three bits, and the times that the IBA encodes have five. */
enum { RETRIES_MAX = 7, TIME_CODE_MAX = 31, MODERATION_MAX = UINT16_MAX };

static const uint32_t most[RPMA_CONN_OPTIONS] = {
	[RPMA_CONN_OPT_CQ_SIZE] = UINT32_MAX,
	[RPMA_CONN_OPT_RCQ_SIZE] = UINT32_MAX,
	[RPMA_CONN_OPT_SQ_SIZE] = UINT32_MAX,
	[RPMA_CONN_OPT_RQ_SIZE] = UINT32_MAX,
	[RPMA_CONN_OPT_INLINE_SIZE] = UINT32_MAX,
	[RPMA_CONN_OPT_SEND_SGES] = RPMA_SGES_MAX,
	[RPMA_CONN_OPT_BATCH_SIZE] = UINT16_MAX,
	[RPMA_CONN_OPT_SIGNAL_EVERY] = UINT32_MAX,
	[RPMA_CONN_OPT_COMP_VECTOR] = INT32_MAX,
	[RPMA_CONN_OPT_CQ_MODERATION_COUNT] = MODERATION_MAX,
	[RPMA_CONN_OPT_CQ_MODERATION_US] = MODERATION_MAX,
	[RPMA_CONN_OPT_RETRIES] = RETRIES_MAX,
	[RPMA_CONN_OPT_RNR_RETRIES] = RETRIES_MAX,
	[RPMA_CONN_OPT_RNR_TIMER] = TIME_CODE_MAX,
	[RPMA_CONN_OPT_ACK_TIMEOUT] = TIME_CODE_MAX,
	[RPMA_CONN_OPT_TRAFFIC_CLASS] = UINT8_MAX,
	[RPMA_CONN_OPT_FLUSH_METHOD] = RPMA_FLUSH_METHOD_NATIVE,
	[RPMA_CONN_OPT_CONNECT_MS] = INT32_MAX,
};

const uint32_t rpma_conn_option_defaults[RPMA_CONN_OPTIONS] = {
	[RPMA_CONN_OPT_CQ_SIZE] = 10,
	[RPMA_CONN_OPT_SQ_SIZE] = 10,
	[RPMA_CONN_OPT_RQ_SIZE] = 10,
	[RPMA_CONN_OPT_INLINE_SIZE] = RPMA_ATOMIC_WRITE_ALIGNMENT,
	[RPMA_CONN_OPT_SEND_SGES] = 1,
	[RPMA_CONN_OPT_BATCH_SIZE] = 32,
	[RPMA_CONN_OPT_SIGNAL_EVERY] = RPMA_CONN_OPT_UNSET,
	[RPMA_CONN_OPT_RETRIES] = RETRIES_MAX,
	[RPMA_CONN_OPT_RNR_RETRIES] = RETRIES_MAX, /* for ever */
	[RPMA_CONN_OPT_RNR_TIMER] = RPMA_CONN_OPT_UNSET,
	[RPMA_CONN_OPT_ACK_TIMEOUT] = RPMA_CONN_OPT_UNSET,
	[RPMA_CONN_OPT_TRAFFIC_CLASS] = RPMA_CONN_OPT_UNSET,
	[RPMA_CONN_OPT_FLUSH_METHOD] = RPMA_FLUSH_METHOD_AUTO,
};

static bool is_option(enum rpma_conn_option option)
{
	return (unsigned)option < RPMA_CONN_OPTIONS;
}

static bool may_be(enum rpma_conn_option option, uint32_t value)
{
	if (value == RPMA_CONN_OPT_UNSET &&
	    rpma_conn_option_defaults[option] == RPMA_CONN_OPT_UNSET)
		return true;
	return value <= most[option];
}

int rpma_conn_cfg_set_option(struct rpma_conn_cfg *cfg, enum rpma_conn_option option,
			     uint32_t value)
{
	if (cfg == NULL)
		return RPMA_FAIL_NULL(cfg);
	if (!is_option(option))
		return RPMA_FAIL(RPMA_E_INVAL, "option is %d, which is unknown", (int)option);
	if (!may_be(option, value))
		return RPMA_FAIL(RPMA_E_INVAL,
				 "value of option %d is %" PRIu32 ", expected at most %" PRIu32,
				 (int)option, value, most[option]);

	atomic_store(&cfg->options[option], value);
	if (option == RPMA_CONN_OPT_SQ_SIZE)
		cfg->sizes_sq = true;
	return 0;
}

int rpma_conn_get_option(const struct rpma_conn *conn, enum rpma_conn_option option,
			 uint32_t *value)
{
	if (conn == NULL || value == NULL)
		return RPMA_FAIL_NULL(conn, value);
	if (!is_option(option))
		return RPMA_FAIL(RPMA_E_INVAL, "option is %d, which is unknown", (int)option);

	*value = conn->options[option];
	return 0;
}

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
