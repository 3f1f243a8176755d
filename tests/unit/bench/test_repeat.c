/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_repeat.c -- a repeat as JSON: exact where measured, null where not, and
 * nothing of a server's report that is not what it should be.
 */
#include "common/json/result.h"
#include "made_repeat.h"
#include "tools/rpma-bench/result/repeat_schema.h"

static json_t *with_report(struct repeat *r, const char *report)
{
	r->server = json_loads(report, 0, NULL);
	assert_non_null(r->server);
	return made_json(r);
}

TEST(figures_are_exact)
{
	struct repeat r = made_repeat(2500, 4000);

	r.index = 3;
	r.order = 17;
	r.elapsed_ns = 500000000;
	GIVES(made_json(&r), "index: 3", "order: 17", "ops: 4000", "bytes: 16384000",
	      "latency/count: 4000", "latency/max_ns: 2500", "threads/index=0/cpu: 2",
	      "ops_per_s: 8000", "bytes_per_s: 32768000");
}

TEST(what_was_not_measured_is_null)
{
	struct repeat r = made_repeat(1000, 5);

	GIVES(made_json(&r), "read_ops: null", "read_latency: null", "response_latency: null",
	      "late_ops: null", "max_lag_ns: null", "steps: null", "intervals: null",
	      "warmup/steady: null", "cpu/server: null", "verify: null", "requests: null",
	      "reverse: null", "counters/client: null", "counters/server: null", "used/flush: null",
	      "used/flush_method: null", "placement/server: null",
	      "used/atomic_write_method: null");
}

/* By which ranks merge them, and which CSV has, too. */
TEST(keys_have_the_order_of_their_rows)
{
	struct repeat r = made_repeat(1000, 5);
	json_t *json = made_json(&r), *value;
	const struct schema *field = repeat_fields;
	const char *key;

	json_object_foreach(json, key, value) {
		assert_string_equal(key, field->key);
		field++;
	}
	assert_null(field->key);
	json_decref(json);
}

TEST(counts_beyond_2_to_53_stay_exact)
{
	const uint64_t large = (1ULL << 53) + 1;
	struct repeat r = made_repeat(7, 1);
	json_auto_t *json = NULL, *back = NULL;
	char *text;

	r.params.size_bytes = 1;
	r.ops = large;
	r.threads[0].minor_faults = large;
	r.usage.counters = json_pack("{s:I}", "1/counters/x", (json_int_t)large);
	json = made_json(&r);
	text = json_dumps(json, JSON_REAL_PRECISION(15));
	back = json_loads(text, 0, NULL);
	EQUAL((whole_at(back, "ops"), large), (whole_at(back, "bytes"), large),
	      (whole_at(back, "threads/index=0/minor_faults"), large));
	assert_int_equal(json_integer_value(json_object_get(path_get(back, "counters/client"),
							    "1/counters/x")),
			 large);
	free(text);
}

TEST(an_open_loop_tells_its_lag)
{
	static const uint64_t waits[] = {5000, 9000};
	struct repeat r = made_repeat(1000, 2);

	r.params.test = BENCH_RATE;
	r.params.rate_per_s = 1000;
	r.response = made_histogram(waits, 2);
	r.late_ops = 2;
	r.max_lag_ns = 8000;
	GIVES(made_json(&r), "response_latency/max_ns: 9000", "latency/max_ns: 1000", "late_ops: 2",
	      "max_lag_ns: 8000");
}

/* Two of four planned operations began; the others are beyond both. */
TEST(an_operation_that_was_never_begun_leaves_mean_and_maximum_unknown)
{
	static const uint64_t waits[] = {5000, 9000};
	struct repeat r = made_repeat(1000, 2);
	struct histogram back;
	json_auto_t *json = NULL;

	r.params.test = BENCH_RATE;
	r.params.rate_per_s = 1000;
	r.response = made_histogram(waits, 2);
	r.response->unbegun = r.unbegun_ops = 2;
	json = made_json(&r);
	HOLDS(json, "unbegun_ops: 2", "response_latency/unbegun_ops: 2",
	      "response_latency/min_ns: 5000", "response_latency/max_ns: null",
	      "response_latency/mean_ns: null", "response_latency/stddev_ns: null",
	      "latency/max_ns: 1000");
	EQUAL((result_read_latency(path_get(json, "response_latency"), &back), 0),
	      (back.unbegun, 2));
	json_object_set_new(json_object_get(json, "response_latency"), "max_ns",
			    json_integer(9000));
	assert_int_equal(result_read_latency(path_get(json, "response_latency"), &back), -EINVAL);
}

