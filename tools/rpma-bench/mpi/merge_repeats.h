/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * merge_repeats.h -- one repeat of several clients that measured at the same time.
 */
#ifndef BENCH_MPI_MERGE_REPEATS_H
#define BENCH_MPI_MERGE_REPEATS_H

#include <jansson.h>
#include <stddef.h>

/*
 * A "repeat" of the schema from those of all clients, the first one's first:
 * operations are added up, latencies merged, and the time is the longest.
 * Counters stay with the single clients: they may share a device. NULL: no
 * memory, or no repeat.
 */
json_t *merge_repeats(const json_t *const *repeats, size_t count);

#endif /* BENCH_MPI_MERGE_REPEATS_H */
