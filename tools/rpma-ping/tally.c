/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tally.c -- counts pings and sums them up.
 */
#include "tally.h"

#include <math.h>
#include <stdlib.h>

#include "tools/common/base/failure.h"

int tally_init(struct tally *tally)
{
	*tally = (struct tally){
		.rtt = histogram_new(),
		.write_flush = histogram_new(),
		.read = histogram_new(),
		.records = calloc(TALLY_RECORDS, sizeof(struct tally_record)),
	};
	if (tally->rtt != NULL && tally->write_flush != NULL && tally->read != NULL &&
	    tally->records != NULL)
		return 0;
	tally_free(tally);
	return failure_set(EXIT_INTERNAL, "parse", "out of memory");
}

void tally_free(struct tally *tally)
{
	free(tally->rtt);
	free(tally->write_flush);
	free(tally->read);
	free(tally->records);
	*tally = (struct tally){0};
}

void tally_add(struct tally *tally, const struct ping_report *report)
{
	const struct ping_report *r = report;

	if (r->end == PING_STOPPED)
		return;
	if (tally->transmitted < TALLY_RECORDS)
		tally->records[tally->transmitted] = (struct tally_record){
			r->end, r->step, r->write_ns, r->flush_ns, r->read_ns, r->rtt_ns};
	tally->transmitted++;
	if (r->end != PING_BACK && r->end != PING_CORRUPT)
		return;
	tally->received++;
	tally->corrupt += r->end == PING_CORRUPT;
	histogram_record(tally->rtt, r->rtt_ns);
	histogram_record(tally->write_flush, r->write_ns + r->flush_ns);
	histogram_record(tally->read, r->read_ns);
}

size_t tally_records(const struct tally *tally)
{
	return tally->transmitted < TALLY_RECORDS ? (size_t)tally->transmitted : TALLY_RECORDS;
}

double tally_loss(const struct tally *tally)
{
	if (tally->transmitted == 0)
		return 0;
	return (double)(tally->transmitted - tally->received) / (double)tally->transmitted;
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

struct tally_figures tally_figures(const struct histogram *h)
{
	double mean = histogram_mean_ns(h), n = (double)h->count;
	long double variance = (long double)h->sum_square / n - (long double)mean * mean;

	return (struct tally_figures){
		.min_ns = h->min_ns,
		.mean_ns = mean,
		.p50_ns = nearest_rank(h, 0.5),
		.p99_ns = nearest_rank(h, 0.99),
		.max_ns = h->max_ns,
		.mdev_ns = variance > 0 ? (double)sqrtl(variance) : 0,
	};
}
