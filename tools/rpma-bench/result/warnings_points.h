/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings_points.h -- the warnings that follow from what was measured.
 */
#ifndef BENCH_RESULT_WARNINGS_POINTS_H
#define BENCH_RESULT_WARNINGS_POINTS_H

#include "record.h"

/* All of them. */
void warnings_of_points(const struct record *record, const json_t *points, json_t *list);

/* A part of them: is what the point flushed persistent (warnings_persistence.c)? */
void warn_persistence(const struct record *record, const json_t *point, json_t *list);
/* Another: percentiles that are null because repeats were short (warnings_samples.c). */
void warn_samples(const struct record *record, const json_t *points, json_t *list);

#endif /* BENCH_RESULT_WARNINGS_POINTS_H */
