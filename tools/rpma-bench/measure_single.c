/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure_single.c -- what the loops of single operations seldom need: samples
 * out of their counts, and what the rest of the code looks at.
 */
#include "measure_single.h"

#include <string.h>

void measure_single_flush(struct loop *l)
{
	if (l->counts == NULL)
		return;
	for (uint64_t ticks = 0; ticks < MEASURE_COUNTS && l->latency != NULL; ticks++) {
		if (l->counts[ticks] > 0)
			histogram_add(l->latency, clock_ns(l->cfg->clock, ticks), l->counts[ticks]);
	}
	memset(l->counts, 0, MEASURE_COUNTS * sizeof(l->counts[0]));
}

void measure_single_tell(struct loop *l, uint64_t last, uint64_t left, uint64_t in_flight)
{
	struct ring *r = l->rings;

	l->last = last;
	r->posted = r->limit - left;
	r->done = r->posted - in_flight;
}
