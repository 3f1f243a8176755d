/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_slo.c -- what is a gate, and which points keep it.
 */
#include <errno.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tools/common/base/failure.h"
#include "tools/rpma-bench/options/slo.h"

/* One point: 1000.5 operations a second, a p99.9 of 4999, no reads. */
static const char complete[] =
	"[{\"id\": \"p0000\", \"repeats\": [{\"complete\": true}], \"summary\": {"
	"\"ops_per_s\": {\"mean\": 1000.5}, \"bytes_per_s\": null, \"late_ops\": 0, "
	"\"unbegun_ops\": 3,"
	"\"read_latency\": null, \"reverse\": {\"ops_per_s\": {\"mean\": 7},"
	"\"latency\": {\"min_ns\": 3, \"max_ns\": 9}},"
	"\"latency\": {\"min_ns\": 100, \"max_ns\": 90000, \"mean_ns\": {\"mean\": 250.25},"
	"\"percentiles\": [{\"p\": 0.5, \"ns\": 200}, {\"p\": 0.999, \"ns\": 4999},"
	"{\"p\": 0.9999, \"ns\": null}]}}}]";

static bool missed_by(const char *points_text, const char *gate)
{
	json_t *points = json_loads(points_text, 0, NULL), *list;
	bool missed;

	assert_non_null(points);
	if (gate_check(gate) != 0)
		fail_msg("%s", failure_get()->text);
	list = gates_judge(&gate, 1, points, &missed);
	assert_int_equal(json_array_size(list), 1);
	assert_int_equal(json_is_true(json_object_get(json_array_get(list, 0), "missed")), missed);
	json_decref(list);
	json_decref(points);
	return missed;
}

static void gates_are_kept_or_missed(void **state)
{
	static const struct {
		const char *gate;
		bool missed;
	} cases[] = {
		{"lat.p99.9_ns<5000", false},	 {"lat.p99.9_ns<4999", true},
		{"lat.p99.9_ns<=4999", false},	 {"lat.p99.9_ns>=4999", false},
		{"lat.p99.9_ns>4999", true},	 {" lat.p50_ns  <  2.001e2 ", false},
		{"lat.min_ns>99", false},	 {"lat.max_ns<90000", true},
		{"lat.mean_ns<250.3", false},	 {"ops_per_s>1000", false},
		{"ops_per_s>1e10", true},	 {"late_ops<=0", false},
		{"late_ops<1", false},		 {"reverse.ops_per_s>=7", false},
		{"unbegun_ops<3", true},	 {"reverse.max_ns<9", true},
		{"lat.p99.9<5us", false},	 {"lat.p99.9<4.999us", true},
		{"lat.p99.9 <= 4999ns ", false}, {"lat.max<0.09 ms", true},
		{"lat.max<1s", false},		 {"ops_per_s>1k", false},
		{"ops_per_s>1.001k", true},	 {"ops_per_s<1M", false},
		{"reverse.ops_per_s<1G", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (missed_by(complete, cases[i].gate) != cases[i].missed)
			fail_msg("%s", cases[i].gate);
	}
}

static void what_is_not_known_misses(void **state)
{
	assert_true(missed_by(complete, "lat.p99.99_ns<1e9"));
	assert_true(missed_by(complete, "lat.p99.99_ns>0"));
	assert_true(missed_by(complete, "lat.p99.999_ns<1e9"));
	assert_true(missed_by(complete, "bytes_per_s>=0"));
	assert_true(missed_by(complete, "read.p50_ns<1e9"));
	assert_true(missed_by(complete, "response.p50_ns<1e9"));
	assert_true(missed_by(complete, "verify.mismatches<=0"));
}

/* Repeats that were stopped early prove nothing; neither does a run without points. */
static void only_complete_repeats_keep_a_gate(void **state)
{
	const char *at = strstr(complete, "true");
	char text[2 * sizeof(complete)];

	snprintf(text, sizeof(text), "%.*snull%s", (int)(at - complete), complete,
		 at + strlen("true"));
	assert_true(missed_by(text, "ops_per_s>0"));
	assert_true(missed_by("[]", "ops_per_s>0"));
}

static void a_gate_of_one_point_may_be_unknown(void **state)
{
	static const struct {
		const char *gate;
		enum gate_verdict verdict;
		double quantile;
	} cases[] = {
		{"lat.p99.9<5us", GATE_KEPT, 0.999},
		{"lat.p99.9_ns<4999", GATE_MISSED, 0.999},
		{"lat.p99.99<5us", GATE_UNKNOWN, 0.9999},
		{"read.p50<5us", GATE_UNKNOWN, 0.5},
		{"lat.max<1s", GATE_KEPT, 0},
		{"late_ops<1", GATE_KEPT, 0},
	};
	json_t *points = json_loads(complete, 0, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double value = 0;

		assert_int_equal(gate_of_point(cases[i].gate, json_array_get(points, 0), &value),
				 cases[i].verdict);
		assert_int_equal(value != value, cases[i].verdict == GATE_UNKNOWN);
		assert_true(gate_quantile(cases[i].gate) == cases[i].quantile);
	}
	json_decref(points);
}

static void each_point_is_judged(void **state)
{
	const char *gate = "ops_per_s>5";
	json_t *points = json_loads("[{\"id\": \"p0000\", \"repeats\": [{\"complete\": true}],"
				    "\"summary\": {\"ops_per_s\": {\"mean\": 10}}},"
				    "{\"id\": \"p0001\", \"repeats\": [{\"complete\": true}],"
				    "\"summary\": {\"ops_per_s\": {\"mean\": 3}}}]",
				    0, NULL);
	json_t *list, *expected;
	bool missed;

	list = gates_judge(&gate, 1, points, &missed);
	expected = json_pack("[{s:s, s:b, s:[{s:s, s:f, s:b}, {s:s, s:f, s:b}]}]", "gate", gate,
			     "missed", 1, "points", "id", "p0000", "value", 10.0, "missed", 0, "id",
			     "p0001", "value", 3.0, "missed", 1);
	assert_true(missed);
	assert_true(json_equal(list, expected));
	json_decref(list);
	json_decref(expected);
	json_decref(points);
}

/* All points are listed, as older readers want it; those of another test are not missed. */
static void a_limit_of_a_test_leaves_the_others_alone(void **state)
{
	const char *gates[] = {"bw:ops_per_s>5", " lat: ops_per_s > 5"};
	json_t *points =
		json_loads("[{\"id\": \"p0000\", \"params\": {\"test\": \"lat\"}, \"repeats\": "
			   "[{\"complete\": true}], \"summary\": {\"ops_per_s\": {\"mean\": 1}}},"
			   "{\"id\": \"p0001\", \"params\": {\"test\": \"bw\"}, \"repeats\": "
			   "[{\"complete\": true}], \"summary\": {\"ops_per_s\": {\"mean\": 9}}}]",
			   0, NULL);
	json_t *list, *expected;
	bool missed;

	list = gates_judge(gates, 1, points, &missed);
	expected = json_pack("[{s:s, s:b, s:[{s:s, s:n, s:b, s:b}, {s:s, s:f, s:b}]}]", "gate",
			     gates[0], "missed", 0, "points", "id", "p0000", "value", "missed", 0,
			     "applies", 0, "id", "p0001", "value", 9.0, "missed", 0);
	assert_false(missed);
	assert_true(json_equal(list, expected));
	json_decref(list);
	json_decref(expected);
	json_decref(gates_judge(gates, 2, points, &missed));
	assert_true(missed);
	json_decref(points);
}

static void a_limit_knows_its_test(void **state)
{
	assert_true(gate_applies("ops_per_s>5", BENCH_BW));
	assert_true(gate_applies("bw:ops_per_s>5", BENCH_BW));
	assert_false(gate_applies("bw:ops_per_s>5", BENCH_LAT));
	assert_int_equal(gate_check("register:ops_per_s>5"), 0);
	assert_int_equal(gate_check("bww:ops_per_s>5"), -EINVAL);
	assert_non_null(strstr(failure_get()->text, "no test bww"));
	assert_non_null(strstr(failure_get()->text, "did you mean bw?"));
}

static void without_gates_none_is_missed(void **state)
{
	json_t *points = json_array(), *list;
	bool missed = true;

	list = gates_judge(NULL, 0, points, &missed);
	assert_false(missed);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	json_decref(points);
}

static void what_is_no_gate_is_refused(void **state)
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
		if (gate_check(texts[i]) == 0)
			fail_msg("\"%s\" was taken for a gate", texts[i]);
		assert_int_equal(failure_get()->code, EXIT_WRONG_USAGE);
		assert_non_null(strstr(failure_get()->text, texts[i]));
	}
}

