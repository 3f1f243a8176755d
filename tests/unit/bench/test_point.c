/* SPDX-License-Identifier: BSD-3-Clause */
/* test_point.c -- what repeats say together, from their JSON. */
#include <math.h>

#include "common/json/result.h"
#include "made_repeat.h"
#include "tools/rpma-bench/result/point.h"

/* Repeats of these mean latencies, a thousand operations each. */
static json_t *repeats_of(const uint64_t *means, size_t count)
{
	json_t *repeats = json_array();

	for (size_t i = 0; i < count; i++) {
		struct repeat r = made_repeat(means[i], 1000);

		r.index = (uint32_t)i;
		json_array_append_new(repeats, made_json(&r));
	}
	return repeats;
}

TEST(histograms_are_merged)
{
	static const uint64_t means[] = {100, 101, 102};
	json_auto_t *repeats = repeats_of(means, 3), *summary = point_summary(repeats);

	HOLDS(summary, "n: 3", "latency/count: 3000", "latency/min_ns: 100", "latency/max_ns: 102");
	assert_true(json_array_size(path_get(summary, "latency/merged_histogram/buckets")) == 3);
}

static bool near_at(const json_t *summary, const char *path, double expected)
{
	return fabs(real_at(summary, path) - expected) < 2e-3;
}

/* One of two repeats left operations undone: what lies among them is not known of both. */
TEST(unbegun_operations_of_one_repeat_count_in_all)
{
	json_auto_t *repeats = json_array(), *summary = NULL;

	for (uint32_t i = 0; i < 2; i++) {
		struct repeat r = made_repeat(1000, 1000);

		r.index = i;
		r.params.test = BENCH_RATE;
		r.params.rate_per_s = 1000;
		r.response = made_histogram(NULL, 0);
		histogram_add(r.response, 2000, 1000);
		r.response->unbegun = r.unbegun_ops = i * 500;
		json_array_append_new(repeats, made_json(&r));
	}
	summary = point_summary(repeats);
	HOLDS(summary, "unbegun_ops: 500", "response_latency/unbegun_ops: 500");
	assert_true(real_at(summary, "response_latency/percentiles/p=0.5/ns") > 0);
	HOLDS(summary, "response_latency/percentiles/p=0.9/ns: null",
	      "response_latency/mean_ns: null", "response_latency/max_ns: null",
	      "latency/max_ns: 1000");
}

/* 100, 200, 400: logarithms 1 apart in base 2, half width 4.30265 / sqrt(3) of them */
TEST(the_interval_is_over_repeats)
{
	static const uint64_t means[] = {100, 200, 400};
	json_auto_t *repeats = repeats_of(means, 3), *summary = point_summary(repeats);
	double half = pow(2, 4.30265 / sqrt(3));

	assert_true(near_at(summary, "latency/mean_ns/mean", 200));
	assert_true(near_at(summary, "latency/mean_ns/ci95_low", 200 / half));
	assert_true(near_at(summary, "latency/mean_ns/ci95_high", 200 * half));
	assert_true(near_at(summary, "latency/mean_ns/cv", log(2)));
	/* all samples of a repeat have one value, which is then its every percentile */
	assert_true(near_at(summary, "latency/percentiles/p=0.5/ns", 200));
	assert_true(near_at(summary, "latency/percentiles/p=0.5/lo_ns", 200 / half));
	assert_true(near_at(summary, "latency/percentiles/p=0.99/hi_ns", 200 * half));
}

/* A repeat's own percentile has no interval: its samples do not show how repeats differ. */
TEST(a_repeats_percentile_has_no_interval)
{
	static const uint64_t mean = 100;
	json_auto_t *repeats = repeats_of(&mean, 1);
	const json_t *percentile =
		path_get(json_array_get(repeats, 0), "latency/percentiles/p=0.5");

	assert_true(near_at(percentile, "ns", 100));
	HOLDS(percentile, "lo_ns: null", "hi_ns: null");
}

