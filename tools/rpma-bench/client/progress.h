/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.h -- how far a run is, and how long it still takes.
 */
#ifndef BENCH_CLIENT_PROGRESS_H
#define BENCH_CLIENT_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

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

#endif /* BENCH_CLIENT_PROGRESS_H */
