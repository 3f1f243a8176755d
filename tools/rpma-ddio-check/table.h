/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.h -- the result for people.
 */
#ifndef TABLE_H
#define TABLE_H

#include <jansson.h>
#include <stdbool.h>

/* Prints a document of rpma-ddio-check/1 to standard output. */
int table_print(const json_t *document, bool verbose);
/* The verdict and its reason alone, on one line. */
int table_print_line(const json_t *document);

#endif /* TABLE_H */
