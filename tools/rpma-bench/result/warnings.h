/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings.h -- what a reader of the result must know before he believes it.
 */
#ifndef BENCH_RESULT_WARNINGS_H
#define BENCH_RESULT_WARNINGS_H

#include "record.h"

/* An array of {code, severity, host, text} about the points; the codes are the schema's. */
json_t *warnings_make(const struct record *record, const json_t *points);

#endif /* BENCH_RESULT_WARNINGS_H */
