/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_coverage.c -- how often a 95 % interval holds the truth.
 *
 * Repeats are drawn from a distribution that is known, each a factor of its own
 * slower or faster, and go the way of real ones: into a histogram, the JSON of a
 * repeat, the summary. The logarithm of the factor has the mean 0, so the truth,
 * the geometric mean over all possible repeats, is that of the distribution.
 */
#include <math.h>

#include "common/json/json_path.h"
#include "common/json/result.h"
#include "tests/lib/test.h"
#include "tools/rpma-bench/result/point.h"

/*
 * One in 3,000 cells of 1,000 trials holds the truth in less than 92.5 % of them if the true
 * coverage is 0.95, and one in 170 cells of 200 in less than 91 %.
 */
#define MAX_TRIALS 1000
#define REPEATS	   5
#define SAMPLES	   20000
#define SPREADS	   4
#define FIGURES	   5 /* p50, p90, p99, p99.9, mean */

static const double spreads[SPREADS] = {0, 0.02, 0.05, 0.2};
static const double ps[] = {0.5, 0.9, 0.99, 0.999};
static const char *const low_paths[FIGURES] = {
	"latency/percentiles/p=0.5/lo_ns", "latency/percentiles/p=0.9/lo_ns",
	"latency/percentiles/p=0.99/lo_ns", "latency/percentiles/p=0.999/lo_ns",
	"latency/mean_ns/ci95_low"};
static const char *const high_paths[FIGURES] = {
	"latency/percentiles/p=0.5/hi_ns", "latency/percentiles/p=0.9/hi_ns",
	"latency/percentiles/p=0.99/hi_ns", "latency/percentiles/p=0.999/hi_ns",
	"latency/mean_ns/ci95_high"};

struct distribution {
	const char *name;
	double (*draw)(uint64_t *seed);
	double truth[FIGURES]; /* 0: not asked */
};

struct cell {
	int covered;
	double widths[MAX_TRIALS];
};

static int trials = 200;
static double enough = 0.91; /* share of the trials */
static double samples[REPEATS][SAMPLES], factors[REPEATS];
static struct cell cells[SPREADS][FIGURES];
static struct histogram h;
static double real_ends[4096], real_shares[4096]; /* the recorded one's: ends of buckets */
static size_t real_count;

static double normal(uint64_t *seed)
{
	return sqrt(-2 * log(1 - test_uniform(seed))) * cos(2 * M_PI * test_uniform(seed));
}

/* The quantile of a distribution, by bisection. */
static double solve(double (*share_below)(double), double p)
{
	double low = 1, high = 1e9;

	for (int i = 0; i < 200; i++) {
		double middle = sqrt(low * high);

		*(share_below(middle) < p ? &low : &high) = middle;
	}
	return low;
}

static double below_lognormal(double x, double median, double sigma)
{
	return erfc(-log(x / median) / sigma / sqrt(2)) / 2;
}

static double draw_lognormal(uint64_t *seed)
{
	return 3000 * exp(0.3 * normal(seed));
}

static double share_lognormal(double x)
{
	return below_lognormal(x, 3000, 0.3);
}

static double draw_bimodal(uint64_t *seed)
{
	bool slow = test_uniform(seed) < 0.2;

	return (slow ? 11000 : 2200) * exp((slow ? 0.2 : 0.1) * normal(seed));
}

static double share_bimodal(double x)
{
	return 0.8 * below_lognormal(x, 2200, 0.1) + 0.2 * below_lognormal(x, 11000, 0.2);
}

/* 60,000 writes of 4 KiB, measured on the software device. */
static void load_real(void)
{
	json_t *file = json_load_file(RPMA_RECORDED_HISTOGRAM, 0, NULL), *pair;
	double total = 0;
	size_t i;

	assert_non_null(file);
	real_count = 0;
	real_ends[0] = real_shares[0] = 0;
	json_array_foreach(json_object_get(file, "buckets"), i, pair) {
		double low = json_number_value(json_array_get(pair, 0)) - 0.5;
		size_t index = histogram_index((uint64_t)(low + 1));

		if (low > real_ends[real_count]) { /* a gap has no share */
			real_ends[++real_count] = low;
			real_shares[real_count] = total;
		}
		total += json_number_value(json_array_get(pair, 1));
		real_ends[++real_count] = low + (double)histogram_bucket_width(index);
		real_shares[real_count] = total;
		assert_true(real_count + 2 < sizeof(real_ends) / sizeof(real_ends[0]));
	}
	for (i = 0; i <= real_count; i++)
		real_shares[i] /= total;
	json_decref(file);
}

static double real_quantile(double p)
{
	size_t low = 0, high = real_count;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		*(real_shares[middle] < p ? &low : &high) = middle;
	}
	return real_ends[low] + (real_ends[high] - real_ends[low]) * (p - real_shares[low]) /
					(real_shares[high] - real_shares[low]);
}

static double draw_real(uint64_t *seed)
{
	return real_quantile(1 - test_uniform(seed));
}

