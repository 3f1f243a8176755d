/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.h -- the measuring loop.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/clock.h"
#include "../common/histogram.h"
#include "../common/link.h"
#include "operation.h"

#define MEASURE_WINDOWS	  10
#define MEASURE_WINDOW_NS 100000000ULL
#define MEASURE_STALL_MS  10000

struct measure_cfg {
	const struct operation *operation;
	struct lane *lane;
	struct link *link; /* borrowed; whose end ends the loop */
	const struct clock *clock;
	uint32_t depth;
	uint64_t duration_ns;
	uint64_t min_ops;	   /* run on, up to limit_ns, until there are so many */
	uint64_t limit_ns;	   /* at least duration_ns */
	struct histogram *latency; /* NULL: do not record */
	uint64_t *posted;	   /* depth stamps of scratch space */
};

struct measured {
	uint64_t ops;
	uint64_t elapsed_ns; /* from the first post to the last completion */
	bool interrupted;    /* a signal ended it early */
	bool native_flush;   /* flushes completed as such, not as reads */
	/* operations in each of the last windows of MEASURE_WINDOW_NS, oldest first */
	double windows[MEASURE_WINDOWS];
	unsigned windows_used;
};

/*
 * Keeps depth operations in flight for the duration, then lets them complete.
 * Polls; allocates nothing; makes no system call unless completions stay away.
 */
int measure_run(const struct measure_cfg *cfg, struct measured *measured);

#endif /* MEASURE_H */
