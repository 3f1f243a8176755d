/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delay.c -- the filters `delay` and `rate`: when an operation may be executed.
 *
 * Each filter of the two kinds takes a time and gives one that is not earlier, in the order of the
 * user: delays add up, and what a rate serialises is what the filters before it let
 * through. Operations in flight overlap in a delay, as on a wire; bytes do not in a rate.
 */
#include <math.h>

#include "filter.h"

#define NS_PER_S     1e9
#define KINDS	     (FAULT_KIND(SOFT_DELAY) | FAULT_KIND(SOFT_RATE))
#define DELAY_MAX_NS 3600e9 /* limit of a lognormal draw: an hour, as for a fixed delay */

static uint64_t delay_ns(const struct soft_fault *fault)
{
	double ns;

	if (fault->median_ns != 0) {
		ns = (double)fault->median_ns * exp(fault->sigma * fault_normal());
		return (uint64_t)fmin(ns, DELAY_MAX_NS);
	}
	if (fault->low_ns == fault->high_ns)
		return fault->low_ns;
	return fault->low_ns + fault_random() % (fault->high_ns - fault->low_ns + 1);
}

/* The end of these bytes, which begin when those before them have left. */
static uint64_t rate_end_ns(struct fault_filter *filter, uint32_t bytes, uint64_t now_ns)
{
	double ns = (double)bytes * NS_PER_S / (double)filter->fault->bytes_per_s;
	uint64_t busy = atomic_load(&filter->busy_until_ns);
	uint64_t end;

	do {
		end = (busy > now_ns ? busy : now_ns) + (uint64_t)(ns + 0.5);
	} while (!atomic_compare_exchange_weak(&filter->busy_until_ns, &busy, end));
	return end;
}

uint64_t fault_due_ns(enum soft_op op, uint32_t bytes, uint64_t now_ns)
{
	struct fault_filter *filter = NULL;
	uint64_t due_ns = now_ns;

	while ((filter = fault_next(KINDS, filter)) != NULL) {
		if (filter->fault->kind == SOFT_RATE) {
			due_ns = rate_end_ns(filter, bytes, due_ns);
			fault_count(filter, true);
		} else if ((filter->fault->ops & op) && fault_hits(filter)) {
			due_ns += delay_ns(filter->fault);
		}
	}
	return due_ns == now_ns ? 0 : due_ns;
}
