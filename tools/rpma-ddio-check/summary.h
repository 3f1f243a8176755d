/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * summary.h -- --short: the verdict, what stands in its way, and what to do.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <jansson.h>

/* The document has "advice". */
int summary_print(const json_t *document);

#endif /* SUMMARY_H */
