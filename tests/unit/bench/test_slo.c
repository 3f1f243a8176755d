/* SPDX-License-Identifier: BSD-3-Clause */
/* test_slo.c -- what is an SLO, and which points keep it. */
#include "common/base/failure.h"
#include "tests/lib/test.h"
#include "tools/rpma-bench/options/slo.h"

#define REPEAT                                                                                     \
	"{\"complete\": true, \"ops_per_s\": 1000.5, \"late_ops\": 0, \"unbegun_ops\": 0, "        \
	"\"max_lag_ns\": 4, \"latency\": {\"count\": 20}, \"response_latency\": {\"count\": 20}, " \
	"\"reverse\": {\"ops_per_s\": 7, \"latency\": {\"count\": 7}}, "                           \
	"\"verify\": {\"mismatches\": 0}}"

/* One point: 1000.5 operations a second, a p99.9 of 4999, no reads. */
static const char complete[] =
	"[{\"id\": \"p0000\", \"repeats\": [" REPEAT "], \"summary\": {"
	"\"ops_per_s\": {\"mean\": 1000.5}, \"bytes_per_s\": null, \"late_ops\": 0, "
	"\"unbegun_ops\": 0,"
	"\"read_latency\": null, \"reverse\": {\"ops_per_s\": {\"mean\": 7},"
	"\"latency\": {\"min_ns\": 3, \"max_ns\": 9}},"
	"\"latency\": {\"min_ns\": 100, \"max_ns\": 90000, \"mean_ns\": {\"mean\": 250.25},"
	"\"percentiles\": [{\"p\": 0.5, \"ns\": 200}, {\"p\": 0.999, \"ns\": 4999},"
	"{\"p\": 0.9999, \"ns\": null}]}}}]";

static enum slo_verdict verdict_by(const char *points_text, const char *slo)
{
	json_t *points = json_loads(points_text, 0, NULL), *list;
	const json_t *missed;
	enum slo_verdict verdict;

	assert_non_null(points);
	if (slo_check(slo) != 0)
		fail_msg("%s", failure_get()->text);
	list = slos_judge(&slo, 1, points, &verdict);
	assert_int_equal(json_array_size(list), 1);
	missed = json_object_get(json_array_get(list, 0), "missed");
	EQUAL((json_is_true(missed), verdict == SLO_MISSED),
	      (json_is_null(missed), verdict == SLO_UNKNOWN));
	json_decref(list);
	json_decref(points);
	return verdict;
}