/* What --help lists is what can be asked. */
static void every_metric_that_is_named_is_known(void **state)
{
	static const char *const names[] = {
		"ops_per_s",	     "bytes_per_s",	    "late_ops",		"max_lag_ns",
		"reverse.ops_per_s", "reverse.bytes_per_s", "verify.mismatches"};
	static const char *const latencies[] = {"lat", "read", "response", "reverse"};
	static const char *const figures[] = {
		".min_ns", ".mean_ns",	".max_ns",    ".p50_ns",     ".p90_ns",	    ".p95_ns",
		".p99_ns", ".p99.9_ns", ".p99.99_ns", ".p99.999_ns", ".p99.9999_ns"};
	char gate[80];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_non_null(strstr(gate_metrics, names[i]));
		snprintf(gate, sizeof(gate), "%s<1", names[i]);
		assert_int_equal(gate_check(gate), 0);
	}
	for (size_t i = 0; i < 4 * 11; i++) {
		assert_non_null(strstr(gate_metrics, figures[i % 11]));
		snprintf(gate, sizeof(gate), "%s%s<1", latencies[i / 11], figures[i % 11]);
		assert_int_equal(gate_check(gate), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gates_are_kept_or_missed),
		cmocka_unit_test(what_is_not_known_misses),
		cmocka_unit_test(only_complete_repeats_keep_a_gate),
		cmocka_unit_test(a_gate_of_one_point_may_be_unknown),
		cmocka_unit_test(each_point_is_judged),
		cmocka_unit_test(a_limit_of_a_test_leaves_the_others_alone),
		cmocka_unit_test(a_limit_knows_its_test),
		cmocka_unit_test(without_gates_none_is_missed),
		cmocka_unit_test(what_is_no_gate_is_refused),
		cmocka_unit_test(every_metric_that_is_named_is_known),
	};

	return cmocka_run_group_tests_name("bench.gate", tests, NULL, NULL);
}
