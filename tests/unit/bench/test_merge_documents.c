/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_merge_documents.c -- who measures whom, and one document from those of many ranks,
 * made by hand so that every sum is known.
 */
#include <math.h>

#include "common/base/failure.h"
#include "made_repeat.h"
#include "tools/rpma-bench/mpi/merge_documents.h"
#include "tools/rpma-bench/mpi/shape.h"

/* One point with repeats of `ops` operations of one latency each. */
static json_t *document_of(uint64_t ns, const size_t *ops, size_t count)
{
	json_t *repeats = json_array();

	for (size_t i = 0; i < count; i++) {
		struct repeat r = made_repeat(ns, ops[i]);

		r.index = (uint32_t)i;
		r.order = i;
		json_array_append_new(repeats, made_json(&r));
	}
	return json_pack("{s:s, s:{s:[s,s], s:i, s:s, s:[]}, s:[{s:s, s:o}], s:{s:{s:s},s:{s:s}}}",
			 "schema", "rpma-bench/1", "run", "argv", "rpma-bench", "pairs",
			 "exit_code", 0, "status", "complete", "warnings", "points", "id", "p0000",
			 "repeats", repeats, "environment", "client", "host", "client's", "server",
			 "host", "server's");
}

/* Two clients, of rank 0 and rank 2; rank 1 serves rank 0, and rank 3 rank 2. */
static json_t *handed_in(json_t *first, json_t *second)
{
	json_t *documents[] = {first, second}, *handed = json_array();

	for (int rank = 0; rank < 4; rank++) {
		json_t *measured = json_array();

		if (rank % 2 == 0)
			json_array_append_new(
				measured,
				json_pack("{s:s, s:i, s:o, s:[{s:i, s:i}, {s:i, s:i}]}", "server",
					  "a server", "server_rank", rank + 1, "document",
					  documents[rank / 2], "starts", "begin_unix_ns",
					  100 + rank, "start_lag_ns", rank, "begin_unix_ns",
					  200 + rank, "start_lag_ns", 10 + rank));
		json_array_append_new(handed,
				      json_pack("{s:i, s:s, s:o}", "rank", rank, "host_name",
						"a host", "measured", measured));
	}
	return handed;
}

static json_t *merged_with(json_t *handed, const char *slo)
{
	json_t *document = ranks_merge(handed, &slo, slo != NULL);

	assert_non_null(document);
	json_decref(handed);
	return document;
}

static json_t *merged_two(void)
{
	static const size_t first[] = {1000, 3000}, second[] = {500, 700};

	return merged_with(handed_in(document_of(100, first, 2), document_of(300, second, 2)),
			   NULL);
}

TEST(repeats_are_added)
{
	json_auto_t *document = merged_two();
	const json_t *point = path_get(document, "points/id=p0000");

	assert_int_equal(ranks_count_repeats(document), 2);
	HOLDS(point, "repeats/index=0/ops: 1500", "repeats/index=1/ops: 3700",
	      "repeats/index=1/bytes: 15155200", "repeats/index=1/latency/count: 3700");
}

TEST(the_summary_is_of_all)
{
	json_auto_t *document = merged_two();
	const json_t *summary = path_get(document, "points/id=p0000/summary");

	HOLDS(summary, "n: 2");
	/* 1500 and 3700, in one second each */
	assert_true(fabs(real_at(summary, "ops_per_s/mean") - sqrt(1500.0 * 3700)) < 1e-3);
	HOLDS(summary, "latency/count: 5200", "latency/min_ns: 100", "latency/max_ns: 300");
}

TEST(threads_are_of_their_ranks)
{
	GIVES(merged_two(), "points/id=p0000/repeats/index=0/threads: [2]",
	      "points/id=p0000/repeats/index=0/threads/rank=0/ops: 1000",
	      "points/id=p0000/repeats/index=0/threads/rank=2/ops: 500",
	      "points/id=p0000/repeats/index=0/threads/rank=2/index: 1");
}

TEST(every_rank_keeps_its_own)
{
	json_auto_t *document = merged_two();
	const json_t *own = path_get(
		document, "ranks/rank=2/measured/server_rank=3/points/id=p0000/repeats/index=1");

	HOLDS(document, "ranks: [4]");
	HOLDS(own, "ops: 700", "begin_unix_ns: 202", "start_lag_ns: 12");
	assert_null(path_get(own, "intervals"));
}