TEST(slos_are_kept_or_missed)
{
	static const struct {
		const char *slo;
		bool missed;
	} cases[] = {
		{"lat.p99.9_ns<5000", false},	 {"lat.p99.9_ns<4999", true},
		{"lat.p99.9_ns<=4999", false},	 {"lat.p99.9_ns>=4999", false},
		{"lat.p99.9_ns>4999", true},	 {" lat.p50_ns  <  2.001e2 ", false},
		{"lat.min_ns>99", false},	 {"lat.max_ns<90000", true},
		{"lat.mean_ns<250.3", false},	 {"ops_per_s>1000", false},
		{"ops_per_s>1e10", true},	 {"late_ops<=0", false},
		{"late_ops<1", false},		 {"reverse.ops_per_s>=7", false},
		{"unbegun_ops<=0", false},	 {"reverse.max_ns<9", true},
		{"lat.p99.9<5us", false},	 {"lat.p99.9<4.999us", true},
		{"lat.p99.9 <= 4999ns ", false}, {"lat.max<0.09 ms", true},
		{"lat.max<1s", false},		 {"ops_per_s>1k", false},
		{"ops_per_s>1.001k", true},	 {"ops_per_s<1M", false},
		{"reverse.ops_per_s<1G", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (verdict_by(complete, cases[i].slo) != (cases[i].missed ? SLO_MISSED : SLO_KEPT))
			fail_msg("%s", cases[i].slo);
	}
}

TEST(what_is_not_known_is_neither_kept_nor_missed)
{
	static const char *const slos[] = {
		"lat.p99.99_ns<1e9", "lat.p99.99_ns>1e9",   "lat.p99.999_ns<1e9", "bytes_per_s>=0",
		"read.p50_ns<1e9",   "response.p50_ns<1e9", "read.max<1s",
	};

	for (size_t i = 0; i < sizeof(slos) / sizeof(slos[0]); i++) {
		if (verdict_by(complete, slos[i]) != SLO_UNKNOWN)
			fail_msg("%s", slos[i]);
	}
	/* verify.mismatches of a run without --verify */
	assert_int_equal(verdict_by(complete, "verify.mismatches<=0"), SLO_UNKNOWN);
}

/* A quantile is not below a lower one. */
TEST(a_lower_quantile_can_miss_for_one_that_is_not_known)
{
	EQUAL((verdict_by(complete, "lat.p99.99_ns<4999"), SLO_MISSED),
	      (verdict_by(complete, "lat.p99.99_ns<=4999"), SLO_UNKNOWN),
	      (verdict_by(complete, "lat.p99.99_ns>4998"), SLO_KEPT));
}

/* Two repeats of a plan that the path could not keep: its p50 is known, its p99 is not. */
static const char overloaded[] =
	"[{\"id\": \"p0000\", \"params\": {\"test\": \"rate\"}, \"stop\": {\"duration_ns\": "
	"50000}, "
	"\"repeats\": [" REPEAT ", " REPEAT
	"], \"summary\": {\"ops_per_s\": {\"mean\": 500}, \"late_ops\": 90, \"unbegun_ops\": 100, "
	"\"max_lag_ns\": 7500, \"latency\": {\"max_ns\": 10, \"mean_ns\": {\"mean\": 10}, "
	"\"percentiles\": [{\"p\": 0.5, \"ns\": 10}]}, \"response_latency\": {\"unbegun_ops\": "
	"100, \"min_ns\": 10, "
	"\"max_ns\": null, \"mean_ns\": null, \"percentiles\": [{\"p\": 0.5, \"ns\": 7500}, "
	"{\"p\": 0.99, \"ns\": null}]}}}]";

TEST(what_was_never_begun_keeps_no_slo)
{
	static const struct {
		const char *slo;
		enum slo_verdict verdict;
	} cases[] = {
		{"response.p99<95ms", SLO_UNKNOWN},
		{"response.p99<7us", SLO_MISSED},
		{"response.p50<8us", SLO_KEPT},
		{"response.p50<7us", SLO_MISSED},
		{"response.mean<1s", SLO_UNKNOWN},
		{"response.max<1s", SLO_UNKNOWN},
		/* in a plan of 50 us, what was never begun waited for as long at least */
		{"response.p99<50us", SLO_MISSED},
		{"response.p99<=50us", SLO_UNKNOWN},
		{"response.p99>40us", SLO_KEPT},
		{"response.mean<7us", SLO_UNKNOWN},
		{"response.max<40us", SLO_MISSED},
		{"response.max<7us", SLO_MISSED},
		{"lat.p50<1s", SLO_UNKNOWN},
		{"lat.p50<1ns", SLO_UNKNOWN},
		{"lat.mean<1s", SLO_UNKNOWN},
		{"lat.max<1s", SLO_UNKNOWN},
		{"late_ops<1000", SLO_UNKNOWN},
		{"late_ops<90", SLO_MISSED},
		{"max_lag<1s", SLO_UNKNOWN},
		{"max_lag<1us", SLO_MISSED},
		{"unbegun_ops<=0", SLO_MISSED},
		{"unbegun_ops<=100", SLO_KEPT},
		{"ops_per_s>400", SLO_KEPT},
		{"ops_per_s>600", SLO_MISSED},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (verdict_by(overloaded, cases[i].slo) != cases[i].verdict)
			fail_msg("%s", cases[i].slo);
	}
}

/* The summary is of those repeats that have a figure; an SLO wants it of all. */
TEST(a_figure_of_some_repeats_is_not_of_the_point)
{
	static const char half[] =
		"[{\"id\": \"p0000\", \"repeats\": [" REPEAT
		", {\"complete\": true}], \"summary\": "
		"{\"ops_per_s\": {\"mean\": 9}, \"verify\": {\"mismatches\": 3}, "
		"\"reverse\": {\"ops_per_s\": {\"mean\": 9}}, "
		"\"latency\": {\"min_ns\": 1, \"max_ns\": 5, \"mean_ns\": {\"mean\": 3}}}}]";

	EQUAL((verdict_by(half, "ops_per_s>1"), SLO_UNKNOWN),
	      (verdict_by(half, "reverse.ops_per_s>1"), SLO_UNKNOWN),
	      (verdict_by(half, "lat.max<1s"), SLO_UNKNOWN),
	      (verdict_by(half, "lat.mean<1s"), SLO_UNKNOWN));
	/* what the others say can only add to what is wrong */
	EQUAL((verdict_by(half, "verify.mismatches<=3"), SLO_UNKNOWN),
	      (verdict_by(half, "verify.mismatches<=2"), SLO_MISSED));
}

/* Repeats that were stopped early prove nothing; neither does a run without points. */
TEST(only_complete_repeats_keep_an_slo)
{
	const char *at = strstr(complete, "true");
	char text[2 * sizeof(complete)];

	snprintf(text, sizeof(text), "%.*snull%s", (int)(at - complete), complete,
		 at + strlen("true"));
	EQUAL((verdict_by(text, "ops_per_s>0"), SLO_UNKNOWN),
	      (verdict_by("[]", "ops_per_s>0"), SLO_UNKNOWN));
}

TEST(an_slo_of_one_point_may_be_unknown)
{
	static const struct {
		const char *slo;
		enum slo_verdict verdict;
		double quantile;
	} cases[] = {
		{"lat.p99.9<5us", SLO_KEPT, 0.999},
		{"lat.p99.9_ns<4999", SLO_MISSED, 0.999},
		{"lat.p99.99<5us", SLO_UNKNOWN, 0.9999},
		{"read.p50<5us", SLO_UNKNOWN, 0.5},
		{"lat.max<1s", SLO_KEPT, 0},
		{"late_ops<1", SLO_KEPT, 0},
	};
	json_auto_t *points = json_loads(complete, 0, NULL);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double value = 0;

		EQUAL((slo_of_point(cases[i].slo, json_array_get(points, 0), &value),
		       cases[i].verdict),
		      (value != value, cases[i].verdict == SLO_UNKNOWN));
		assert_true(slo_quantile(cases[i].slo) == cases[i].quantile);
	}
}

