/* SPDX-License-Identifier: BSD-3-Clause */
/* test_merge_repeats.c -- one repeat from those of several clients. */
#include "made_repeat.h"
#include "tools/rpma-bench/mpi/merge_documents.h"
#include "tools/rpma-bench/result/repeat_schema.h"

/* Takes the two. */
static json_t *merged(json_t *first, json_t *second)
{
	const json_t *both[] = {first, second};
	json_t *one = merge_repeats(both, 2);

	assert_non_null(one);
	json_decref(first);
	json_decref(second);
	return one;
}

TEST(operations_are_added_and_the_longest_counts)
{
	struct repeat a = made_repeat(100, 1000), b = made_repeat(200, 3000);

	b.elapsed_ns = 2000000000;
	GIVES(merged(made_json(&a), made_json(&b)), "ops: 4000", "bytes: 16384000",
	      "elapsed_ns: 2000000000", "ops_per_s: 2000", "bytes_per_s: 8192000",
	      "latency/count: 4000", "latency/min_ns: 100", "latency/max_ns: 200",
	      "latency/mean_ns: 175");
}

/* The report of a server that measures what it sends to one client. */
static json_t *report_of(uint64_t elapsed_ns, size_t ops)
{
	struct repeat own = made_repeat(100, ops);
	json_t *report;

	own.elapsed_ns = elapsed_ns;
	report = repeat_own_json(&own);
	repeat_clear(&own);
	return json_pack("{s:o}", "reverse", report);
}

TEST(the_other_direction_is_merged_alike)
{
	struct repeat a = made_repeat(100, 2), b = made_repeat(100, 2);

	a.params.bidirectional = b.params.bidirectional = true;
	a.server = report_of(2000000000, 3000);
	b.server = report_of(1000000000, 1000);
	GIVES(merged(made_json(&a), made_json(&b)), "reverse/ops: 4000",
	      "reverse/elapsed_ns: 2000000000", "reverse/ops_per_s: 2000",
	      "reverse/latency/count: 4000", "reverse/threads: [2]");
}

/* For all that the options may leave open. */
TEST(no_client_speaks_for_another)
{
	struct repeat a = made_repeat(100, 2), b = made_repeat(100, 2);

	a.params.persist = BENCH_APM;
	b.params.persist = BENCH_NATIVE;
	a.flush = "persistent";
	b.flush = "visibility";
	b.native_flush = true;
	a.atomic_writes = b.atomic_writes = true;
	b.native_atomic_write = true;
	b.latency_kind = "write_flush_native";
	b.rpmem = true;
	a.server = json_pack("{s:s}", "persist_method", "pmem");
	b.server = json_pack("{s:s}", "persist_method", "msync");
	GIVES(merged(made_json(&a), made_json(&b)), "used/persist: null", "used/flush: null",
	      "used/flush_method: null", "used/latency_kind: null", "used/rpmem: null",
	      "used/atomic_write_method: null", "persist_method: null");
}

TEST(a_warm_up_is_as_good_as_the_worst_of_them)
{
	struct repeat a = made_repeat(100, 10), b = made_repeat(100, 10);

	a.warmup = (struct measured){.elapsed_ns = 5, .ops = 3, .windows_used = 9};
	b.warmup = (struct measured){.elapsed_ns = 7, .ops = 4, .windows_used = 7};
	GIVES(merged(made_json(&a), made_json(&b)), "warmup/ns: 7", "warmup/ops: 7",
	      "warmup/windows_used: 7", "warmup/steady: null");
}

/* None that one of them lacks; what nothing completed in has no latency. */
TEST(intervals_are_added_one_by_one)
{
	struct repeat sides[2] = {made_repeat(100, 2), made_repeat(100, 2)};

	for (uint32_t i = 0; i < 2; i++) {
		sides[i].intervals_count = 1 + i;
		sides[i].intervals = calloc(2, sizeof(*sides[i].intervals));
		sides[i].intervals[0] = (struct measure_interval){
			.t_ns = 100 + i, .ops = 5, .percentiles_known = true, .max_ns = 7 + i};
	}
	sides[0].intervals[0].max_ns = 0;
	GIVES(merged(made_json(&sides[0]), made_json(&sides[1])), "intervals: [1]",
	      "intervals/t_ns=101/ops: 10", "intervals/t_ns=101/max_ns: 8",
	      "intervals/t_ns=101/p50_ns: null");
	sides[0] = made_repeat(100, 2);
	sides[1] = made_repeat(100, 2);
	GIVES(merged(made_json(&sides[0]), made_json(&sides[1])), "intervals: null");
}