TEST(a_rank_that_serves_has_its_environment_from_its_client)
{
	GIVES(merged_two(), "ranks/rank=3/environment/host: server's",
	      "ranks/rank=2/environment/host: client's");
}

TEST(a_repeat_that_one_lacks_is_left_out)
{
	static const size_t first[] = {1000, 3000}, second[] = {500};
	json_auto_t *document = merged_with(
		handed_in(document_of(100, first, 2), document_of(300, second, 1)), NULL);

	assert_int_equal(ranks_count_repeats(document), 1);
}

TEST(a_point_without_common_repeats_is_left_out)
{
	static const size_t first[] = {1000};

	GIVES(merged_with(handed_in(document_of(100, first, 1), document_of(300, NULL, 0)), NULL),
	      "points: [0]");
}

TEST(slos_are_for_the_sum)
{
	static const size_t ops[] = {1000};
	json_t *handed = handed_in(document_of(100, ops, 1), document_of(300, ops, 1));

	json_incref(handed);
	GIVES(merged_with(handed, "ops_per_s>1500"), "run/exit_code: 0");
	json_incref(handed);
	GIVES(merged_with(handed, "lat.max_ns<200"), "run/exit_code: 1");
	GIVES(merged_with(handed, "lat.p99.99_ns<1000"), "run/exit_code: 3");
}

/* One client's memory was not compared, the other's was wrong: that is more. */
TEST(the_worst_client_gives_the_exit_code)
{
	static const size_t ops[] = {1000};
	static const int codes[][3] = {{0, 0, 0}, {0, 3, 3}, {3, 0, 3}, {3, 1, 1}, {1, 0, 1}};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		json_t *first = document_of(100, ops, 1), *second = document_of(300, ops, 1);
		json_t *document;

		json_object_set_new(json_object_get(first, "run"), "exit_code",
				    json_integer(codes[i][0]));
		json_object_set_new(json_object_get(second, "run"), "exit_code",
				    json_integer(codes[i][1]));
		document = merged_with(handed_in(first, second), NULL);
		assert_int_equal(whole_at(document, "run/exit_code"), codes[i][2]);
		json_decref(document);
	}
}

static bool warned(const json_t *document, const char *code, const char *words)
{
	const json_t *one;
	size_t index;

	json_array_foreach(path_get(document, "run/warnings"), index, one) {
		if (path_is(one, "code", code) && strstr(path_text(one, "text"), words) != NULL)
			return true;
	}
	return false;
}

/* One of two flushed natively: the words of the point are those of neither. */
static json_t *document_with(enum bench_persist persist, bool native, const char *kind)
{
	struct repeat r = made_repeat(100, 10000);
	json_t *document, *used;

	r.params.persist = persist;
	r.flush = "persistent";
	r.native_flush = native;
	r.latency_kind = kind;
	document = json_pack("{s:s, s:{s:[s], s:i, s:s, s:[]}, s:[{s:s, s:{}, s:[o]}]}", "schema",
			     "rpma-bench/1", "run", "argv", "rpma-bench", "exit_code", 0, "status",
			     "complete", "warnings", "points", "id", "p0000", "params", "repeats",
			     made_json(&r));
	used = (json_t *)path_get(document, "points/id=p0000/repeats/index=0/used");
	json_object_update((json_t *)path_get(document, "points/id=p0000/params"), used);
	return document;
}

TEST(what_ranks_did_differently_is_in_no_word_of_the_point)
{
	GIVES(merged_with(handed_in(document_with(BENCH_APM, false, "write_flush"),
				    document_with(BENCH_APM, true, "write_flush_native")),
			  NULL),
	      "points/id=p0000/params/persist: apm", "points/id=p0000/params/flush: persistent",
	      "points/id=p0000/params/flush_method: null",
	      "points/id=p0000/params/latency_kind: null", "run/warnings: [0]");
}

TEST(what_ranks_persisted_differently_has_no_common_figure)
{
	json_t *handed = handed_in(document_with(BENCH_APM, false, "write_flush"),
				   document_with(BENCH_GPSPM, false, "gpspm_rtt"));
	json_t *document;

	json_incref(handed);
	document = merged_with(handed, NULL);
	HOLDS(document, "points: [0]");
	assert_true(warned(document, "RANKS_DIFFER", "p0000"));
	HOLDS(document, "run/exit_code: 0");
	json_decref(document);
	GIVES(merged_with(handed, "ops_per_s>1"), "run/exit_code: 3");
}

