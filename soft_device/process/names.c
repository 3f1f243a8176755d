/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c -- see names.h; the names are those of rdma-core's verbs.h. */
#include "names.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "names/wc_status.h"

struct bit {
	uint32_t value;
	const char *name;
};

#define BIT(name)                                                                                  \
	{                                                                                          \
		(uint32_t)(name), #name                                                            \
	}

static const struct bit qp_bits[] = {
	BIT(IBV_QP_STATE),
	BIT(IBV_QP_CUR_STATE),
	BIT(IBV_QP_EN_SQD_ASYNC_NOTIFY),
	BIT(IBV_QP_ACCESS_FLAGS),
	BIT(IBV_QP_PKEY_INDEX),
	BIT(IBV_QP_PORT),
	BIT(IBV_QP_QKEY),
	BIT(IBV_QP_AV),
	BIT(IBV_QP_PATH_MTU),
	BIT(IBV_QP_TIMEOUT),
	BIT(IBV_QP_RETRY_CNT),
	BIT(IBV_QP_RNR_RETRY),
	BIT(IBV_QP_RQ_PSN),
	BIT(IBV_QP_MAX_QP_RD_ATOMIC),
	BIT(IBV_QP_ALT_PATH),
	BIT(IBV_QP_MIN_RNR_TIMER),
	BIT(IBV_QP_SQ_PSN),
	BIT(IBV_QP_MAX_DEST_RD_ATOMIC),
	BIT(IBV_QP_PATH_MIG_STATE),
	BIT(IBV_QP_CAP),
	BIT(IBV_QP_DEST_QPN),
	BIT(IBV_QP_RATE_LIMIT),
	{0, NULL},
};

static const struct bit access_bits[] = {
	BIT(IBV_ACCESS_LOCAL_WRITE),
	BIT(IBV_ACCESS_REMOTE_WRITE),
	BIT(IBV_ACCESS_REMOTE_READ),
	BIT(IBV_ACCESS_REMOTE_ATOMIC),
	BIT(IBV_ACCESS_MW_BIND),
	BIT(IBV_ACCESS_ZERO_BASED),
	BIT(IBV_ACCESS_ON_DEMAND),
	BIT(IBV_ACCESS_HUGETLB),
	{1u << 8, "IBV_ACCESS_FLUSH_GLOBAL"}, /* verbs.h has the two since 45 */
	{1u << 9, "IBV_ACCESS_FLUSH_PERSISTENT"},
	BIT(IBV_ACCESS_RELAXED_ORDERING),
	{0, NULL},
};

static const char *names_of(const struct bit *bits, uint32_t value, char text[NAMES_BYTES])
{
	size_t used = 0;

	text[0] = '\0';
	for (; bits->name != NULL && used < NAMES_BYTES; bits++) {
		if ((value & bits->value) == 0)
			continue;
		used += (size_t)snprintf(text + used, NAMES_BYTES - used, "%s%s",
					 used == 0 ? "" : ", ", bits->name);
		value &= ~bits->value;
	}
	if (value != 0 && used < NAMES_BYTES)
		snprintf(text + used, NAMES_BYTES - used, "%s%#x", used == 0 ? "" : ", ", value);
	return text[0] != '\0' ? text : "none";
}

const char *names_of_qp_mask(uint32_t mask, char text[NAMES_BYTES])
{
	return names_of(qp_bits, mask, text);
}

const char *names_of_access(uint32_t access, char text[NAMES_BYTES])
{
	return names_of(access_bits, access, text);
}

const char *name_of_state(enum ibv_qp_state state)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	return (unsigned)state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

const char *name_of_status(enum ibv_wc_status status)
{
	const char *name = wc_status_name(status);

	return name != NULL ? name : "unknown";
}

enum ibv_wc_status status_of_name(const char *name)
{
	const char *known;

	for (unsigned status = IBV_WC_SUCCESS + 1; (known = wc_status_name(status)) != NULL;
	     status++)
		if (strcmp(known, name) == 0)
			return (enum ibv_wc_status)status;
	return IBV_WC_SUCCESS;
}
