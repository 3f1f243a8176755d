/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output.h -- what becomes of the result of a run: a table, rows for spreadsheets, what the
 * searches of --find-rate came to, files, JSON.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "knee.h"
#include "record.h"

/* "searches" of a run. */
json_t *searches_json(const struct knee *searches, size_t count);

/*
 * EXIT_GOOD, EXIT_NEGATIVE where even the lowest rate missed, else EXIT_NO_DEVICE where a figure is
 * not known, trials contradict each other, or a search did not end.
 */
int searches_exit_code(const struct knee *searches, size_t count);

/* A line each, of the "searches" of a document. */
void searches_print(FILE *to, const json_t *searches);

/* A table of each test and operation the document has, and what it means. */
void table_print(FILE *to, const json_t *document);

/* The SLOs, and which points missed them. */
void table_print_slos(FILE *to, const json_t *document, bool missed_only);

/*
 * Replaces the file in one step, like result_write(); NULL: standard output. The columns are
 * always the same, each with its unit in its name; what is null is empty.
 */
int csv_write(const char *path, const json_t *document);

/*
 * The document without what a reader knows anyway: blanks, what is null in a
 * repeat or summary, and what a repeat only copies from its point. Ends with a
 * newline; to be freed. NULL: no memory.
 */
char *compact_text(const json_t *document, size_t *len);

/* Can the files be written? Asked before a run; -EIO with the error message set. */
int publish_check(const struct options *options);

/* Gives the exit code; what failed has been printed. */
int publish(struct record *record, const json_t *document);