static json_t *summary_of(double spread)
{
	json_t *repeats = json_array(), *summary;

	for (int r = 0; r < REPEATS; r++) {
		double factor = exp(spread * factors[r]);

		histogram_reset(&h);
		for (int i = 0; i < SAMPLES; i++)
			histogram_record(&h, (uint64_t)(samples[r][i] * factor + 0.5));
		json_array_append_new(repeats, json_pack("{s:i, s:b, s:o}", "index", r, "complete",
							 1, "latency", result_latency(&h)));
	}
	summary = point_summary(repeats);
	json_decref(repeats);
	return summary;
}

static void try_once(const struct distribution *d, uint64_t *seed, int trial)
{
	for (int r = 0; r < REPEATS; r++) {
		factors[r] = normal(seed);
		for (int i = 0; i < SAMPLES; i++)
			samples[r][i] = d->draw(seed);
	}
	for (int s = 0; s < SPREADS; s++) {
		json_t *summary = summary_of(spreads[s]);

		for (int f = 0; f < FIGURES; f++) {
			double low = json_number_value(path_get(summary, low_paths[f]));
			double high = json_number_value(path_get(summary, high_paths[f]));

			assert_true(low > 0 && high >= low);
			cells[s][f].covered += low <= d->truth[f] && d->truth[f] <= high;
			cells[s][f].widths[trial] = sqrt(high / low) - 1;
		}
		json_decref(summary);
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Prints each cell: how many trials held the truth, and the median half width. */
static int count_poor(const struct distribution *d)
{
	int poor = 0;

	for (int s = 0; s < SPREADS; s++) {
		printf("%s, spread %.0f %%:", d->name, 100 * spreads[s]);
		for (int f = 0; f < FIGURES; f++) {
			struct cell *c = &cells[s][f];

			if (d->truth[f] == 0)
				continue;
			qsort(c->widths, (size_t)trials, sizeof(double), ascending);
			printf("  %.1f %% (+-%.2g %%)", 100.0 * c->covered / trials,
			       100 * c->widths[trials / 2]);
			poor += c->covered < enough * trials;
		}
		printf("\n");
	}
	return poor;
}

static void expect_coverage(const struct distribution *d)
{
	uint64_t seed = 1;

	memset(cells, 0, sizeof(cells));
	for (int trial = 0; trial < trials; trial++)
		try_once(d, &seed, trial);
	assert_int_equal(count_poor(d), 0);
}

TEST(intervals_cover_a_lognormal_distribution)
{
	struct distribution d = {.name = "lognormal", .draw = draw_lognormal};

	for (size_t i = 0; i < sizeof(ps) / sizeof(ps[0]); i++)
		d.truth[i] = solve(share_lognormal, ps[i]);
	d.truth[4] = 3000 * exp(0.3 * 0.3 / 2);
	expect_coverage(&d);
}

TEST(intervals_cover_a_bimodal_distribution)
{
	struct distribution d = {.name = "bimodal", .draw = draw_bimodal};

	for (size_t i = 0; i < sizeof(ps) / sizeof(ps[0]); i++)
		d.truth[i] = solve(share_bimodal, ps[i]);
	expect_coverage(&d);
}

TEST(intervals_cover_a_recorded_distribution)
{
	struct distribution d = {.name = "recorded", .draw = draw_real};

	load_real();
	for (size_t i = 0; i < sizeof(ps) / sizeof(ps[0]); i++)
		d.truth[i] = real_quantile(ps[i]);
	expect_coverage(&d);
}

/* Repeats with means of so much spread, until they are narrow; was the truth held? */
static bool ends_with_the_truth(uint64_t *seed, double spread, double fraction)
{
	json_t *repeats = json_array(), *summary;
	double low, high;

	for (size_t r = 0; r < 30 && !point_is_narrow(repeats, BENCH_BW, fraction); r++)
		json_array_append_new(repeats,
				      json_pack("{s:i, s:b, s:f}", "index", (int)r, "complete", 1,
						"ops_per_s", 1e5 * exp(spread * normal(seed))));
	summary = point_summary(repeats);
	low = json_number_value(path_get(summary, "ops_per_s/ci95_low"));
	high = json_number_value(path_get(summary, "ops_per_s/ci95_high"));
	json_decref(summary);
	json_decref(repeats);
	return low <= 1e5 && 1e5 <= high;
}

/* --ci 2, at spreads for which it takes from 8 to all of 30 repeats. */
TEST(intervals_hold_the_truth_after_looking_until_they_are_narrow)
{
	uint64_t seed = 3;
	int poor = 0;

	for (int percent = 1; percent <= 6; percent++) {
		int covered = 0;

		for (int trial = 0; trial < 4 * trials; trial++)
			covered += ends_with_the_truth(&seed, percent / 100.0, 0.02);
		printf("--ci 2, spread %d %%: %.1f %%\n", percent, 25.0 * covered / trials);
		poor += covered < 4 * enough * trials;
	}
	assert_int_equal(poor, 0);
}

/* Any argument asks for the 1,000 trials that the manual's figures rest on. */
int main(int argc, char *argv[])
{
	if (argc > 1) {
		trials = MAX_TRIALS;
		enough = 0.925;
	}
	return test_run(NULL, NULL);
}
