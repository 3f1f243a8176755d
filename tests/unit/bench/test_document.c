/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_document.c -- the document of a run: what its repeats are told to be
 * of, what it warns of, and how it ends.
 */
#include "common/rdma/target.h"
#include "made_document.h"
#include "made_repeat.h"

static json_int_t exit_code(void)
{
	json_t *document = document_make(&run);
	json_int_t code = whole_at(document, "run/exit_code");

	json_decref(document);
	return code;
}

RUN_TEST(points_have_their_parameters)
{
	point.test = BENCH_RATE;
	point.rate_per_s = 5000;
	point.pattern.kind = BENCH_RAND;
	point.batch = 8;
	point.server_load_millionths = 250000;
	document_add_repeat(made_repeat(1000, 10), NULL);
	GIVES(document_make(&run), "points/id=p0000/params/test: rate",
	      "points/id=p0000/params/mode: open", "points/id=p0000/params/pattern: rand",
	      "points/id=p0000/params/batch: 8", "points/id=p0000/params/latency_kind: post_to_cqe",
	      "points/id=p0000/params/target_rate_per_s: 5000",
	      "points/id=p0000/params/server_load_fraction: 0.25",
	      "points/id=p0000/params/read_fraction: null",
	      "points/id=p0000/params/target_memory/kind: dram",
	      "points/id=p0000/params/target_memory/odp: null",
	      "points/id=p0000/params/target_memory/numa_node: null",
	      "points/id=p0000/params/target_memory/hugepage_bytes: null",
	      "placement/client/policy: auto");
}

RUN_TEST(a_connection_has_no_size)
{
	point.test = BENCH_CONNECT;
	document_add_repeat(made_repeat(1000, 10), NULL);
	GIVES(document_make(&run), "points/id=p0000/params/op: null",
	      "points/id=p0000/params/size_bytes: null",
	      "points/id=p0000/params/align_bytes: null");
}

/* Resumed repeats whose server could not be asked again. */
RUN_TEST(an_unknown_target_is_null)
{
	run.server.known = false;
	document_add_repeat(made_repeat(1000, 10), NULL);
	GIVES(document_make(&run), "points/id=p0000/params/target_memory: null");
}

RUN_TEST(what_ends_a_repeat_is_told)
{
	document_add_repeat(made_repeat(1000, 10), NULL);
	options.ops = 500;
	GIVES(document_make(&run), "points/id=p0000/stop/kind: ops",
	      "points/id=p0000/stop/ops: 500", "points/id=p0000/stop/duration_ns: null");
	options.ops = 0;
	options.ci = 0.05;
	GIVES(document_make(&run), "points/id=p0000/stop/kind: ci",
	      "points/id=p0000/stop/duration_ns: 1000000000",
	      "points/id=p0000/stop/ci/half_width_fraction: 0.05");
}

RUN_TEST(points_without_repeats_are_not_there)
{
	GIVES(document_make(&run), "points: [0]");
}

RUN_TEST(a_missed_slo_is_a_negative_verdict)
{
	document_add_repeat(made_repeat(1000, 100), NULL);
	options.slos_count = 1;
	options.slos[0] = "lat.max_ns<1001";
	assert_int_equal(exit_code(), 0);
	options.slos[0] = "lat.max_ns<1000";
	assert_int_equal(exit_code(), 1);
	options.slos[0] = "lat.p99.9999_ns<1000000";
	assert_int_equal(exit_code(), 3);
	options.slos_count = 2;
	options.slos[1] = "lat.max_ns<1000";
	assert_int_equal(exit_code(), 1);
	/* that it was stopped, or failed, matters more */
	run.status = RUN_INTERRUPTED;
	run.exit_code = 130;
	assert_int_equal(exit_code(), 130);
}

RUN_TEST(a_mismatch_is_a_negative_verdict)
{
	options.verify = true;
	document_add_repeat(made_repeat(1000, 100),
			    "{\"verify\": {\"checked_bytes\": 4096, \"mismatches\": 0}}");
	assert_int_equal(exit_code(), 0);
	document_expect_warning("VERIFY_MISMATCH", NULL);
	document_expect_warning("VERIFY_MISSING", NULL);
	document_add_repeat(made_repeat(1000, 100),
			    "{\"verify\": {\"checked_bytes\": 4096, \"mismatches\": 1,"
			    " \"first_offset\": 77}}");
	assert_int_equal(exit_code(), 1);
	document_expect_warning("VERIFY_MISMATCH", "offset 77");
}

