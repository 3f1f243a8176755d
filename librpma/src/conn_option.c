/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_option.c -- what an option may be, what it is until it is set, and what a connection got.
 */
#include "conn_option.h"
#include "conn.h"
#include "err.h"

#include <inttypes.h>

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
