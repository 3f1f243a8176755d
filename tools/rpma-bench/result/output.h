/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output.h -- what becomes of the result of a run: a table, files, JSON.
 */
#ifndef BENCH_RESULT_OUTPUT_H
#define BENCH_RESULT_OUTPUT_H

#include "record.h"

/* Can the files be written? Asked before a run; -EIO with the error message set. */
int publish_check(const struct options *options);

/* Gives the exit code; what failed has been printed. */
int publish(struct record *record, const json_t *document);

#endif /* BENCH_RESULT_OUTPUT_H */
