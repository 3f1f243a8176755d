/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * live.h -- what a measuring thread shows of the last interval while it goes on.
 *
 * The thread fills one snapshot and hands it over with one atomic store; until it
 * is taken, the thread keeps later intervals in a snapshot of its own. So neither waits
 * for the other, and nothing is done for a single operation.
 */
#ifndef BENCH_MEASURE_LIVE_H
#define BENCH_MEASURE_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/histogram.h"

/* All since the last one that was handed over. */
struct live_snapshot {
	struct histogram latency; /* in an open loop, the responses */
	uint64_t ops;
	uint64_t bytes;
	uint64_t late_ops;
	double ops_per_s; /* sum over the threads that have shown theirs */
	double bytes_per_s;
	uint64_t span_ns;
	uint64_t end_ns; /* from the begin of the measurement */
};

struct live {
	struct live_snapshot kept;  /* the thread's */
	struct live_snapshot shown; /* the reader's while full, else the thread's */
	atomic_int full;
};

void live_reset(struct live *live);

/*
 * The thread's: adds an interval with the samples in latency (interval->latency is not
 * looked at), and shows it if the reader is ready.
 */
void live_add(struct live *live, const struct live_snapshot *interval,
	      const struct histogram *latency);

/* Is there something to take? */
bool live_ready(const struct live *live);

void live_clear(struct live_snapshot *snapshot);

/* The reader's: adds what is shown to *all, rates included, with the latest end. False: nothing is.
 */
bool live_take(struct live *live, struct live_snapshot *all);

#endif /* BENCH_MEASURE_LIVE_H */
