/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * evidence.h -- what may have disturbed a repeat.
 */
#ifndef BENCH_RESULT_EVIDENCE_H
#define BENCH_RESULT_EVIDENCE_H

#include <jansson.h>
#include <stddef.h>

/*
 * ["client.invol_switches=40", ...]: what the repeat at the index had more
 * than twice as much of as the median of all repeats.
 */
json_t *evidence_hints(const json_t *const *repeats, size_t count, size_t index);

#endif /* BENCH_RESULT_EVIDENCE_H */
