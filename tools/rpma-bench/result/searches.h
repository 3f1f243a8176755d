/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * searches.h -- what the searches of --find-rate came to: for the document,
 * for people, and for the exit status.
 */
#ifndef BENCH_RESULT_SEARCHES_H
#define BENCH_RESULT_SEARCHES_H

#include <jansson.h>
#include <stdio.h>

#include "knee.h"

/* "searches" of a run. */
json_t *searches_json(const struct knee *searches, size_t count);

/*
 * EXIT_GOOD, EXIT_NEGATIVE where even the lowest rate missed, else EXIT_NO_DEVICE where a figure is
 * not known, trials contradict each other, or a search did not end.
 */
int searches_exit_code(const struct knee *searches, size_t count);

/* A line each, of the "searches" of a document. */
void searches_print(FILE *to, const json_t *searches);

#endif /* BENCH_RESULT_SEARCHES_H */