TEST(two_repeats_have_a_mean_and_no_interval)
{
	static const uint64_t means[] = {100, 400};
	json_auto_t *repeats = repeats_of(means, 2), *summary = point_summary(repeats);

	assert_true(near_at(summary, "latency/percentiles/p=0.9/ns", 200));
	HOLDS(summary, "latency/percentiles/p=0.9/lo_ns: null");
	assert_true(near_at(summary, "latency/mean_ns/mean", 200));
	HOLDS(summary, "latency/mean_ns/ci95_high: null");
}

/* p99 takes 1,000 samples: one repeat has 999, and those that have it are not all. */
TEST(what_one_repeat_lacks_is_null)
{
	json_auto_t *repeats = json_array(), *summary = NULL;

	for (size_t i = 0; i < 4; i++) {
		struct repeat r = made_repeat(100, i == 2 ? 999 : 1000);

		json_array_append_new(repeats, made_json(&r));
	}
	summary = point_summary(repeats);
	HOLDS(summary, "latency/percentiles/p=0.99/ns: null",
	      "latency/percentiles/p=0.99/lo_ns: null");
	assert_true(near_at(summary, "latency/percentiles/p=0.95/lo_ns", 100));
}

TEST(a_stopped_repeat_counts_only_alone)
{
	static const uint64_t means[] = {100, 500};
	json_auto_t *repeats = repeats_of(means, 2);

	json_object_set_new(json_array_get(repeats, 1), "complete", json_false());
	GIVES(point_summary(repeats), "n: 1", "latency/max_ns: 100", "ops_per_s/ci95_low: null");
	json_object_set_new(json_array_get(repeats, 0), "complete", json_false());
	GIVES(point_summary(repeats), "n: 2", "latency/max_ns: 500");
}

TEST(what_no_repeat_has_is_null)
{
	static const uint64_t mean = 100;
	json_auto_t *repeats = repeats_of(&mean, 1);

	GIVES(point_summary(repeats), "read_latency: null", "response_latency: null",
	      "late_ops: null", "max_lag_ns: null", "steps: null", "reverse: null", "verify: null");
}

TEST(late_operations_and_mismatches_are_added_up)
{
	json_auto_t *repeats = json_array();

	for (int i = 1; i <= 2; i++) {
		struct repeat r = made_repeat(100, 10);

		r.params.rate_per_s = 10;
		r.late_ops = 5 * (uint64_t)i;
		r.max_lag_ns = 7 * (uint64_t)i;
		r.server = json_pack("{s:{s:i, s:i}}", "verify", "checked_bytes", 100, "mismatches",
				     i);
		json_array_append_new(repeats, made_json(&r));
	}
	GIVES(point_summary(repeats), "late_ops: 15", "max_lag_ns: 14", "verify/checked_bytes: 200",
	      "verify/mismatches: 3");
}

TEST(both_directions_are_summarised)
{
	json_auto_t *repeats = json_array();

	for (uint64_t i = 1; i <= 2; i++) {
		struct repeat own = made_repeat(300 * i, 50), r = made_repeat(100, 10);

		r.server = json_pack("{s:o}", "reverse", repeat_own_json(&own));
		repeat_clear(&own);
		json_array_append_new(repeats, made_json(&r));
	}
	GIVES(point_summary(repeats), "ops_per_s/mean: 10", "reverse/ops_per_s/mean: 50",
	      "reverse/bytes_per_s/mean: 204800", "reverse/latency/count: 100",
	      "reverse/latency/max_ns: 600");
}

TEST(steps_are_summarised_by_name)
{
	static const uint64_t samples[] = {10, 20};
	json_auto_t *repeats = json_array();

	for (int i = 0; i < 2; i++) {
		struct repeat r = made_repeat(100, 2);

		r.params.test = BENCH_CONNECT;
		r.steps_count = 2;
		/* in either order */
		r.steps[i] = (struct repeat_step){"prepare", made_histogram(samples, 2)};
		r.steps[1 - i] = (struct repeat_step){"establish", made_histogram(samples, 1)};
		json_array_append_new(repeats, made_json(&r));
	}
	GIVES(point_summary(repeats), "steps/name=prepare/latency/count: 4",
	      "steps/name=establish/latency/count: 2", "bytes_per_s: null");
}

