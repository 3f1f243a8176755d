/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cfg_field.h -- the public setter and getter of one configuration field.
 *
 * RPMA_CFG_FIELD(conn_cfg, cq_size, uint32_t) defines rpma_conn_cfg_set_cq_size()
 * and rpma_conn_cfg_get_cq_size() as librpma.h declares them. The fields are
 * atomic: a configuration may be shared by threads.
 */
#ifndef RPMA_CFG_FIELD_H
#define RPMA_CFG_FIELD_H

#include <librpma.h>
#include <stdatomic.h>

#define RPMA_CFG_FIELD(cfg_name, field, type)                                                      \
	int rpma_##cfg_name##_set_##field(struct rpma_##cfg_name *cfg, type field)                 \
	{                                                                                          \
		if (cfg == NULL)                                                                   \
			return RPMA_E_INVAL;                                                       \
		atomic_store(&cfg->field, field);                                                  \
		return 0;                                                                          \
	}                                                                                          \
	int rpma_##cfg_name##_get_##field(const struct rpma_##cfg_name *cfg, type *field)          \
	{                                                                                          \
		if (cfg == NULL || field == NULL)                                                  \
			return RPMA_E_INVAL;                                                       \
		*field = atomic_load(&cfg->field);                                                 \
		return 0;                                                                          \
	}

#endif /* RPMA_CFG_FIELD_H */
