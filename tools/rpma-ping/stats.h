/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stats.h -- what became of all pings, in constant memory: counts, histograms,
 * and the first pings one by one.
 */
#ifndef STATS_H
#define STATS_H

#include "common/base/histogram.h"
#include "ping.h"

#define STATS_RECORDS 1000

struct stats_record {
	uint64_t size_bytes;
	enum ping_end end;
	enum step step; /* where it ended, unless it came back */
	uint64_t write_ns;
	uint64_t flush_ns;
	uint64_t read_ns;
	uint64_t rtt_ns;
};

struct stats {
	uint64_t transmitted;
	uint64_t received; /* the corrupt ones too */
	uint64_t corrupt;
	double ewma_ns; /* the round trip's moving average, as ping(8): a new one weighs an eighth
			 */
	/* over those that came back */
	struct histogram *rtt;
	struct histogram *write_flush;
	struct histogram *read;
	struct stats_record *records; /* the first STATS_RECORDS pings; NULL: not one by one */
};

struct stats_figures {
	uint64_t min_ns;
	double mean_ns;
	uint64_t p50_ns; /* nearest rank, to 1/256 */
	uint64_t p99_ns;
	uint64_t max_ns;
	double mdev_ns; /* as ping(8): the root of the mean of squares less the square of the mean
			 */
};

int stats_init(struct stats *stats, bool one_by_one);
void stats_free(struct stats *stats);

/* A ping that a signal cut short is not counted. */
void stats_add(struct stats *stats, size_t size_bytes, const struct ping_report *report);
size_t stats_records(const struct stats *stats);
/* The share of transmitted pings, 0 to 1. */
double stats_loss(const struct stats *stats);

/* The histogram has a sample. */
struct stats_figures stats_figures(const struct histogram *h);

#endif /* STATS_H */
