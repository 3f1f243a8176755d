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

/* n * p that is whole but for rounding error is whole */
#define RANK_ERROR 1e-6

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
	into->unbegun += from->unbegun;
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

/* The end of the last bucket. */
static uint64_t highest_ns(const struct histogram *h, size_t last)
{
	return h->unbegun == 0 ? h->max_ns
			       : histogram_bucket_low(last) + histogram_bucket_width(last) - 1;
}

struct percentile histogram_percentile(const struct histogram *h, double p)
{
	size_t i = first_bucket(h), last = last_bucket(h);
	double n = (double)(h->count + h->unbegun), begin, end, ns;
	uint64_t below = 0, highest = highest_ns(h, last);

	if (n * (1 - p) < HISTOGRAM_SAMPLES_BEYOND - RANK_ERROR ||
	    (double)h->count < n * p - RANK_ERROR)
		return (struct percentile){.known = false};
	while (i < last && (double)(below + h->buckets[i]) < n * p - RANK_ERROR)
		below += h->buckets[i++];
	begin = fmax((double)histogram_bucket_low(i), (double)h->min_ns) - 0.5;
	end = i == last ? (double)highest + 0.5
			: (double)(histogram_bucket_low(i) + histogram_bucket_width(i)) - 0.5;
	ns = begin + (end - begin) * fmin((n * p - (double)below) / (double)h->buckets[i], 1);
	return (struct percentile){
		.known = true,
		.ns = fmin(fmax(ns, (double)h->min_ns), (double)highest),
	};
}