TEST(what_one_does_not_know_none_knows)
{
	struct repeat a = made_repeat(100, 10), b = made_repeat(100, 20);

	a.server = json_pack("{s:i, s:{s:i, s:i}}", "requests", 10, "verify", "checked_bytes", 5,
			     "mismatches", 0);
	GIVES(merged(made_json(&a), made_json(&b)), "requests: null", "verify: null",
	      "late_ops: null", "read_latency: null", "reverse: null", "cpu/server: null");
}

TEST(all_servers_verified)
{
	struct repeat a = made_repeat(100, 10), b = made_repeat(100, 20);

	a.server = json_pack("{s:i, s:{s:i, s:i}}", "requests", 10, "verify", "checked_bytes", 5,
			     "mismatches", 0);
	b.server = json_pack("{s:i, s:{s:i, s:i, s:i}}", "requests", 20, "verify", "checked_bytes",
			     7, "mismatches", 2, "first_offset", 64);
	GIVES(merged(made_json(&a), made_json(&b)), "requests: 30", "verify/checked_bytes: 12",
	      "verify/mismatches: 2", "verify/first_offset: 64");
}

TEST(the_busiest_host_tells_of_others)
{
	struct repeat a = made_repeat(100, 10), b = made_repeat(100, 20), c = made_repeat(100, 5);

	a.interference = (struct interference){
		.time = {.known = true, .cpus = 2, .busy_ns = 90, .own_ns = 40, .steal_ns = 7}};
	b.interference = (struct interference){
		.time = {.known = true, .cpus = 4, .busy_ns = 90, .own_ns = 10, .steal_ns = 5}};
	strcpy(a.interference.boot_id, "here");
	strcpy(b.interference.boot_id, "there");
	a.server = json_pack("{s:{s:s}}", "interference", "boot_id", "elsewhere");
	b.server = json_pack("{s:{s:s}}", "interference", "boot_id", "elsewhere");
	GIVES(merged(made_json(&a), made_json(&b)), "interference/client/other_cpu_ns: 80",
	      "interference/client/steal_ns: 7", "interference/server: null");
	a = made_repeat(100, 10);
	GIVES(merged(made_json(&a), made_json(&c)), "interference/client: null");
}

TEST(the_quota_that_stopped_longest_is_that_of_all)
{
	struct repeat a = made_repeat(100, 10), b = made_repeat(100, 20), c = made_repeat(100, 5),
		      d = made_repeat(100, 5);

	a.interference.quota = (struct cpu_quota){.known = true};
	b.interference.quota = (struct cpu_quota){
		.known = true, .cpus = 2, .periods = 9, .throttled_periods = 3, .throttled_ns = 5};
	GIVES(merged(made_json(&a), made_json(&b)), "cpu_quota/client/cpus: 2",
	      "cpu_quota/client/throttled_periods: 3", "cpu_quota/server: null");
	c.interference.quota = (struct cpu_quota){.known = true};
	GIVES(merged(made_json(&c), made_json(&d)), "cpu_quota/client: null");
}

TEST(one_that_was_stopped_leaves_it_incomplete)
{
	struct repeat a = made_repeat(100, 10), b = made_repeat(100, 20);

	b.complete = false;
	GIVES(merged(made_json(&a), made_json(&b)), "complete: false");
}

TEST(steps_and_lateness_are_merged)
{
	static const uint64_t samples[] = {10, 20};
	struct repeat sides[2] = {made_repeat(100, 2), made_repeat(100, 2)};

	for (uint64_t i = 0; i < 2; i++) {
		sides[i].params.rate_per_s = 10;
		sides[i].late_ops = 3;
		sides[i].max_lag_ns = 50 + i;
		sides[i].steps_count = 1;
		sides[i].steps[0] = (struct repeat_step){"prepare", made_histogram(samples, 2)};
	}
	GIVES(merged(made_json(&sides[0]), made_json(&sides[1])),
	      "steps/name=prepare/latency/count: 4", "late_ops: 6", "max_lag_ns: 51");
}

/* But for where its server ran, which each rank has of its own. */
TEST(it_has_all_that_a_repeat_has)
{
	struct repeat a = made_repeat(100, 10), b = made_repeat(100, 20);
	char why[SCHEMA_WHY_MAX] = "";
	struct schema_position position = {.why = why};
	json_auto_t *one = merged(made_json(&a), made_json(&b));

	json_object_set_new(one, "placement", json_pack("{s:n}", "server"));
	if (!schema_check(one, repeat_fields, &position))
		fail_msg("%s", why);
}

TEST(of_one_client_it_is_that_one)
{
	struct repeat a = made_repeat(100, 10);
	json_auto_t *alone = made_json(&a), *one = NULL;
	const json_t *const list[] = {alone};

	one = merge_repeats(list, 1);
	assert_true(json_equal(json_object_get(one, "latency"), json_object_get(alone, "latency")));
	assert_true(
		json_equal(json_object_get(one, "ops_per_s"), json_object_get(alone, "ops_per_s")));
	assert_null(merge_repeats(list, 0));
}
