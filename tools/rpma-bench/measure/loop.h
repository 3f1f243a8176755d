/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop.h -- the measuring loop of one thread over its queue pairs.
 *
 * Closed loop: every queue pair keeps depth operations in flight, and posts a batch
 * when it has room for all of it. Open loop: each
 * operation has a planned time, t0 + i x period, and is posted then or, when
 * it cannot be, as soon as it can; the plan never moves.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/histogram.h"
#include "common/host/clock.h"
#include "operation.h"
#include "tools/rpma-bench/protocol/plain_counts.h"

/*
 * Live figures: a measuring thread fills one snapshot and hands it over with one atomic store;
 * until it is taken, the thread keeps later intervals in a snapshot of its own. So neither waits
 * for the other, and nothing is done for a single operation.
 */

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

/* The reader's: adds what is shown to *all, rates included, with the latest end. False: nothing. */
bool live_take(struct live *live, struct live_snapshot *all);

#define MEASURE_WINDOWS	  10
#define MEASURE_WINDOW_NS 100000000ULL
#define MEASURE_STALL_MS  10000
/* A duration that does not end. */
#define MEASURE_ENDLESS_NS 1000000000000000000ULL

/* One span of a repeat; of samples of its own. */
struct measure_interval {
	uint64_t t_ns; /* its end, from the begin of the measurement */
	uint64_t ops;
	uint64_t bytes;
	bool percentiles_known;
	uint64_t p50_ns;
	uint64_t p99_ns;
	uint64_t max_ns;
};

struct measure_cfg {
	const struct operation *operation;
	const struct operation *reads; /* the other operation of a mix; else NULL */
	uint32_t read_millionths;
	uint64_t seed; /* for the choice between the two */
	struct qp *qps;
	uint32_t qps_count;
	const struct clock *clock;
	uint32_t depth;
	uint32_t batch; /* posted with one doorbell; of a closed loop */
	uint32_t signal_every;
	enum bench_completion completion;
	/*
	 * The end: duration_ns has passed and min_ops are done, or limit_ns has,
	 * or max_ops are. What the open loop planned within duration_ns is still
	 * posted until limit_ns.
	 */
	uint64_t duration_ns;
	uint64_t min_ops;
	uint64_t limit_ns;	/* at least duration_ns */
	uint64_t max_ops;	/* 0: no limit */
	const atomic_int *stop; /* NULL, or not 0: end now, in good order */
	/* open loop */
	double period_ns; /* 0: closed loop */
	struct variant arrivals;
	double first_ns; /* the first operation's, after the begin */
	/* where samples go; NULL: they are not recorded */
	struct histogram *latency;
	struct histogram *read_latency;	    /* set in a mix */
	struct histogram *response;	    /* open loop: from the planned time */
	struct histogram *scratch;	    /* the current interval's; NULL: no intervals */
	struct histogram *response_scratch; /* the responses in it; NULL: live does not want them */
	struct live *live;		    /* shows each interval; NULL: no live line */
	struct measure_interval *intervals;
	uint32_t intervals_max;
	uint64_t interval_ns;
};

struct measured {
	uint64_t begin_raw_ns; /* CLOCK_MONOTONIC_RAW of the first post */
	uint64_t ops;	       /* all that finished */
	uint64_t bytes;	       /* in all that finished */
	uint64_t read_ops;     /* how many of these are reads of a mix */
	uint64_t elapsed_ns;   /* from the begin to the last completion */
	uint64_t PLAIN_COUNT_FIELDS;
	bool interrupted;	  /* a signal, or stop, ended it early */
	bool native_flush;	  /* flushes completed as such, not as reads */
	bool native_atomic_write; /* atomic writes completed as such, not as writes */
	uint32_t intervals_used;
	uint32_t interval_parts; /* intervals of interval_ns that each of these has, but the last */
	uint64_t interval_ns;
	/* operations in each of the last windows of MEASURE_WINDOW_NS, oldest first */
	double windows[MEASURE_WINDOWS];
	unsigned windows_used;
};

/*
 * Makes one interval of two, for as many as fill their room: however long a measurement is,
 * they cover all of it. What percentiles two have together is not known.
 */
void measure_intervals_thin(struct measure_interval *intervals, uint32_t *used);

/* Stamps and flags of the operations in flight, for qps_count x depth of them. */
struct measure_slots;
struct measure_slots *measure_slots_new(uint32_t qps, uint32_t depth);
void measure_slots_delete(struct measure_slots *slots);

/*
 * Measures until the end, then lets what is in flight complete. Allocates
 * nothing; polling, it makes no system call unless completions stay away.
 * All operations posted are completed when it returns 0.
 */
int measure_run(const struct measure_cfg *cfg, struct measure_slots *slots,
		struct measured *measured);