TEST(each_point_is_judged)
{
	const char *slo = "ops_per_s>5";
	json_auto_t *points = json_loads("[{\"id\": \"p0000\", \"repeats\": [" REPEAT "],"
					 "\"summary\": {\"ops_per_s\": {\"mean\": 10}}},"
					 "{\"id\": \"p0001\", \"repeats\": [" REPEAT "],"
					 "\"summary\": {\"ops_per_s\": {\"mean\": 3}}}]",
					 0, NULL);
	json_auto_t *list = NULL, *expected = NULL;
	enum slo_verdict verdict;

	list = slos_judge(&slo, 1, points, &verdict);
	expected = json_pack("[{s:s, s:b, s:[{s:s, s:f, s:b}, {s:s, s:f, s:b}]}]", "slo", slo,
			     "missed", 1, "points", "id", "p0000", "value", 10.0, "missed", 0, "id",
			     "p0001", "value", 3.0, "missed", 1);
	EQUAL((verdict, SLO_MISSED), (json_equal(list, expected), true));
}

/* All points are listed, as older readers want it; those of another test are not missed. */
TEST(a_limit_of_a_test_leaves_the_others_alone)
{
	const char *slos[] = {"bw:ops_per_s>5", " lat: ops_per_s > 5"};
	json_auto_t *points =
		json_loads("[{\"id\": \"p0000\", \"params\": {\"test\": \"lat\"}, \"repeats\": "
			   "[" REPEAT "], \"summary\": {\"ops_per_s\": {\"mean\": 1}}},"
			   "{\"id\": \"p0001\", \"params\": {\"test\": \"bw\"}, \"repeats\": "
			   "[" REPEAT "], \"summary\": {\"ops_per_s\": {\"mean\": 9}}}]",
			   0, NULL);
	json_t *list, *expected;
	enum slo_verdict verdict;

	list = slos_judge(slos, 1, points, &verdict);
	expected = json_pack("[{s:s, s:b, s:[{s:s, s:n, s:b, s:b}, {s:s, s:f, s:b}]}]", "slo",
			     slos[0], "missed", 0, "points", "id", "p0000", "value", "missed", 0,
			     "applies", 0, "id", "p0001", "value", 9.0, "missed", 0);
	EQUAL((verdict, SLO_KEPT), (json_equal(list, expected), true));
	json_decref(list);
	json_decref(expected);
	json_decref(slos_judge(slos, 2, points, &verdict));
	assert_int_equal(verdict, SLO_MISSED);
}