/* A plan may be over before its time is. */
TEST(a_process_is_busy_by_the_time_it_measured)
{
	struct repeat r = made_repeat(1000, 1);

	r.usage.wall_ns = 200000;
	r.usage.user_ns = 120000;
	r.usage.sys_ns = 30000;
	GIVES(made_json(&r), "cpu/client/busy_fraction: 0.75");
}

TEST(a_mix_has_two_latencies)
{
	static const uint64_t reads[] = {10, 20, 30};
	struct repeat r = made_repeat(1000, 2);

	r.params.test = BENCH_MIX;
	r.read_latency = made_histogram(reads, 3);
	r.read_ops = 3;
	r.ops = 5;
	GIVES(made_json(&r), "read_ops: 3", "read_latency/count: 3", "latency/count: 2",
	      "bytes: 20480");
}

TEST(a_connection_moves_no_bytes)
{
	static const uint64_t steps[] = {100, 200};
	struct repeat r = made_repeat(1000, 2);

	r.params.test = BENCH_CONNECT;
	r.latency_kind = "connect";
	r.steps_count = 1;
	r.steps[0] = (struct repeat_step){"prepare", made_histogram(steps, 2)};
	GIVES(made_json(&r), "bytes: null", "bytes_per_s: null",
	      "steps/name=prepare/latency/max_ns: 200");
}

TEST(the_way_of_the_flush_is_told)
{
	struct repeat r = made_repeat(1000, 2);

	r.params.persist = BENCH_NATIVE;
	r.flush = "persistent";
	r.native_flush = true;
	r.latency_kind = "write_flush_native";
	GIVES(made_json(&r), "used/persist: native", "used/flush: persistent",
	      "used/flush_method: native", "used/latency_kind: write_flush_native");
}

TEST(the_way_of_the_atomic_write_is_told)
{
	for (int native = 0; native <= 1; native++) {
		struct repeat r = made_repeat(1000, 2);

		r.atomic_writes = true;
		r.native_atomic_write = native;
		GIVES(made_json(&r), native ? "used/atomic_write_method: native"
					    : "used/atomic_write_method: write");
	}
}

TEST(intervals_without_samples_know_nothing)
{
	struct repeat r = made_repeat(1000, 2);

	r.intervals_count = 3;
	r.intervals = calloc(3, sizeof(*r.intervals));
	r.intervals[0] = (struct measure_interval){.t_ns = 100, .ops = 30, .max_ns = 7};
	r.intervals[1] = (struct measure_interval){
		.t_ns = 200, .ops = 0, .percentiles_known = false, .max_ns = 0};
	/* reads of a mix: the samples are of its writes */
	r.intervals[2] = (struct measure_interval){.t_ns = 300, .ops = 5};
	GIVES(made_json(&r), "intervals/t_ns=100/bytes: 122880", "intervals/t_ns=100/max_ns: 7",
	      "intervals/t_ns=100/p99_ns: null", "intervals/t_ns=200/max_ns: null",
	      "intervals/t_ns=300/max_ns: null");
}