RUN_TEST(a_verification_that_was_not_done_is_said)
{
	options.verify = true;
	document_add_repeat(made_repeat(1000, 100), "{}");
	document_expect_warning("VERIFY_MISSING", "p0000");
	assert_int_equal(exit_code(), 3);
}

RUN_TEST(what_was_written_over_is_said)
{
	options.verify = true;
	document_add_repeat(made_repeat(1000, 100),
			    "{\"verify\": {\"checked_bytes\": 4096, \"mismatches\": 0,"
			    " \"overwritten_bytes\": 0}}");
	document_expect_warning("VERIFY_OVERWRITTEN", NULL);
	document_add_repeat(made_repeat(1000, 100),
			    "{\"verify\": {\"checked_bytes\": 4096, \"mismatches\": 0,"
			    " \"overwritten_bytes\": 8192}}");
	document_expect_warning("VERIFY_OVERWRITTEN", "50 %");
}

RUN_TEST(late_operations_are_explained)
{
	struct repeat r = made_repeat(1000, 100);

	point.rate_per_s = 10;
	r.late_ops = 17;
	r.max_lag_ns = 100000000;
	document_add_repeat(r, NULL);
	document_expect_warning("LATE_OPS", "17 operations");
	document_expect_warning("LATE_OPS", "100 ms");
}

/* 1 and 2 us, four times each: the deviation of their logarithms is 0.3705, so up to +36.3 % */
RUN_TEST(an_interval_too_wide_is_said)
{
	for (int i = 0; i < 8; i++)
		document_add_repeat(made_repeat(i % 2 == 0 ? 1000 : 2000, 100), NULL);
	options.ci = 0.35;
	document_expect_warning("CI_NOT_REACHED",
				"1 of 1 points, p0000 the first, is wider than the +-35 %");
	options.ci = 0.38;
	document_expect_warning("CI_NOT_REACHED", NULL);
}

/* The rates agree, the latencies do not: beside a point that was not measured, too. */
RUN_TEST(an_interval_is_that_of_its_own_test)
{
	struct params points[2] = {point, point};
	json_t *both[2] = {json_array(), json_array()};
	char why[] = "no such thing", *unsupported[2] = {why, NULL};

	points[0].test = BENCH_BW;
	for (int i = 0; i < 8; i++) {
		struct repeat r = made_repeat(i % 2 == 0 ? 1000 : 2000, 100);

		r.params = points[1];
		json_array_append_new(both[1], made_json(&r));
	}
	run.plan.points = points;
	run.plan.points_count = 2;
	run.repeats = both;
	run.unsupported = unsupported;
	options.ci = 0.35;
	document_expect_warning("CI_NOT_REACHED", "1 of 1 points, p0001 the first");
	json_decref(both[0]);
	json_decref(both[1]);
}

/* 100 operations of 10 us, one of 100 ms: 10,000 times the median */
RUN_TEST(a_stall_of_a_closed_loop_is_explained)
{
	struct repeat r = made_repeat(10000, 100);

	histogram_record(r.latency, 100000000);
	document_add_repeat(r, NULL);
	document_expect_warning("STALL_HIDDEN", "100 ms");
	document_expect_warning("STALL_HIDDEN", "1 of 1 points stalled: in p0000");
}

RUN_TEST(without_a_stall_nothing_is_explained)
{
	struct repeat r = made_repeat(10000, 100);

	histogram_record(r.latency, 900000);
	document_add_repeat(r, NULL);
	document_expect_warning("STALL_HIDDEN", NULL);
	document_expect_warning("LATE_OPS", NULL);
}

static struct repeat made_disturbed(uint64_t stolen_ns, uint64_t busy_ns)
{
	struct repeat r = made_repeat(1000, 100);
	struct cpu_time *t = &r.interference.time;

	/* another host than the server's: own_ns is all that is not of others */
	strcpy(r.interference.boot_id, "here");
	*t = (struct cpu_time){.known = true, .list = "0-3", .cpus = 4, .steal_ns = stolen_ns};
	t->busy_ns = busy_ns;
	t->own_ns = 1000000000;
	t->all_ns = 4000000000; /* four CPUs of a second */
	return r;
}

