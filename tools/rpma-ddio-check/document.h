/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * document.h -- the result as JSON, doc/schema/rpma-ddio-check-1.schema.json, and its forms for
 * people.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

#include "options.h"

/* --short: the verdict, what stands in its way, and what to do; the document has "advice". */
int summary_print(const json_t *document);

/* Prints a document of rpma-ddio-check/1 to standard output. */
int table_print(const json_t *document, bool verbose);
/* The verdict and its reason alone, on one line. */
int table_print_line(const json_t *document);

/* A new document; only the checks that are to be shown are in it. */
json_t *document_make(const struct options *options, const struct readiness *readiness,
		      const struct sysroot_refusals *refused, const struct timespec *started);
/* Its block "run". */
json_t *document_run(const struct options *options, const struct sysroot_refusals *refused,
		     const struct timespec *started, int exit_code);