TEST(a_limit_knows_its_test)
{
	EQUAL((slo_applies("ops_per_s>5", BENCH_BW), true),
	      (slo_applies("bw:ops_per_s>5", BENCH_BW), true),
	      (slo_applies("bw:ops_per_s>5", BENCH_LAT), false),
	      (slo_check("register:ops_per_s>5"), 0), (slo_check("bww:ops_per_s>5"), -EINVAL),
	      (failure_get()->text, HAS("no test bww")),
	      (failure_get()->text, HAS("did you mean bw?")));
}

TEST(without_slos_none_is_missed)
{
	json_auto_t *points = json_array(), *list = NULL;
	enum slo_verdict verdict = SLO_MISSED;

	list = slos_judge(NULL, 0, points, &verdict);
	EQUAL((verdict, SLO_KEPT), (json_array_size(list), 0));
}

TEST(what_is_no_slo_is_refused)
{
	static const char *const texts[] = {
		"",
		"<",
		"lat.p50_ns",
		"lat.p50_ns<",
		"<5",
		"lat.p50_ns=5",
		"lat.p50_ns==5",
		"lat.p50_ns<5us",
		"lat.p50_ns<nan",
		"lat.p50_ns<inf",
		"lat.p50_ns<0x10",
		"lat.p50_ns<1e999",
		"lat.p50_ns<5 6",
		"lat.p50_ns<5k",
		"lat.p50<5k",
		"lat.p50<us",
		"lat.p50<5us6",
		"lat.p50<5u",
		"lat.p51<5us",
		"ops_per_s<5us",
		"ops_per_s<5 k 6",
		"ops_per_s<k",
		"ops_per_s<1e308G",
		"lat.p99.9lat.p99.9lat.p99.9lat.p99.9lat.p99.9lat.p99.9lat.p99.9<5us",
		"lat.p50_ns<<5",
		"lat.p50_ns<>5",
		"lat.p51_ns<5",
		"lat.p50<5",
		"lat.<5",
		"lat<5",
		"latency.p50_ns<5",
		"p50_ns<5",
		"reads.p50_ns<5",
		"lat.min_ns.max_ns<5",
		"ops<5",
		"bw:",
		":ops_per_s<5",
		"bw:lat:ops_per_s<5",
		"lat.p99.9_nslat.p99.9_nslat.p99.9_nslat.p99.9_nslat.p99.9_nslat.p99.9_ns<5",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (slo_check(texts[i]) == 0)
			fail_msg("\"%s\" was taken for an SLO", texts[i]);
		assert_int_equal(failure_get()->code, EXIT_WRONG_USAGE);
		assert_non_null(strstr(failure_get()->text, texts[i]));
	}
}

/* Any metric that --help lists can be asked for. */
TEST(every_metric_that_is_named_is_known)
{
	static const char *const names[] = {
		"ops_per_s",	     "bytes_per_s",	    "late_ops",		"max_lag_ns",
		"reverse.ops_per_s", "reverse.bytes_per_s", "verify.mismatches"};
	static const char *const latencies[] = {"lat", "read", "response", "reverse"};
	static const char *const figures[] = {
		".min_ns", ".mean_ns",	".max_ns",    ".p50_ns",     ".p90_ns",	    ".p95_ns",
		".p99_ns", ".p99.9_ns", ".p99.99_ns", ".p99.999_ns", ".p99.9999_ns"};
	char slo[80];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_non_null(strstr(slo_metrics, names[i]));
		snprintf(slo, sizeof(slo), "%s<1", names[i]);
		assert_int_equal(slo_check(slo), 0);
	}
	for (size_t i = 0; i < 4 * 11; i++) {
		assert_non_null(strstr(slo_metrics, figures[i % 11]));
		snprintf(slo, sizeof(slo), "%s%s<1", latencies[i / 11], figures[i % 11]);
		assert_int_equal(slo_check(slo), 0);
	}
}
