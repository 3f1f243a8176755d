/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrivals.h -- when the operations of an open loop are due: evenly, as a
 * Poisson process, or in bursts, all of the same mean rate.
 *
 * Numbers in, numbers out: the same seed gives the same plan. Each thread has a plan
 * of its own; Poisson processes add up to one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/rpma-bench/protocol/params.h"

struct arrivals {
	bool poisson;
	uint32_t at_once; /* operations of a burst; else 1 */
	double period_ns; /* the mean, between two operations */
	double first_ns;  /* even and bursts: where the plan begins */
	uint64_t planned; /* operations that were given out */
	double due_ns;	  /* when the last one is due */
	uint64_t random;
};

void arrivals_init(struct arrivals *arrivals, struct variant kind, double period_ns,
		   double first_ns, uint64_t seed);

/* When the next operation is due, in nanoseconds from the begin; never before the one before it. */
double arrivals_next(struct arrivals *arrivals);

/*
 * The number due before the end, from the last one given out on. Of a Poisson
 * process those not given out yet count as their expected number.
 */
uint64_t arrivals_left(const struct arrivals *arrivals, double end_ns);
