/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.h -- what a run shows of itself: how far it is and how long it still takes, and
 * with --interval a line for each interval of a measurement.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "control.h"
#include "tools/rpma-bench/measure/workers.h"
#include "tools/rpma-bench/options/options.h"
#include "tools/rpma-bench/options/plan.h"

/* Time of a repeat beside its warm-up and its measurement: to connect, register, report. */
#define PROGRESS_OVERHEAD_NS 50000000ULL

struct progress {
	size_t left;	    /* repeats to measure; the caller counts down */
	size_t measured;    /* repeats that this process measured */
	uint64_t begin_ns;  /* when the first of them began */
	uint64_t repeat_ns; /* each, until one was measured; 0: unknown */
};

/* The expected time of one repeat; 0: unknown, as it ends after a number of operations. */
uint64_t progress_repeat_ns(const struct options *options);

/* From what the repeats so far took, else from what they should; UINT64_MAX: unknown. */
uint64_t progress_left_s(const struct progress *progress, uint64_t now_ns);

/* Shows the line of the trial that begins now, where there is a terminal. */
void progress_show(const struct progress *progress, const struct options *options,
		   const struct plan *plan, size_t order, uint64_t now_ns);

struct live_view {
	struct control_watch watch;
	const struct workers *workers;
	struct live_snapshot *now; /* owned */
	uint64_t interval_ns;
	uint64_t begin_ns;
	uint64_t shown_ns; /* when the last line was printed */
	uint32_t threads;
	bool open_loop;
};

/* Begins with a measurement. Without --interval, or with failure, there are no lines. */
void live_view_open(struct live_view *view, const struct run *run, size_t order,
		    const struct workers *workers);
/* After the measurement: shows the rest. */
void live_view_close(struct live_view *view);
