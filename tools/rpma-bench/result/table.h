/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.h -- a result for people.
 */
#ifndef BENCH_RESULT_TABLE_H
#define BENCH_RESULT_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* A table of each test and operation the document has, and what it means. */
void table_print(FILE *to, const json_t *document);

/* The SLOs, and which points missed them. */
void table_print_slos(FILE *to, const json_t *document, bool missed_only);

#endif /* BENCH_RESULT_TABLE_H */
