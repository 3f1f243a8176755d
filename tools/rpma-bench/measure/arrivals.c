/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrivals.c -- the plan of an open loop, one operation after the other.
 *
 * Even times are products, not sums: no rounding error adds up. The gaps of a Poisson
 * process are exponential, by inversion of their distribution.
 */
#include "arrivals.h"

#include <math.h>

#include "names/random.h"

void arrivals_init(struct arrivals *arrivals, struct variant kind, double period_ns,
		   double first_ns, uint64_t seed)
{
	*arrivals = (struct arrivals){
		.poisson = kind.kind == BENCH_POISSON,
		.at_once = kind.kind == BENCH_BURST ? kind.number : 1,
		.period_ns = period_ns,
		.first_ns = first_ns,
		.random = seed,
	};
}

/* Its mean is 1; the uniform number behind it is never 0. */
static double exponential(uint64_t *random)
{
	return -log(((double)(random_next(random) >> 11) + 0.5) * 0x1p-53);
}

double arrivals_next(struct arrivals *a)
{
	uint64_t n = a->planned++;

	if (a->poisson) {
		a->due_ns += a->period_ns * exponential(&a->random);
		return a->due_ns;
	}
	n -= n % a->at_once;
	a->due_ns = a->first_ns + (double)n * a->period_ns;
	return a->due_ns;
}

/* Operations that an even plan, or one in bursts, has until then. */
static uint64_t planned_in_all(const struct arrivals *a, double end_ns)
{
	double last = floor((end_ns - a->first_ns) / (a->period_ns * a->at_once));

	return last < 0 ? 0 : ((uint64_t)last + 1) * a->at_once;
}

uint64_t arrivals_left(const struct arrivals *a, double end_ns)
{
	uint64_t all;

	if (a->planned == 0 || a->due_ns > end_ns)
		return 0;
	if (a->poisson)
		return 1 + (uint64_t)((end_ns - a->due_ns) / a->period_ns + 0.5);
	all = planned_in_all(a, end_ns);
	return all >= a->planned ? all - a->planned + 1 : 0;
}
