/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cfg_size.h -- the public setter and getter of a queue size.
 *
 * RPMA_CFG_SIZE(conn_cfg, cq_size) defines rpma_conn_cfg_set_cq_size()
 * and rpma_conn_cfg_get_cq_size() as librpma.h declares them. The fields are
 * atomic: a configuration may be shared by threads.
 */
#ifndef RPMA_CFG_SIZE_H
#define RPMA_CFG_SIZE_H

#include <librpma.h>
#include <stdatomic.h>

/* NOLINTBEGIN(bugprone-macro-parentheses): field is a name, not a value */
#define RPMA_CFG_SIZE(cfg_name, field)                                                             \
	int rpma_##cfg_name##_set_##field(struct rpma_##cfg_name *cfg, uint32_t field)             \
	{                                                                                          \
		if (cfg == NULL)                                                                   \
			return RPMA_E_INVAL;                                                       \
		atomic_store(&cfg->field, field);                                                  \
		return 0;                                                                          \
	}                                                                                          \
	int rpma_##cfg_name##_get_##field(const struct rpma_##cfg_name *cfg, uint32_t *field)      \
	{                                                                                          \
		if (cfg == NULL || field == NULL)                                                  \
			return RPMA_E_INVAL;                                                       \
		*field = atomic_load(&cfg->field);                                                 \
		return 0;                                                                          \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

#endif /* RPMA_CFG_SIZE_H */