/* Four CPUs of a second each have 4 s: 190 ms are below 5 %, 1 s is 25 %. */
RUN_TEST(cpu_time_that_others_took_is_said)
{
	static const char there[] =
		"{\"elapsed_ns\": 5, \"interference\": {\"boot_id\": \"there\", "
		"\"cpu_list\": \"0\", \"cpus\": 1, \"busy_ns\": 0, "
		"\"steal_ns\": 0, \"own_ns\": 0}}";

	document_add_repeat(made_disturbed(90000000, 1100000000), there);
	document_expect_warning("CPU_TIME_TAKEN", NULL);
	document_add_repeat(made_disturbed(1000000000, 1400000000), there);
	document_expect_warning("CPU_TIME_TAKEN", "in 1 of 2 repeats others took 5 % or more");
	document_expect_warning("CPU_TIME_TAKEN",
				"p0000: the hypervisor 25 %, other programs 10 %");
}

/* The kernel counted 8 s of four CPUs, in which operations took 1 s. */
RUN_TEST(what_others_took_is_of_the_time_it_was_counted_in)
{
	struct repeat r = made_disturbed(4000000000, 1000000000);

	r.interference.time.all_ns = 8000000000;
	document_add_repeat(r, NULL);
	document_expect_warning("CPU_TIME_TAKEN",
				"the hypervisor 50 %, other programs an unknown share");
}

RUN_TEST(what_others_took_may_be_unknown)
{
	document_add_repeat(made_disturbed(400000000, 1000000000), NULL);
	document_expect_warning("CPU_TIME_TAKEN",
				"the hypervisor 10 %, other programs an unknown share");
}

/* Other programs took nothing from it while the kernel stopped it; without stops, they did. */
RUN_TEST(a_quota_is_not_blamed_on_others)
{
	static const char there[] =
		"{\"elapsed_ns\": 5, \"interference\": {\"boot_id\": \"there\", "
		"\"cpu_list\": \"0\", \"cpus\": 1, \"busy_ns\": 0, \"steal_ns\": 0, \"own_ns\": 0},"
		"\"cpu_quota\": {\"limited\": true, \"cpus\": 2, \"periods\": 10, "
		"\"throttled_periods\": 1,"
		"\"throttled_ns\": 70000000}}";
	struct repeat r = made_disturbed(0, 3000000000), s = made_disturbed(0, 3000000000);

	r.interference.quota = (struct cpu_quota){.known = true,
						  .cpus = 0.5,
						  .periods = 63,
						  .throttled_periods = 40,
						  .throttled_ns = 1250000000};
	document_add_repeat(r, there);
	document_expect_warning("CPU_TIME_TAKEN", NULL);
	document_expect_warning("CPU_THROTTLED",
				"stopped the client because its control group had used up its CPU "
				"quota of 0.5 CPUs, most in p0000: 40 of 63 periods, 1.25 s");
	document_expect_warning("CPU_THROTTLED",
				"stopped the server because its control group had used up its CPU "
				"quota of 2 CPUs, most in p0000: 1 of 10 periods, 0.07 s");
	s.interference.quota = (struct cpu_quota){.known = true, .cpus = 0.5, .periods = 63};
	document_add_repeat(s, there);
	document_expect_warning("CPU_THROTTLED", "in 1 of 2 repeats");
	document_expect_warning("CPU_TIME_TAKEN", "in 1 of 2 repeats others took");
}

/* The kernel counts a stopped period at its end and adds its time when the group goes on. */
RUN_TEST(a_stop_without_its_time_is_told)
{
	struct repeat r = made_disturbed(0, 0);

	r.interference.quota = (struct cpu_quota){
		.known = true, .cpus = 0.5, .periods = 63, .throttled_periods = 1};
	document_add_repeat(r, NULL);
	document_expect_warning("CPU_THROTTLED", "most in p0000: 1 of 63 periods, 0 s");
}