/* A hint names what a flagged repeat had more of than the others, and nothing else. */
TEST(a_flagged_repeat_has_hints)
{
	static const uint64_t means[] = {100, 101, 102, 101, 400};
	json_auto_t *repeats = json_array(), *summary = NULL;
	const json_t *flagged;

	for (size_t i = 0; i < 5; i++) {
		struct repeat r = made_repeat(means[i], 1000);

		r.index = (uint32_t)i;
		r.threads[0].invol_switches = i == 4 ? 40 : 3;
		r.threads[0].minor_faults = 9;
		r.server = json_pack("{s:{s:i}}", "counters", "1/hw_counters/rnr_nak_retry_err",
				     i == 4 ? 7 : 0);
		json_array_append_new(repeats, made_json(&r));
	}
	summary = point_summary(repeats);
	flagged = path_get(summary, "flagged_repeats");
	assert_int_equal(json_array_size(flagged), 1);
	flagged = json_array_get(flagged, 0);
	HOLDS(flagged, "index: 4", "hints: [2]");
	assert_string_equal(json_string_value(json_array_get(path_get(flagged, "hints"), 0)),
			    "client.invol_switches=40");
	assert_string_equal(json_string_value(json_array_get(path_get(flagged, "hints"), 1)),
			    "server.1/hw_counters/rnr_nak_retry_err=7");
}

TEST(warm_ups_are_added_up)
{
	static const struct {
		int first, second; /* 1 steady, 0 not, -1 unknown */
		int both;
	} cases[] = {{1, 1, 1}, {1, 0, 0}, {0, -1, 0}, {-1, 1, -1}, {-1, -1, -1}};
	static const double steady[] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
	static const double ramp[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *repeats = json_array(), *warmup;

		for (int k = 0; k < 2; k++) {
			int kind = k == 0 ? cases[i].first : cases[i].second;
			struct repeat r = made_repeat(100, 1);

			r.warmup.ops = 50;
			r.warmup.elapsed_ns = 1000;
			r.warmup.windows_used = kind < 0 ? 3 : MEASURE_WINDOWS;
			memcpy(r.warmup.windows, kind == 0 ? ramp : steady, sizeof(steady));
			json_array_append_new(repeats, made_json(&r));
		}
		warmup = point_joined(repeats, "warmup");
		HOLDS(warmup, "ops: 100", "ns: 2000");
		if (cases[i].both < 0)
			HOLDS(warmup, "steady: null");
		else
			assert_int_equal(json_is_true(path_get(warmup, "steady")), cases[i].both);
		json_decref(warmup);
		json_decref(repeats);
	}
}

/* Four of 990, four of 1010: deviation of logarithms 0.01069, half width 0.894 %, upwards 0.898 %
 */
TEST(an_interval_may_be_narrow_enough)
{
	static const uint64_t means[] = {990, 1010, 990, 1010, 990, 1010, 990, 1010};
	json_auto_t *repeats = repeats_of(means, 8), *few = repeats_of(means, 7);

	assert_true(point_is_narrow(repeats, BENCH_LAT, 0.0090));
	assert_false(point_is_narrow(repeats, BENCH_LAT, 0.0089));
	/* the rates are all the same */
	assert_true(point_is_narrow(repeats, BENCH_BW, 0.0001));
	assert_false(point_is_narrow(few, BENCH_BW, 0.5));
	assert_false(point_is_narrow(NULL, BENCH_BW, 0.5));
}

/* Under a set rate the answers are what users wait for, not the operations. */
TEST(for_a_rate_the_response_must_be_narrow)
{
	json_auto_t *repeats = json_array();

	for (uint64_t i = 0; i < 8; i++) {
		struct repeat r = made_repeat(100, 10);

		r.params.rate_per_s = 10;
		r.response = made_histogram((const uint64_t[]){UINT64_C(200) << i}, 1);
		json_array_append_new(repeats, made_json(&r));
	}
	assert_true(point_is_narrow(repeats, BENCH_LAT, 0.001));
	assert_false(point_is_narrow(repeats, BENCH_RATE, 0.5));
}

TEST(repeats_without_samples_are_summarised)
{
	struct repeat r = made_repeat(0, 0);
	json_auto_t *repeats = json_pack("[o]", made_json(&r)), *summary = point_summary(repeats);

	HOLDS(summary, "latency: null", "n: 1");
}
