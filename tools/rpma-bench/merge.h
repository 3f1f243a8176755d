/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * merge.h -- one repeat of several clients that measured at the same time.
 */
#ifndef MERGE_H
#define MERGE_H

#include <jansson.h>
#include <stddef.h>

/*
 * A "repeat" of the schema from those of all clients, the first one's first:
 * operations are added up, latencies merged, and the time is the longest.
 * Counters stay with the single clients: they may share a device. NULL: no
 * memory, or no repeat.
 */
json_t *merge_repeats(const json_t *const *repeats, size_t count);

#endif /* MERGE_H */
