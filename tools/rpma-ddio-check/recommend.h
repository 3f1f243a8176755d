/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recommend.h -- the advice for one inspection, as JSON.
 */
#ifndef RECOMMEND_H
#define RECOMMEND_H

#include "options.h"

/* "advice" of the schema; NULL, with a message, where it cannot be made. */
json_t *recommend(const struct options *options, const struct sysroot *root,
		  const struct readiness *readiness);

#endif /* RECOMMEND_H */