/* 6,000 samples of a client are too few for p99.9, and 12,000 are enough. */
TEST(what_all_have_samples_for_is_known)
{
	static const size_t ops[] = {6000};
	json_t *first = document_of(100, ops, 1), *second = document_of(100, ops, 1), *document;
	json_t *few = json_pack("{s:s, s:s, s:s, s:s}", "code", "TOO_FEW_SAMPLES", "severity",
				"info", "host", "client", "text", "p99.9 is not known");

	json_array_append((json_t *)path_get(first, "run/warnings"), few);
	json_array_append_new((json_t *)path_get(second, "run/warnings"), few);
	document = merged_with(handed_in(first, second), NULL);
	assert_true(real_at(document, "points/id=p0000/summary/latency/percentiles/p=0.999/ns") >
		    0);
	HOLDS(document, "run/warnings: [0]");
	json_decref(document);
}

TEST(what_all_have_too_few_samples_for_is_said_of_all)
{
	static const size_t ops[] = {400};
	json_auto_t *document =
		merged_with(handed_in(document_of(100, ops, 1), document_of(100, ops, 1)), NULL);

	assert_true(warned(document, "TOO_FEW_SAMPLES", "one of p0000 had 800"));
}

static void warn(json_t *document, const char *text)
{
	json_array_append_new((json_t *)path_get(document, "run/warnings"),
			      json_pack("{s:s, s:s, s:s, s:s}", "code", "PIN_FAILED", "severity",
					"warn", "host", "client", "text", text));
}

/* The figures differ, and one text stands for both; a second one of a client is not lost. */
TEST(a_kind_of_warning_appears_once)
{
	static const size_t ops[] = {10000};
	json_t *first = document_of(100, ops, 1), *second = document_of(300, ops, 1), *document;
	const json_t *list;

	warn(first, "10 % too slow");
	warn(first, "of all");
	warn(second, "of all");
	warn(second, "20 % too slow");
	warn(second, "and hot");
	document = merged_with(handed_in(first, second), NULL);
	list = path_get(document, "run/warnings");
	assert_int_equal(json_array_size(list), 3);
	assert_non_null(
		path_get(list, "text=2 of 2 measurements, the first by rank 0: 10 % too slow"));
	assert_non_null(path_get(list, "text=of all"));
	assert_non_null(path_get(list, "text=rank 2: and hot"));
	json_decref(document);
}

TEST(without_a_client_there_is_no_document)
{
	json_auto_t *handed =
		json_pack("[{s:i, s:s, s:[]}]", "rank", 0, "host_name", "a", "measured");

	assert_null(ranks_merge(handed, NULL, 0));
}

TEST(pairs_are_even_and_odd)
{
	EQUAL((shape_measures(SHAPE_PAIRS, 2, 3), true), (shape_measures(SHAPE_PAIRS, 1, 2), false),
	      (shape_measures(SHAPE_PAIRS, 0, 3), false), (shape_serves(SHAPE_PAIRS, 3), true),
	      (shape_serves(SHAPE_PAIRS, 2), false), (shape_clients(SHAPE_PAIRS, 2, 4), 1),
	      (shape_clients(SHAPE_PAIRS, 3, 4), 0), (shape_check(SHAPE_PAIRS, 4), 0));
	assert_int_not_equal(shape_check(SHAPE_PAIRS, 5), 0);
	assert_int_equal(failure_get()->code, EXIT_WRONG_USAGE);
}

TEST(all_measure_all_others)
{
	for (int rank = 0; rank < 4; rank++) {
		EQUAL((shape_serves(SHAPE_ALL_TO_ALL, rank), true),
		      (shape_clients(SHAPE_ALL_TO_ALL, rank, 4), 3),
		      (shape_measures(SHAPE_ALL_TO_ALL, rank, rank), false));
	}
	assert_int_not_equal(shape_check(SHAPE_ALL_TO_ALL, 1), 0);
}

TEST(clients_of_one_server_serve_nobody)
{
	EQUAL((shape_serves(SHAPE_CLIENT, 1), false), (shape_clients(SHAPE_CLIENT, 1, 4), 1),
	      (shape_check(SHAPE_CLIENT, 1), 0));
}
