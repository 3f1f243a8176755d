/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zipf.c -- rejection-inversion (W. Hoermann and G. Derflinger, "Rejection-inversion
 * to generate variates from monotone discrete distributions", 1996).
 *
 * The inverse of the area under x^-theta gives a real number; it is rounded to a rank, and
 * taken unless the rank's bar has less area than the curve there. Exact for any number of
 * ranks, with no table of them.
 */
#include "zipf.h"

#include <math.h>

#include "common/base/random.h"

static double uniform(uint64_t *state)
{
	return ((double)(random_next(state) >> 11) + 0.5) * 0x1p-53;
}

/* The area under x^-theta from 1 to x; a logarithm where theta is 1. */
static double area(double x, double theta)
{
	double power = 1 - theta, logarithm = log(x);

	return fabs(power) < 1e-9 ? logarithm : expm1(power * logarithm) / power;
}

static double inverse(double y, double theta)
{
	double power = 1 - theta;

	return fabs(power) < 1e-9 ? exp(y) : exp(log1p(power * y) / power);
}

static double height(double x, double theta)
{
	return exp(-theta * log(x));
}

void zipf_init(struct zipf *zipf, uint64_t ranks, double theta, uint64_t seed)
{
	*zipf = (struct zipf){
		.ranks = ranks,
		.theta = theta,
		.first = area(1.5, theta) - 1,
		.last = area((double)ranks + 0.5, theta),
		.sure = 2 - inverse(area(2.5, theta) - height(2, theta), theta),
		.random = seed,
	};
}

uint64_t zipf_next(struct zipf *z)
{
	for (;;) {
		double u = z->last + uniform(&z->random) * (z->first - z->last);
		double x = inverse(u, z->theta), rank = floor(x + 0.5);

		rank = rank < 1 ? 1 : rank > (double)z->ranks ? (double)z->ranks : rank;
		if (rank - x <= z->sure || u >= area(rank + 0.5, z->theta) - height(rank, z->theta))
			return (uint64_t)rank;
	}
}
