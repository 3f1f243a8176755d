/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.c -- the result for people: one line per point, on stderr.
 */
#include <stdio.h>

#include "run.h"
#include "summary.h"

struct row {
	size_t repeats;
	struct summary_interval rate;
	struct histogram latency;
};

static void make_row(const struct run *run, size_t point, struct row *row)
{
	double rates[OPTIONS_REPEATS_MAX];

	row->repeats = 0;
	histogram_reset(&row->latency);
	for (uint32_t i = 0; i < run->options->repeats; i++) {
		const struct repeat *r = run_repeat(run, point, i);

		if (!r->done)
			continue;
		rates[row->repeats++] =
			(double)r->measured.ops * 1e9 / (double)r->measured.elapsed_ns;
		histogram_merge(&row->latency, r->latency);
	}
	row->rate = summary_mean(rates, row->repeats);
}

static const char *quantile(const struct row *row, double p, char text[UNITS_TEXT_BYTES])
{
	struct percentile q = histogram_percentile(&row->latency, p);

	if (!q.known)
		return "-";
	return units_print_duration((double)q.ns, text);
}

static void print_row(const struct plan_point *point, const struct row *row)
{
	char size[UNITS_TEXT_BYTES], t[5][UNITS_TEXT_BYTES];
	double bytes = row->rate.mean * (double)point->size_bytes;
	char spread[16] = "-";

	if (row->rate.known)
		snprintf(spread, sizeof(spread), "%.1f %%",
			 (row->rate.high - row->rate.mean) / row->rate.mean * 100);
	fprintf(stderr, "%9s %5u %3zu %10s %10s %10s %10s %10s %11.0f %8s %9.3f %9.3f\n",
		units_print_size(point->size_bytes, size), point->depth, row->repeats,
		units_print_duration((double)row->latency.min_ns, t[0]), quantile(row, 0.5, t[1]),
		quantile(row, 0.99, t[2]), quantile(row, 0.999, t[3]),
		units_print_duration((double)row->latency.max_ns, t[4]), row->rate.mean, spread,
		bytes / 1e9, bytes * 8 / 1e9);
}

static const char *latency_kind(const struct run *run)
{
	for (size_t i = 0; i < run->plan.items_count; i++) {
		if (run->repeats[i].done)
			return run_latency_kind(run, &run->repeats[i]);
	}
	return run->operation->latency_kind;
}

void table_print(const struct run *run)
{
	static struct row row;

	fprintf(stderr, "%s over %s (%s) to %s: %s, latency is %s\n",
		options_tests[run->options->test], run->device.name,
		device_kind_name(run->device.kind), run->server_name, options_ops[run->options->op],
		latency_kind(run));
	fprintf(stderr, "%9s %5s %3s %10s %10s %10s %10s %10s %11s %8s %9s %9s\n", "size", "depth",
		"n", "min", "p50", "p99", "p99.9", "max", "ops/s", "+- 95%", "GB/s", "Gbit/s");
	for (size_t i = 0; i < run->plan.points_count; i++) {
		make_row(run, i, &row);
		if (row.repeats > 0)
			print_row(&run->plan.points[i], &row);
	}
}
