/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c -- counts pings and sums them up. */
#include "ping.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/failure.h"

int stats_init(struct stats *stats, bool one_by_one)
{
	*stats = (struct stats){
		.rtt = histogram_new(),
		.write_flush = histogram_new(),
		.read = histogram_new(),
		.records = one_by_one ? calloc(STATS_RECORDS, sizeof(struct stats_record)) : NULL,
	};
	if (stats->rtt != NULL && stats->write_flush != NULL && stats->read != NULL &&
	    (stats->records != NULL) == one_by_one)
		return 0;
	stats_free(stats);
	return failure_set(EXIT_INTERNAL, "parse", "out of memory");
}

void stats_free(struct stats *stats)
{
	free(stats->rtt);
	free(stats->write_flush);
	free(stats->read);
	free(stats->records);
	*stats = (struct stats){0};
}

void stats_add(struct stats *stats, size_t size_bytes, const struct ping_report *r)
{
	if (r->end == PING_STOPPED)
		return;
	if (stats->records != NULL && stats->transmitted < STATS_RECORDS)
		stats->records[stats->transmitted] =
			(struct stats_record){size_bytes,  r->end,     r->step,	 r->write_ns,
					      r->flush_ns, r->read_ns, r->rtt_ns};
	stats->transmitted++;
	if (r->end != PING_BACK && r->end != PING_CORRUPT)
		return;
	stats->received++;
	stats->corrupt += r->end == PING_CORRUPT;
	stats->ewma_ns = stats->received == 1
				 ? (double)r->rtt_ns
				 : stats->ewma_ns + ((double)r->rtt_ns - stats->ewma_ns) / 8;
	histogram_record(stats->rtt, r->rtt_ns);
	histogram_record(stats->write_flush, r->write_ns + r->flush_ns);
	histogram_record(stats->read, r->read_ns);
}

size_t stats_records(const struct stats *stats)
{
	if (stats->records == NULL)
		return 0;
	return stats->transmitted < STATS_RECORDS ? (size_t)stats->transmitted : STATS_RECORDS;
}

double stats_loss(const struct stats *stats)
{
	if (stats->transmitted == 0)
		return 0;
	return (double)(stats->transmitted - stats->received) / (double)stats->transmitted;
}

/* The value that a share of all does not exceed; of its bucket, the middle. */
static uint64_t nearest_rank(const struct histogram *h, double p)
{
	uint64_t rank = (uint64_t)ceil(p * (double)h->count), below = 0, ns;
	size_t i = 0;

	if (rank >= h->count)
		return h->max_ns;
	for (; i < HISTOGRAM_BUCKETS - 1; i++) {
		below += h->buckets[i];
		if (below >= rank)
			break;
	}
	ns = histogram_bucket_low(i) + histogram_bucket_width(i) / 2;
	if (ns < h->min_ns || rank <= 1)
		return h->min_ns;
	return ns < h->max_ns ? ns : h->max_ns;
}

struct stats_figures stats_figures(const struct histogram *h)
{
	double mean = histogram_mean_ns(h), n = (double)h->count;
	long double variance = (long double)h->sum_square / n - (long double)mean * mean;

	return (struct stats_figures){
		.min_ns = h->min_ns,
		.mean_ns = mean,
		.p50_ns = nearest_rank(h, 0.5),
		.p99_ns = nearest_rank(h, 0.99),
		.max_ns = h->max_ns,
		.mdev_ns = variance > 0 ? (double)sqrtl(variance) : 0,
	};
}
