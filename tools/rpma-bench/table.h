/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.h -- a result for people, on stderr.
 */
#ifndef TABLE_H
#define TABLE_H

#include <jansson.h>

/* A table of each test and operation the document has, and what it means. */
void table_print(const json_t *document);

#endif /* TABLE_H */
