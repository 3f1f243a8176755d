/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slo.h -- limits that each point of a run has to keep: --slo.
 *
 * [TEST:]METRIC<LIMIT, with <, <=, > or >=. With a test it limits the points of that test only.
 * The limit is a number; one with k, M or G for counts and rates; a time such as 20us where the
 * metric leaves its _ns out. It is held against what the complete repeats of a point say together
 * (the point's "summary"). A figure is known only if every repeat has it and it covers what was
 * planned: an operation that was never begun is in no service latency, so that of the others
 * keeps no SLO.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/rpma-bench/protocol/params.h"

/* Is it an SLO? -EINVAL with the error message set. */
int slo_check(const char *text);

enum slo_verdict { SLO_KEPT, SLO_MISSED, SLO_UNKNOWN };

/*
 * One SLO that slo_check() took, of one point; *value is the figure of the summary, not a number
 * if that has none. What is at least a known figure misses an SLO that this one misses.
 */
enum slo_verdict slo_of_point(const char *text, const json_t *point, double *value);

/* The quantile an SLO limits, as 0.999; 0: none. */
double slo_quantile(const char *text);

/* Does it limit the points of this test? */
bool slo_applies(const char *text, enum bench_test test);

/* Do points of this test ever have its metric? */
bool slo_fits(const char *text, enum bench_test test);

/* Is its metric a time? Values of it are nanoseconds. */
bool slo_is_time(const char *text);

/* The names that may stand before the comparison, for --help and error messages. */
extern const char slo_metrics[];

/*
 * [{"slo", "missed", "points": [{"id", "value", "missed"}]}] of the points of a document; missed
 * is null where it is not known, and points that an SLO does not limit have "applies": false.
 * *verdict: missed if one is, else unknown if one is.
 */
json_t *slos_judge(const char *const *texts, size_t count, const json_t *points,
		   enum slo_verdict *verdict);
