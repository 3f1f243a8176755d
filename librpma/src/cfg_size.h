/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cfg_size.h -- the public setter and getter of a queue size.
 *
 * RPMA_CFG_SIZE(srq_cfg, rq_size, rq_size) defines rpma_srq_cfg_set_rq_size() and
 * rpma_srq_cfg_get_rq_size() of the field rq_size, as librpma.h declares them. The fields are
 * atomic: a configuration may be shared by threads.
 */
#pragma once

#include "err.h"

#include <librpma.h>
#include <stdatomic.h>

/* NOLINTBEGIN(bugprone-macro-parentheses): field is a name, not a value */
#define RPMA_CFG_SIZE(cfg_name, name, field)                                                       \
	int rpma_##cfg_name##_set_##name(struct rpma_##cfg_name *cfg, uint32_t size)               \
	{                                                                                          \
		if (cfg == NULL)                                                                   \
			return RPMA_FAIL_NULL(cfg);                                                \
		atomic_store(&cfg->field, size);                                                   \
		return 0;                                                                          \
	}                                                                                          \
	int rpma_##cfg_name##_get_##name(const struct rpma_##cfg_name *cfg, uint32_t *size)        \
	{                                                                                          \
		if (cfg == NULL || size == NULL)                                                   \
			return RPMA_FAIL_NULL(cfg, size);                                          \
		*size = atomic_load(&cfg->field);                                                  \
		return 0;                                                                          \
	}
/* NOLINTEND(bugprone-macro-parentheses) */
