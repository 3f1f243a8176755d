/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * histogram.c -- what is read out of a histogram once recording has ended.
 *
 * Recording itself is inline in the header: it is the only part that runs
 * between two operations.
 */
#include "histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define Z_95	       1.959963984540054
#define SAMPLES_BEYOND 10

struct histogram *histogram_new(void)
{
	struct histogram *h = malloc(sizeof(*h));

	if (h != NULL)
		histogram_reset(h);
	return h;
}

void histogram_reset(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
	h->min_ns = UINT64_MAX;
}

void histogram_add(struct histogram *h, uint64_t ns, uint64_t times)
{
	size_t index = histogram_index(ns);

	if (index >= HISTOGRAM_BUCKETS) {
		index = HISTOGRAM_BUCKETS - 1;
		h->saturated += times;
	}
	h->buckets[index] += times;
	h->count += times;
	h->sum_ns += ns * times;
	h->sum_square += (unsigned __int128)ns * ns * times;
	if (ns < h->min_ns)
		h->min_ns = ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

/* The buckets that are not empty lie between these; of an empty histogram, there are none. */
static size_t first_bucket(const struct histogram *h)
{
	size_t index = histogram_index(h->min_ns);

	return index < HISTOGRAM_BUCKETS ? index : HISTOGRAM_BUCKETS - 1;
}

static size_t last_bucket(const struct histogram *h)
{
	size_t index = histogram_index(h->max_ns);

	return index < HISTOGRAM_BUCKETS ? index : HISTOGRAM_BUCKETS - 1;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	into->count += from->count;
	into->saturated += from->saturated;
	into->sum_ns += from->sum_ns;
	into->sum_square += from->sum_square;
	if (from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	for (size_t i = first_bucket(from); i <= last_bucket(from); i++)
		into->buckets[i] += from->buckets[i];
}

double histogram_mean_ns(const struct histogram *h)
{
	return h->count == 0 ? 0 : (double)((long double)h->sum_ns / (long double)h->count);
}

/*
 * Sum of squares around the integer part q of the mean, modulo 2^128: single
 * terms may wrap, the small result does not. Then the fraction is taken out.
 */
double histogram_stddev_ns(const struct histogram *h)
{
	unsigned __int128 around_q;
	uint64_t q, r;
	long double rest;

	if (h->count < 2)
		return -1;
	q = h->sum_ns / h->count;
	r = h->sum_ns % h->count;
	around_q = h->sum_square - (unsigned __int128)2 * q * h->sum_ns +
		   (unsigned __int128)h->count * q * q;
	rest = (long double)r * (long double)r / (long double)h->count;
	return (double)sqrtl(((long double)around_q - rest) / (long double)(h->count - 1));
}

static unsigned shift_of(size_t index)
{
	return index < 2U << HISTOGRAM_SUB_BITS ? 0 : (unsigned)(index >> HISTOGRAM_SUB_BITS) - 1;
}

uint64_t histogram_bucket_width(size_t index)
{
	return 1ULL << shift_of(index);
}

uint64_t histogram_bucket_low(size_t index)
{
	unsigned shift = shift_of(index);

	return (uint64_t)(index - ((size_t)shift << HISTOGRAM_SUB_BITS)) << shift;
}

/* The bucket that holds the sample of this rank, counted from 1. */
static size_t bucket_of_rank(const struct histogram *h, uint64_t rank)
{
	uint64_t seen = 0;
	size_t i = first_bucket(h);

	while (i < HISTOGRAM_BUCKETS - 1 && (seen += h->buckets[i]) < rank)
		i++;
	return i;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* The last bucket also holds what saturated: its only sure bound is the maximum. */
static uint64_t bucket_high(const struct histogram *h, size_t index)
{
	if (index == HISTOGRAM_BUCKETS - 1 && h->saturated > 0)
		return h->max_ns;
	return histogram_bucket_low(index) + histogram_bucket_width(index) - 1;
}

struct percentile histogram_percentile(const struct histogram *h, double p)
{
	struct percentile out = {.p = p};
	double n = (double)h->count;
	double spread = Z_95 * sqrt(n * p * (1 - p));
	/* a rank that is whole but for rounding error is that rank */
	double rank = ceil(n * p - 1e-6);
	double lo_rank = floor(n * p - spread);
	double hi_rank = ceil(n * p + spread) + 1;
	size_t at;

	if (n * (1 - p) < SAMPLES_BEYOND - 1e-6)
		return out;
	at = bucket_of_rank(h, (uint64_t)rank);
	out.known = true;
	out.ns = clamp(histogram_bucket_low(at) +
			       (bucket_high(h, at) - histogram_bucket_low(at)) / 2,
		       h->min_ns, h->max_ns);
	at = bucket_of_rank(h, lo_rank < 1 ? 1 : (uint64_t)lo_rank);
	out.lo_ns = clamp(histogram_bucket_low(at), h->min_ns, h->max_ns);
	at = bucket_of_rank(h, hi_rank > n ? h->count : (uint64_t)hi_rank);
	out.hi_ns = clamp(bucket_high(h, at), h->min_ns, h->max_ns);
	return out;
}
