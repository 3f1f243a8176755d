/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * outlier_hints.h -- what may have disturbed a repeat.
 */
#ifndef BENCH_RESULT_OUTLIER_HINTS_H
#define BENCH_RESULT_OUTLIER_HINTS_H

#include <jansson.h>
#include <stddef.h>

/*
 * ["client.invol_switches=40", ...]: what the repeat at the index had more
 * than twice as much of as the median of all repeats.
 */
json_t *outlier_hints(const json_t *const *repeats, size_t count, size_t index);

#endif /* BENCH_RESULT_OUTLIER_HINTS_H */
