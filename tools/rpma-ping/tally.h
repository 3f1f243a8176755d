/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tally.h -- what became of all pings, in constant memory: counts, histograms,
 * and the first pings one by one.
 */
#ifndef TALLY_H
#define TALLY_H

#include "ping.h"
#include "tools/common/base/histogram.h"

#define TALLY_RECORDS 1000

struct tally_record {
	enum ping_end end;
	enum step step; /* where it ended, unless it came back */
	uint64_t write_ns;
	uint64_t flush_ns;
	uint64_t read_ns;
	uint64_t rtt_ns;
};

struct tally {
	uint64_t transmitted;
	uint64_t received; /* the corrupt ones too */
	uint64_t corrupt;
	/* over those that came back */
	struct histogram *rtt;
	struct histogram *write_flush;
	struct histogram *read;
	struct tally_record *records; /* the first TALLY_RECORDS pings */
};

struct tally_figures {
	uint64_t min_ns;
	double mean_ns;
	uint64_t p50_ns; /* nearest rank, to 1/256 */
	uint64_t p99_ns;
	uint64_t max_ns;
	double mdev_ns; /* as ping(8): the root of the mean of squares less the square of the mean
			 */
};

int tally_init(struct tally *tally);
void tally_free(struct tally *tally);

/* A ping that a signal cut short is not counted. */
void tally_add(struct tally *tally, const struct ping_report *report);
size_t tally_records(const struct tally *tally);
/* The share of transmitted pings, 0 to 1. */
double tally_loss(const struct tally *tally);

/* The histogram has a sample. */
struct tally_figures tally_figures(const struct histogram *h);

#endif /* TALLY_H */
