// SPDX-License-Identifier: BSD-3-Clause
/*
 * bench_sample.c -- what it costs to record a sample: from ticks to nanoseconds, into the
 * histogram, as the measuring loops of rpma-bench do.
 *
 * The samples differ as those of an operation of some 2 us do, so that no branch is always
 * the same and more than one bucket is written. Exit status 1 if the median of the rounds is
 * above MOST_NS.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/histogram.h"
#include "common/base/random.h"

#define ROUNDS	15
#define SAMPLES (1u << 12)
#define TIMES	2000u
#define MOST_NS 10.0

static uint64_t ticks[SAMPLES];

/* The number at this index; 0 to 1. */
static double uniform(uint64_t index)
{
	return (double)(random_mix(index * RANDOM_STEP) >> 11) / 9007199254740992.0; /* 2^53 */
}

/* Lognormal, by twelve uniform numbers. */
static void fill(const struct clock *clock)
{
	for (unsigned i = 0; i < SAMPLES; i++) {
		double normal = -6;

		for (unsigned j = 0; j < 12; j++)
			normal += uniform(12 * i + j + 1);
		ticks[i] = clock_ticks(clock, (uint64_t)(2000 * exp(0.3 * normal)));
	}
}

static double round_ns(const struct clock *clock, struct histogram *histogram)
{
	uint64_t begin = clock_raw_ns();

	for (unsigned i = 0; i < TIMES; i++)
		for (unsigned j = 0; j < SAMPLES; j++)
			histogram_record(histogram, clock_ns(clock, ticks[j]));
	return (double)(clock_raw_ns() - begin) / ((double)TIMES * SAMPLES);
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

int main(void)
{
	struct histogram *histogram = calloc(1, sizeof(*histogram));
	double rounds[ROUNDS];
	struct clock clock;

	if (histogram == NULL)
		return 2;
	histogram_reset(histogram);
	clock_start(&clock, NULL);
	fill(&clock);
	for (unsigned i = 0; i < ROUNDS; i++)
		rounds[i] = round_ns(&clock, histogram);
	qsort(rounds, ROUNDS, sizeof(rounds[0]), compare);
	printf("recording a sample: %.2f ns (%.2f .. %.2f), %s, %llu samples\n", rounds[ROUNDS / 2],
	       rounds[0], rounds[ROUNDS - 1], clock_source_name(&clock),
	       (unsigned long long)histogram->count);
	free(histogram);
	return rounds[ROUNDS / 2] > MOST_NS;
}
