/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * merge_documents.h -- one result of the results of many clients that measured the same
 * points at the same time. JSON in, JSON out.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

/*
 * Ranks hand in an array, rank 0 first:
 *   {"rank", "host_name", "measured": [{"server", "server_rank", "document",
 *    "starts": [{"begin_unix_ns", "start_lag_ns"}, ...]}, ...]}
 * A document is a result of one client, of which rank 0 has at least one;
 * starts are those of its repeats, by the order of these. Gives the first
 * document, with points of all clients together, judged by the SLOs, with the
 * warnings of all, and with "ranks": what each measured alone. Repeats that
 * not all clients have are left out. NULL: no memory.
 */
json_t *ranks_merge(const json_t *handed, const char *const *slos, size_t slos_count);

/* How many repeats the points of a document have. */
size_t ranks_count_repeats(const json_t *document);

/*
 * A "repeat" of the schema from those of all clients, the first one's first:
 * operations are added up, latencies merged, and the time is the longest.
 * Counters stay with the single clients: they may share a device. NULL: no
 * memory, or no repeat.
 */
json_t *merge_repeats(const json_t *const *repeats, size_t count);
