/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * document.h -- the result as JSON: doc/schema/rpma-ddio-check-1.schema.json.
 */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include <time.h>

#include "options.h"

/* A new document; only the checks that are to be shown are in it. */
json_t *document_make(const struct options *options, const struct readiness *readiness,
		      const struct sysroot_refusals *refused, const struct timespec *started);
/* Its block "run". */
json_t *document_run(const struct options *options, const struct sysroot_refusals *refused,
		     const struct timespec *started, int exit_code);

#endif /* DOCUMENT_H */
