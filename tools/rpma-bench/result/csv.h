/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * csv.h -- a result for spreadsheets: one row per repeat of each point.
 */
#ifndef BENCH_RESULT_CSV_H
#define BENCH_RESULT_CSV_H

#include <jansson.h>

/*
 * Replaces the file in one step, like result_write(). The columns are always
 * the same, each with its unit in its name; what is null is empty.
 */
int csv_write(const char *path, const json_t *document);

/* Writes to standard output. */
int csv_print(const json_t *document);

#endif /* BENCH_RESULT_CSV_H */
