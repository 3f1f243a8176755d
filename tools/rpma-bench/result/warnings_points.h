/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings_points.h -- the warnings that follow from what was measured.
 */
#ifndef BENCH_RESULT_WARNINGS_POINTS_H
#define BENCH_RESULT_WARNINGS_POINTS_H

#include "tools/rpma-bench/client/run.h"

/* Takes the text; the same warning is there once. */
void warning_add(json_t *list, const char *code, const char *severity, const char *host,
		 json_t *text);

/* Of percentiles that are null because repeats were short; warnings_of_points() calls it. */
void warn_samples(const struct run *run, const json_t *points, json_t *list);

void warnings_of_points(const struct run *run, const json_t *points, json_t *list);

#endif /* BENCH_RESULT_WARNINGS_POINTS_H */