RUN_TEST(a_load_that_was_missed_is_said)
{
	point.server_load_millionths = 500000;
	document_add_repeat(made_repeat(1000, 100),
			    "{\"elapsed_ns\": 5, \"load_fraction_measured\": 0.48}");
	document_expect_warning("SERVER_LOAD_MISSED", NULL);
	document_add_repeat(made_repeat(1000, 100),
			    "{\"elapsed_ns\": 5, \"load_fraction_measured\": 0.2}");
	document_expect_warning("SERVER_LOAD_MISSED", "0.34, not 0.50");
	document_add_repeat(made_repeat(1000, 100), "{}");
	document_expect_warning("SERVER_LOAD_MISSED", "did not say");
}

RUN_TEST(warnings_of_the_server_are_the_runs)
{
	static const char report[] =
		"{\"warnings\": [{\"code\": \"PIN_FAILED\", \"text\": \"no core\"},"
		"{\"code\": \"FROM_THE_FUTURE\", \"text\": \"new words\"}]}";

	document_add_repeat(made_repeat(1000, 10000), report);
	document_add_repeat(made_repeat(1000, 10000), report);
	document_expect_warning("PIN_FAILED", "no core");
	document_expect_warning("SERVER_WARNING", "new words");
	/* each once, and that of the software processor or clock is not there */
	GIVES(document_make(&run), "run/warnings: [2]");
}

#define METHOD "points/id=p0000/params/atomic_write_method: "
#define INLINE "points/id=p0000/params/inline_bytes: "