TEST(a_good_report_is_taken_over)
{
	struct repeat r = made_repeat(1000, 2);
	json_auto_t *json = with_report(
		&r, "{\"elapsed_ns\": 1000, \"user_ns\": 200, \"sys_ns\": 300,"
		    "\"load_fraction_measured\": 0.5, \"requests\": 12,"
		    "\"counters\": {\"1/hw_counters/x\": 4},"
		    "\"verify\": {\"checked_bytes\": 8192, \"mismatches\": 1, \"first_offset\": 64,"
		    "\"method\": \"server_compare\"},"
		    "\"placement\": {\"policy\": \"auto\", \"cpus\": [3, null], \"node\": 0},"
		    "\"warnings\": [{\"code\": \"PIN_FAILED\", \"text\": \"a word\"}]}");

	HOLDS(json, "cpu/server/busy_fraction: 0.5", "cpu/server/load_fraction_measured: 0.5",
	      "requests: 12");
	assert_int_equal(json_integer_value(json_object_get(path_get(json, "counters/server"),
							    "1/hw_counters/x")),
			 4);
	HOLDS(json, "verify/mismatches: 1", "verify/first_offset: 64", "placement/server/node: 0",
	      "warnings/code=PIN_FAILED/text: a word");
}

/* Each report has one member in a form that is not allowed; the path is null then. */
TEST(a_wrong_report_is_not_believed)
{
	static const struct {
		const char *report;
		const char *path;
	} cases[] = {
		{"[]", "cpu/server"},
		{"{\"elapsed_ns\": 0, \"user_ns\": 5}", "cpu/server"},
		{"{\"elapsed_ns\": -5, \"user_ns\": 5}", "cpu/server"},
		{"{\"elapsed_ns\": \"5\"}", "cpu/server"},
		{"{\"elapsed_ns\": 5, \"load_fraction_measured\": 1.5}",
		 "cpu/server/load_fraction_measured"},
		{"{\"elapsed_ns\": 5, \"load_fraction_measured\": -0.1}",
		 "cpu/server/load_fraction_measured"},
		{"{\"elapsed_ns\": 5, \"load_fraction_measured\": \"0.1\"}",
		 "cpu/server/load_fraction_measured"},
		{"{\"requests\": -1}", "requests"},
		{"{\"requests\": 1.5}", "requests"},
		{"{\"requests\": 9223372036854775807}", "requests"},
		{"{\"reverse\": {\"ops\": 4503599627370496, \"elapsed_ns\": 5}}", "reverse/bytes"},
		{"{\"requests\": {}}", "requests"},
		{"{\"counters\": [1]}", "counters/server"},
		{"{\"verify\": {\"mismatches\": 0}}", "verify"},
		{"{\"verify\": {\"checked_bytes\": 1, \"mismatches\": false}}", "verify"},
		{"{\"verify\": []}", "verify"},
		{"{\"reverse\": {\"ops\": 5}}", "reverse"},
		{"{\"reverse\": {\"ops\": 0, \"elapsed_ns\": 5}}", "reverse"},
		{"{\"reverse\": {\"ops\": 5, \"elapsed_ns\": 5, \"latency\": 7}}",
		 "reverse/latency"},
		{"{\"placement\": 5}", "placement/server"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct repeat r = made_repeat(1000, 2);
		json_t *json = with_report(&r, cases[i].report);

		if (!json_is_null(path_get(json, cases[i].path)))
			fail_msg("%s: %s", cases[i].report, cases[i].path);
		json_decref(json);
	}
}

TEST(only_good_counters_and_warnings_are_kept)
{
	struct repeat r = made_repeat(1000, 2);
	json_auto_t *json = with_report(
		&r, "{\"counters\": {\"good\": 4, \"bad\": -4, \"text\": \"4\", \"half\": 0.5,"
		    "\"a b\": 4, \"\": 4},"
		    "\"warnings\": [5, {\"code\": \"A\"}, {\"code\": \"B C\", \"text\": \"x\"},"
		    "{\"code\": \"GOOD\", \"text\": \"x\", \"more\": 1}, {\"code\": \"D\", "
		    "\"text\": 5}]}");

	assert_int_equal(json_object_size(path_get(json, "counters/server")), 1);
	HOLDS(json, "warnings: [1]");
	assert_int_equal(json_object_size(path_get(json, "warnings/code=GOOD")), 2);
}

/* The repeat keeps its own figures and its shape, however the report is damaged. */
TEST(a_damaged_report_does_no_harm)
{
	static const char report[] =
		"{\"elapsed_ns\": 1000, \"user_ns\": 200, \"requests\": 12, \"counters\": {\"x\": "
		"4},"
		"\"load_fraction_measured\": 0.5, \"verify\": {\"checked_bytes\": 8, "
		"\"mismatches\": 1,"
		"\"first_offset\": 6, \"method\": \"m\"}, \"warnings\": [{\"code\": \"A\", "
		"\"text\":"
		"\"x\"}], \"placement\": {\"policy\": \"auto\", \"cpus\": [3, null], \"node\": 0},"
		"\"reverse\": {\"ops\": 2, \"elapsed_ns\": 9, \"latency\": {\"count\": 2, "
		"\"min_ns\": 5,"
		"\"max_ns\": 7, \"mean_ns\": 6.0, \"stddev_ns\": 1.4, \"histogram\": {\"scheme\":"
		"\"loglinear\", \"sub_bits\": 7, \"unit\": \"ns\", \"buckets\": [[5,1],[7,1]]}},"
		"\"threads\": [{\"cpu\": 1, \"ops\": 2}]}}";
	static const char replacements[] = "0123456789-.eE\"{}[]:,nulltrue x";
	uint64_t seed = 17;
	int parsed = 0;

	for (int i = 0; i < 20000; i++) {
		char text[sizeof(report)];
		struct repeat r = {.latency_kind = "post_to_cqe", .ops = 5, .elapsed_ns = 10};
		json_t *json;

		memcpy(text, report, sizeof(text));
		for (uint64_t n = 1 + test_random(&seed) % 3; n > 0; n--)
			text[test_random(&seed) % (sizeof(text) - 1)] =
				replacements[test_random(&seed) % (sizeof(replacements) - 1)];
		r.server = json_loads(text, JSON_DECODE_ANY, NULL);
		if (r.server == NULL)
			continue;
		parsed++;
		json = made_json(&r);
		HOLDS(json, "ops: 5");
		assert_non_null(path_get(json, "verify"));
		assert_non_null(path_get(json, "reverse"));
		assert_non_null(path_get(json, "cpu/server"));
		json_decref(json);
	}
	assert_true(parsed > 1000);
}

/* A side as a server measures it, sent and taken over: percentiles are computed again. */
static json_t *sides(const char *key, const char *step)
{
	static const uint64_t samples[] = {100, 200, 300};
	struct repeat own = made_repeat(0, 0);
	json_t *report;

	own.ops = 3;
	own.elapsed_ns = 2000;
	free(own.latency);
	own.latency = made_histogram(samples, 3);
	own.steps_count = 1;
	own.steps[0] = (struct repeat_step){step, made_histogram(samples, 3)};
	report = repeat_own_json(&own);
	repeat_clear(&own);
	json_array_clear(json_object_get(json_object_get(report, "latency"), "percentiles"));
	return json_pack("{s:o}", key, report);
}

TEST(the_other_direction_is_worked_out_here)
{
	struct repeat r = made_repeat(1000, 2);
	json_auto_t *json = NULL;

	r.params.bidirectional = true;
	r.server = sides("reverse", "register");
	json = made_json(&r);
	HOLDS(json, "reverse/ops: 3", "reverse/bytes: 12288", "reverse/ops_per_s: 1500000",
	      "reverse/latency/max_ns: 300");
	assert_int_equal(json_array_size(path_get(json, "reverse/latency/percentiles")),
			 RESULT_PERCENTILES);
	HOLDS(json, "ops: 2");
}

TEST(a_registration_is_the_repeat)
{
	struct repeat r = made_repeat(0, 0);

	r.params.test = BENCH_REGISTER;
	r.latency_kind = "mr_reg";
	r.elapsed_ns = 0;
	r.server = sides("registration", "register");
	GIVES(made_json(&r), "ops: 3", "elapsed_ns: 2000", "latency/min_ns: 100",
	      "steps/name=register/latency/count: 3", "bytes: null");
}

/* Without the server's word nothing was registered. */
TEST(a_registration_is_not_made_up)
{
	struct repeat r = made_repeat(0, 0);

	r.params.test = BENCH_REGISTER;
	r.latency_kind = "mr_reg";
	GIVES(made_json(&r), "ops: 0", "ops_per_s: null", "latency: null");
}
