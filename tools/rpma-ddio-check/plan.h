/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h -- the advice for one inspection, as JSON.
 */
#ifndef PLAN_H
#define PLAN_H

#include "options.h"

/* "advice" of the schema; NULL, with a message, where it cannot be made. */
json_t *plan_make(const struct options *options, const struct sysroot *root,
		  const struct readiness *readiness);

#endif /* PLAN_H */
