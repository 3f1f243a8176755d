/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * histogram.h -- latencies in constant memory.
 *
 * Log-linear: values below 128 ns have a bucket each, every octave above has
 * 128, so a bucket is never wider than 1/128 of its value. Range 2^36 ns
 * (68 s); what lies beyond is counted as saturated. Count, minimum, maximum,
 * mean and deviation are exact, from integers. rpma-bench interpolates percentiles
 * within a bucket; check_result.py and sources/histogram.py do the same independently.
 * rpma-ping prints the nearest rank instead, as ping tools do (stats.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS   7
#define HISTOGRAM_RANGE_BITS 36
#define HISTOGRAM_BUCKETS                                                                          \
	((size_t)(HISTOGRAM_RANGE_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

struct histogram {
	uint64_t count;
	uint64_t unbegun; /* due and never begun: later than all samples, by how much is unknown */
	uint64_t saturated;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t sum_ns;
	unsigned __int128 sum_square;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* A percentile with fewer samples beyond it is not known. */
#define HISTOGRAM_SAMPLES_BEYOND 10

struct percentile {
	bool known;
	double ns;
};

/* An empty one, freed by free(3); NULL: no memory. */
struct histogram *histogram_new(void);
void histogram_reset(struct histogram *h);
void histogram_merge(struct histogram *into, const struct histogram *from);

/* The mean of the samples; with unbegun operations, that of all is not known. */
double histogram_mean_ns(const struct histogram *h);
/* Sample deviation; negative when fewer than two samples leave it unknown. */
double histogram_stddev_ns(const struct histogram *h);

/* The first value of a bucket, and how many values share it. */
uint64_t histogram_bucket_low(size_t index);
uint64_t histogram_bucket_width(size_t index);

/*
 * The quantile p (0 < p < 1) of n samples, interpolated inside its bucket. A
 * sample of k ns stands for k - 0.5 to k + 0.5. A bucket reaches from low - 0.5
 * to low + width - 0.5, but the first one begins at min - 0.5 and the last one
 * ends at max + 0.5; its samples are spread evenly. The bucket is the first up to
 * whose end n * p samples lie. With "below" samples in the buckets before it and
 * "count" in itself,
 *
 *	ns = begin + (end - begin) * (n * p - below) / count
 *
 * but not beyond min and max. With bucket middles instead, all repeats of a test
 * could share one value, and seem to agree to the nanosecond.
 *
 * Unbegun operations count in n, beyond all samples: a quantile among them is not
 * known. With any, the last bucket ends at its own end, as max is not that of all.
 */
struct percentile histogram_percentile(const struct histogram *h, double p);

static inline size_t histogram_index(uint64_t ns)
{
	unsigned shift;

	if (ns < 1U << HISTOGRAM_SUB_BITS)
		return ns;
	shift = 63U - (unsigned)__builtin_clzll(ns) - HISTOGRAM_SUB_BITS;
	return ((size_t)shift << HISTOGRAM_SUB_BITS) + (size_t)(ns >> shift);
}

static inline void histogram_record(struct histogram *h, uint64_t ns)
{
	size_t index = histogram_index(ns);

	if (__builtin_expect(index >= HISTOGRAM_BUCKETS, 0)) {
		index = HISTOGRAM_BUCKETS - 1;
		h->saturated++;
	}
	h->buckets[index]++;
	h->count++;
	h->sum_ns += ns;
	h->sum_square += (unsigned __int128)ns * ns;
	if (ns < h->min_ns)
		h->min_ns = ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

/* Records a value times times. */
void histogram_add(struct histogram *h, uint64_t ns, uint64_t times);