RUN_TEST(only_an_inline_write_is_inline)
{
	static const struct {
		enum bench_op op;
		enum bench_persist persist;
		bool atomic_writes, native;
		const char *method, *inline_bytes;
	} cases[] = {
		{BENCH_ATOMIC_WRITE, BENCH_NONE, true, false, METHOD "write", INLINE "8"},
		{BENCH_ATOMIC_WRITE, BENCH_NONE, true, true, METHOD "native", INLINE "0"},
		{BENCH_WRITE, BENCH_APPEND, true, false, METHOD "write", INLINE "8"},
		{BENCH_WRITE, BENCH_APPEND, true, true, METHOD "native", INLINE "0"},
		{BENCH_WRITE, BENCH_NONE, false, false, METHOD "null", INLINE "0"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct repeat r = made_repeat(1000, 100);

		point.op = cases[i].op;
		point.persist = cases[i].persist;
		r.atomic_writes = cases[i].atomic_writes;
		r.native_atomic_write = cases[i].native;
		json_decref(repeats[0]);
		repeats[0] = NULL;
		document_add_repeat(r, NULL);
		GIVES(document_make(&run), cases[i].method, cases[i].inline_bytes);
	}
}

RUN_TEST(what_a_repeat_does_not_tell_is_unknown)
{
	json_t *used;

	point.op = BENCH_ATOMIC_WRITE;
	document_add_repeat(made_repeat(1000, 100), NULL);
	used = json_object_get(json_array_get(repeats[0], 0), "used");
	assert_int_equal(json_object_del(used, "atomic_write_method"), 0);
	GIVES(document_make(&run), "points/id=p0000/params/inline_bytes: null");
}

RUN_TEST(what_repeats_did_differently_is_unknown)
{
	point.op = BENCH_ATOMIC_WRITE;
	for (int native = 0; native <= 1; native++) {
		struct repeat r = made_repeat(1000, 100);

		r.atomic_writes = true;
		r.native_atomic_write = native;
		document_add_repeat(r, NULL);
	}
	GIVES(document_make(&run), "points/id=p0000/params/atomic_write_method: null",
	      "points/id=p0000/params/inline_bytes: null");
}

RUN_TEST(what_auto_became_is_said)
{
	struct repeat r = made_repeat(1000, 100);

	point.persist = BENCH_GPSPM;
	document_add_repeat(r, NULL);
	point.persist = BENCH_AUTO;
	run.chosen[0] = (struct persist_choice){true, BENCH_GPSPM, "it is so"};
	document_expect_warning("PERSIST_CHOSEN", "chose gpspm: it is so");
}

RUN_TEST(an_interrupted_run_says_how_far_it_got)
{
	document_add_repeat(made_repeat(1000, 100), NULL);
	run.status = RUN_INTERRUPTED;
	run.plan.trials_count = 40;
	document_expect_warning("INTERRUPTED", "1 of 40 repeats");
	run.repeats_cut = 1;
	document_expect_warning("INTERRUPTED", "measured, the last one in part");
	run.repeats_cut = 0;
}

/* Ten samples beyond p99.9 take 10,000 in all: 100 times the 100 that came in one second. */
RUN_TEST(how_long_a_percentile_takes_is_said)
{
	document_add_repeat(made_repeat(1000, 20000), NULL);
	document_expect_warning("TOO_FEW_SAMPLES", NULL);
	document_add_repeat(made_repeat(1000, 100), NULL);
	document_expect_warning("TOO_FEW_SAMPLES",
				"p99.9 is not known for 1 of 1 points: it needs 10000 "
				"samples in each repeat, one of p0000 had 100: "
				"--duration 100000ms or more");
	options.ops = 100;
	document_expect_warning("TOO_FEW_SAMPLES", "--ops 10000 or more");
}

/* Three points share a reason, one has one of its own. */
RUN_TEST(points_not_measured_are_told_by_reason)
{
	char *unsupported[] = {"too large", NULL, "too large", "no native flush", "too large"};
	struct params points[5] = {point, point, point, point, point};
	json_t *none[5] = {NULL}, *document;

	run.plan = (struct plan){.points_count = 5, .points = points, .trials_count = 5};
	run.repeats = none;
	run.unsupported = unsupported;
	document = document_make(&run);
	assert_true(document_warned(document, "POINT_UNSUPPORTED",
				    "3 of 5 points not measured, p0000 the first: too large"));
	assert_true(
		document_warned(document, "POINT_UNSUPPORTED",
				"1 of 5 points not measured, p0003 the first: no native flush"));
	json_decref(document);
}

RUN_TEST(memory_that_could_not_be_bound_is_said)
{
	document_add_repeat(made_repeat(1000, 100), NULL);
	snprintf(run.placement.memory_warning, sizeof(run.placement.memory_warning), "not allowed");
	document_expect_warning("MEMORY_BIND_FAILED", "not allowed");
}

static struct knee_trial tried(uint64_t rate, enum knee_verdict verdict)
{
	return (struct knee_trial){
		.rate_per_s = rate, .verdict = verdict, .again = true, .achieved = true};
}

/* By rpma-bench(1): a search is good if a rate was kept and nothing speaks against it. */
RUN_TEST(a_search_gives_the_exit_code)
{
	static const struct {
		enum knee_verdict low, high;
		bool over;
		int code;
	} cases[] = {
		{KNEE_KEPT, KNEE_MISSED, true, 0},   {KNEE_KEPT, KNEE_KEPT, true, 0},
		{KNEE_MISSED, KNEE_MISSED, true, 1}, {KNEE_KEPT, KNEE_UNKNOWN, true, 3},
		{KNEE_MISSED, KNEE_KEPT, true, 3},   {KNEE_KEPT, KNEE_MISSED, false, 3},
	};

	document_add_repeat(made_repeat(1000, 100), NULL);
	options.find_rate = "response.p99<1ms";
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct knee searches[] = {
			{.limit = options.find_rate,
			 .trials = {tried(1000, KNEE_KEPT), tried(1010, KNEE_MISSED)},
			 .trials_count = 2,
			 .over = true},
			{.limit = options.find_rate,
			 .trials = {tried(1000, cases[i].low), tried(1010, cases[i].high)},
			 .trials_count = 2,
			 .over = cases[i].over},
		};

		run.searches = searches;
		run.searches_count = 2;
		if (exit_code() != cases[i].code)
			fail_msg("case %zu: expected %d", i, cases[i].code);
	}
	run.searches_count = 0;
}

RUN_TEST(what_is_no_hardware_is_said)
{
	static const enum device_kind software[] = {DEVICE_RXE, DEVICE_SIW, DEVICE_SOFT};

	document_add_repeat(made_repeat(1000, 100), NULL);
	run.device_known = true;
	run.device.kind = DEVICE_HARDWARE;
	document_expect_warning("DEVICE_NOT_HARDWARE", NULL);
	document_expect_warning("EMULATED_CPU", NULL);
	for (size_t i = 0; i < 3; i++) {
		run.device.kind = software[i];
		document_expect_warning("DEVICE_NOT_HARDWARE", device_kind_name(software[i]));
	}
	run.emulated_cpu = 1;
	document_expect_warning("EMULATED_CPU", "absolute figures mean nothing");
}
