/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * point.h -- what the repeats of a point say together.
 *
 * Works on the JSON of the repeats, wherever they come from: this run, a
 * journal, other ranks.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "tools/rpma-bench/protocol/params.h"

/*
 * The "summary" of the schema. Repeats that were stopped early count only
 * where there is no complete one. NULL: no memory.
 */
json_t *point_summary(const json_t *repeats);

/* The value of a key of all repeats, as that of the warm-up, or what was used. NULL: no memory. */
json_t *point_joined(const json_t *repeats, const char *key);

/*
 * The first repeat after which an interval may end the repeats. Who looks until
 * it is narrow stops where the repeats seem to agree more than they do: looking
 * from the third on, the interval holds the truth in 90 %, from the eighth on in
 * 93 to 95 % (tests/unit/bench/test_coverage.c).
 */
#define POINT_CI_REPEATS_MIN 8

/*
 * Does the 95 % interval of the mean end within fraction above it, after enough
 * complete repeats? Of the mean latency, for rate that of the response, or of
 * ops_per_s for bw and mix.
 */
bool point_is_narrow(const json_t *repeats, enum bench_test test, double fraction);
