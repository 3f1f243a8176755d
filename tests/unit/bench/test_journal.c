/* SPDX-License-Identifier: BSD-3-Clause */
/* test_journal.c -- what a run wrote is found again, whatever ended it. */
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "made_repeat.h"
#include "tests/lib/scratch.h"
#include "tools/rpma-bench/result/journal.h"

#define POINTS 3

/* A run of three points with two repeats each, as options and a plan. */
struct fixture {
	struct options options;
	struct series series;
	struct plan plan;
	struct journal_run run;
	struct journal *journal;
	json_t *repeats[POINTS + 1];
	size_t resumed;
	char output[PATH_MAX];
};

static struct fixture f;

static int setup(void **state)
{
	memset(&f, 0, sizeof(f));
	if (scratch_setup(state) != 0 || target_selector_init(&f.options.selector) != 0)
		return -1;
	scratch_path("result.json", f.output);
	f.options.output = f.output;
	f.options.host = "host";
	f.options.pin = "auto";
	f.options.mem_node = "auto";
	f.options.repeats = 2;
	f.options.duration_ns = 1000000;
	f.run.seed = 42;
	memcpy(f.run.id, "012345@789abcdef", sizeof(f.run.id));
	f.run.id[8] |= 0x80;
	return series_set(&f.series, AXIS_SIZE, "64,128,256") ||
	       plan_make(&f.plan, &f.series, 1, 2, 42);
}

static void forget(void)
{
	for (size_t i = 0; i <= POINTS; i++) {
		json_decref(f.repeats[i]);
		f.repeats[i] = NULL;
	}
}

static int teardown(void **state)
{
	journal_close(&f.journal, false);
	forget();
	plan_free(&f.plan);
	series_clear(&f.series);
	target_selector_clear(&f.options.selector);
	return scratch_teardown(state);
}

static int start(void)
{
	return journal_start(&f.journal, &f.options, &f.run, &f.plan, f.repeats, &f.resumed);
}

static int resume(void)
{
	struct journal_run run = {0};
	int ret;

	forget();
	f.options.resume = true;
	ret = journal_resume(&f.journal, &f.options, &run);
	if (ret)
		return ret;
	assert_int_equal(run.seed, 42);
	assert_memory_equal(run.id, f.run.id, sizeof(run.id));
	return start();
}

/* A repeat of five operations. */
static json_t *repeat_of(size_t point, uint32_t index)
{
	struct repeat r = made_repeat(1000, 5);

	r.params.size_bytes = f.plan.points[point].size_bytes;
	r.index = index;
	while (f.plan.trials[r.order].point != point || f.plan.trials[r.order].repeat != index)
		r.order++;
	r.usage.counters = json_pack("{s:I}", "1/counters/x", (json_int_t)(1LL << 53) + 1);
	return made_json(&r);
}

static void add(size_t point, uint32_t index)
{
	json_auto_t *repeat = repeat_of(point, index);

	assert_int_equal(journal_add(f.journal, point, repeat), 0);
}

static bool exists(const char *name)
{
	char path[PATH_MAX];

	return access(scratch_path(name, path), F_OK) == 0;
}

TEST(what_was_measured_is_found_again, setup, teardown)
{
	EQUAL((start(), 0), (f.resumed, 0));
	add(0, 0);
	add(2, 1);
	assert_non_null(journal_path(f.journal));
	journal_close(&f.journal, false);

	EQUAL((resume(), 0), (f.resumed, 2), (json_array_size(f.repeats[0]), 1),
	      (json_array_size(f.repeats[1]), 0), (json_array_size(f.repeats[2]), 1));
}

/* To the last bit: floating point, and integers past what a double holds. */
TEST(numbers_stay_exact, setup, teardown)
{
	const json_t *repeat;

	assert_int_equal(start(), 0);
	add(0, 0);
	journal_close(&f.journal, false);
	assert_int_equal(resume(), 0);
	repeat = json_array_get(f.repeats[0], 0);
	HOLDS(repeat, "latency/percentiles/p=0.999/p: 0.999");
	assert_int_equal(json_integer_value(json_object_get(path_get(repeat, "counters/client"),
							    "1/counters/x")),
			 (1LL << 53) + 1);
}

/* The bytes of a line may end anywhere when a process is killed. */
TEST(a_torn_line_is_dropped_and_written_over, setup, teardown)
{
	char whole[8192], text[8192], path[PATH_MAX];
	size_t head, length;

	assert_int_equal(start(), 0);
	head = scratch_read("result.json.jsonl", text, sizeof(text));
	add(0, 0);
	journal_close(&f.journal, false);
	length = scratch_read("result.json.jsonl", whole, sizeof(whole));
	for (size_t cut = head + 1; cut < length; cut += 11) {
		EQUAL((truncate(scratch_path("result.json.jsonl", path), (off_t)cut), 0),
		      (resume(), 0), (f.resumed, 0));
		add(0, 0);
		journal_close(&f.journal, false);
		assert_int_equal(scratch_read("result.json.jsonl", text, sizeof(text)), length);
		assert_memory_equal(text, whole, length);
	}
}

/* Killed while it wrote the very first line: nothing was measured. */
TEST(a_torn_head_is_begun_anew, setup, teardown)
{
	char whole[8192], text[8192];
	size_t length;

	assert_int_equal(start(), 0);
	length = scratch_read("result.json.jsonl", whole, sizeof(whole));
	journal_close(&f.journal, false);
	for (size_t cut = 0; cut < length; cut += 11) {
		memcpy(text, whole, cut);
		text[cut] = '\0';
		scratch_write("result.json.jsonl", text);
		assert_int_equal(start(), 0);
		scratch_read("result.json.jsonl", text, sizeof(text));
		assert_string_equal(text, whole);
		journal_close(&f.journal, false);
	}
}

/* A file that cannot grow: what was written of the line is taken back. */
TEST(a_full_disk_leaves_whole_lines, setup, teardown)
{
	struct rlimit unlimited, tight;
	char whole[8192], text[8192];
	json_auto_t *repeat = repeat_of(0, 1);

	assert_int_equal(start(), 0);
	add(0, 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
	tight = unlimited;
	tight.rlim_cur = scratch_read("result.json.jsonl", whole, sizeof(whole)) + 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	assert_true(journal_add(f.journal, 0, repeat) < 0);
	EQUAL((setrlimit(RLIMIT_FSIZE, &unlimited), 0),
	      (failure_get()->text, HAS("cannot write the journal")));
	scratch_read("result.json.jsonl", text, sizeof(text));
	assert_string_equal(text, whole);
	journal_close(&f.journal, false);
	EQUAL((resume(), 0), (f.resumed, 1));
}

TEST(repeats_are_not_overwritten, setup, teardown)
{
	assert_int_equal(start(), 0);
	add(0, 0);
	journal_close(&f.journal, false);
	EQUAL((start() < 0, true), (failure_get()->text, HAS("--resume continues it")));
	journal_close(&f.journal, false);
	EQUAL((resume(), 0), (f.resumed, 1));
}

TEST(without_repeats_nothing_is_left, setup, teardown)
{
	EQUAL((start(), 0), (journal_path(f.journal), NULL));
	journal_close(&f.journal, false);
	assert_false(exists("result.json.jsonl"));
}

TEST(a_written_result_ends_it, setup, teardown)
{
	assert_int_equal(start(), 0);
	add(0, 0);
	journal_close(&f.journal, true);
	assert_false(exists("result.json.jsonl"));
}

TEST(a_repeat_that_was_cut_short_is_not_kept, setup, teardown)
{
	json_auto_t *repeat = json_pack("{s:i, s:b}", "index", 0, "complete", 0);

	EQUAL((start(), 0), (journal_add(f.journal, 0, repeat), 0),
	      (journal_path(f.journal), NULL));
}

TEST(there_must_be_something_to_resume, setup, teardown)
{
	EQUAL((resume() < 0, true), (failure_get()->text, HAS("nothing to resume")));
}

TEST(only_one_run_writes_it, setup, teardown)
{
	struct journal *first;

	assert_int_equal(start(), 0);
	add(0, 0);
	first = f.journal;
	f.journal = NULL;
	EQUAL((resume() < 0, true), (failure_get()->text, HAS("another run is writing")));
	journal_close(&first, false);
}

struct change {
	void (*make)(void);
	const char *sentence;
};

#define CHANGE(name, expression)                                                                   \
	static void name(void)                                                                     \
	{                                                                                          \
		expression;                                                                        \
	}

CHANGE(other_seed, f.run.seed = 7)
CHANGE(other_repeats, f.options.repeats = 3)
CHANGE(other_host, f.options.host = "elsewhere")
CHANGE(other_duration, f.options.duration_ns = 5)
CHANGE(other_label, f.options.label = (char *)"that")
CHANGE(other_size, f.plan.points[1].size_bytes = 100)
CHANGE(other_persist, f.plan.points[2].persist = BENCH_APM)
CHANGE(fewer_points, f.plan.points_count = 2)

TEST(the_first_difference_is_named, setup, teardown)
{
	static const struct change changes[] = {
		{other_seed, "seed is 42 there and 7 here"},
		{other_repeats, "repeats is 2 there and 3 here"},
		{other_host, "host is \"host\" there and \"elsewhere\" here"},
		{other_duration, "duration_ns is 1000000 there and 5 here"},
		{other_label, "label is nothing there and \"that\" here"},
		{other_size, "size of point p0001 is 128 there and 100 here"},
		{other_persist, "persist of point p0002 is \"none\" there and \"apm\" here"},
		{fewer_points, "there are 3 points there and 2 here"},
	};

	assert_int_equal(start(), 0);
	add(0, 0);
	journal_close(&f.journal, false);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct fixture kept = f;
		struct params points[POINTS];

		memcpy(points, f.plan.points, sizeof(points));
		changes[i].make();
		assert_true(journal_resume(&f.journal, &f.options, &(struct journal_run){0}) == 0);
		assert_int_equal(start(), -EINVAL);
		assert_non_null(strstr(failure_get()->text, changes[i].sentence));
		assert_int_equal(failure_get()->code, EXIT_WRONG_USAGE);
		journal_close(&f.journal, false);
		memcpy(f.plan.points, points, sizeof(points));
		f = kept;
	}
	EQUAL((resume(), 0), (f.resumed, 1));
}

TEST(foreign_files_are_left_alone, setup, teardown)
{
	static const char no_random_uuid[] =
		"{\"schema\":\"rpma-bench-journal/1\",\"seed\":1,\"run_id\":"
		"\"00000000-0000-0000-0000-000000000000\"}\n";
	static const char *const texts[] = {
		"diary",
		"diary\n",
		"{}\n",
		"{\"schema\":\"rpma-bench/1\"}\n",
		"{\"schema\":\"rpma-bench-journal/1\",\"seed\":-1,\"run_id\":\"x\"}\n",
		no_random_uuid};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char text[4096];

		scratch_write("result.json.jsonl", texts[i]);
		EQUAL((start() < 0, true), (failure_get()->text, HAS("line 1")));
		journal_close(&f.journal, false);
		assert_true(resume() < 0);
		journal_close(&f.journal, false);
		scratch_read("result.json.jsonl", text, sizeof(text));
		assert_string_equal(text, texts[i]);
	}
}

/* A journal of two repeats whose last line is another one; NULL: as it was written. */
static void journal_with(const char *line)
{
	char text[16384], *last;

	f.options.resume = false;
	forget();
	assert_int_equal(start(), 0);
	add(0, 0);
	add(0, 1);
	journal_close(&f.journal, false);
	scratch_read("result.json.jsonl", text, sizeof(text));
	last = strchr(strchr(text, '\n') + 1, '\n') + 1;
	if (line != NULL)
		snprintf(last, sizeof(text) - (size_t)(last - text), "%s\n", line);
	scratch_write("result.json.jsonl", text);
}

/* It is line 3 that is refused, and nothing is changed. */
static void expect_refusal(const char *line, const char *sentence)
{
	char before[16384], after[16384], path[PATH_MAX];

	journal_with(line);
	scratch_read("result.json.jsonl", before, sizeof(before));
	if (resume() == 0)
		fail_msg("accepted: %s", line);
	assert_non_null(strstr(failure_get()->text, "line 3"));
	if (strstr(failure_get()->text, sentence) == NULL)
		fail_msg("%s, not: %s", sentence, failure_get()->text);
	journal_close(&f.journal, false);
	scratch_read("result.json.jsonl", after, sizeof(after));
	EQUAL((before, after), (remove(scratch_path("result.json.jsonl", path)), 0));
}

TEST(damaged_lines_are_named, setup, teardown)
{
	expect_refusal("", "expected JSON");
	expect_refusal("[]", "point: expected");
	expect_refusal("{}", "point: expected");
	expect_refusal("{\"point\":0}", "repeat: expected an object");
	expect_refusal("{\"point\":0.0,\"repeat\":{}}", "point: expected a whole number");
	expect_refusal("{\"point\":0,\"repeat\":{}}", "repeat.index: expected");
}

/* The line of a repeat, with a value put in place of what is there; NULL: taken away. */
static char *edited(size_t point, const char *path, const char *value)
{
	json_t *line =
		json_pack("{s:I, s:o}", "point", (json_int_t)point, "repeat", repeat_of(0, 1));
	char parent[64];
	const char *key = strrchr(path, '/') + 1;
	json_t *at;
	char *text;

	snprintf(parent, sizeof(parent), "%.*s", (int)(key - 1 - path), path);
	at = (json_t *)(uintptr_t)path_get(line, parent);
	if (value == NULL)
		assert_int_equal(json_object_del(at, key), 0);
	else
		assert_int_equal(
			json_object_set_new(at, key, json_loads(value, JSON_DECODE_ANY, NULL)), 0);
	text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(line);
	return text;
}

TEST(edited_figures_are_refused, setup, teardown)
{
	static const struct {
		const char *path, *value, *sentence;
	} edits[] = {
		{"repeat/ops", "-1", "repeat.ops: expected a whole number from 0"},
		{"repeat/ops", "5.0", "repeat.ops: expected a whole number from 0"},
		{"repeat/ops", "6", "expected the bytes and rates that follow"},
		{"repeat/ops", NULL, "repeat.ops: expected"},
		{"repeat/elapsed_ns", "0", "expected an elapsed_ns from 1"},
		{"repeat/elapsed_ns", "7", "expected the bytes and rates that follow"},
		{"repeat/bytes", "1", "expected the bytes and rates that follow"},
		{"repeat/bytes_per_s", "\"fast\"", "repeat.bytes_per_s: expected a number"},
		{"repeat/ops_per_s", "1e9", "expected the bytes and rates that follow"},
		{"repeat/index", "0", "expected point, index and order of the plan"},
		{"repeat/index", "2", "expected point, index and order of the plan"},
		{"repeat/order", "6", "expected point, index and order of the plan"},
		{"repeat/complete", "false", "repeat.complete: expected true"},
		{"repeat/errors", "null", "repeat.errors: expected"},
		{"repeat/read_ops", "5", "expected as many read_ops"},
		{"repeat/late_ops", "9007199254740993", "repeat.late_ops: expected"},
		{"repeat/latency", "{}", "repeat.latency: expected a latency"},
		{"repeat/latency/count", "4", "repeat.latency: expected a latency"},
		{"repeat/latency/mean_ns", "5", "repeat.latency: expected a latency"},
		{"repeat/latency/percentiles/p=0.5/ns", "7", "repeat.latency: expected a latency"},
		{"repeat/used/latency_kind", "\"half\"", "repeat.used.latency_kind: expected"},
		{"repeat/used/atomic_write_method", "\"read\"",
		 "repeat.used.atomic_write_method: expected"},
		{"repeat/used/persist", "\"apm\"", "expected the used.persist"},
		{"repeat/threads", "null", "repeat.threads: expected a list"},
		{"repeat/threads/index=0/ops", "-1", "repeat.threads[0].ops: expected"},
		{"repeat/warmup/steady", "1", "repeat.warmup.steady: expected true or false"},
		{"repeat/intervals", "[{}]", "repeat.intervals[0].t_ns: expected"},
		{"repeat/cpu/client", "{\"busy_fraction\": -1}",
		 "repeat.cpu.client.busy_fraction: expected"},
		{"repeat/interference/client",
		 "{\"other_cpu_ns\": -1, \"steal_ns\": 0, \"cpus\": 1}",
		 "repeat.interference.client.other_cpu_ns: expected"},
		{"repeat/counters/client", "{\"a\": \"b\"}", "repeat.counters.client: expected"},
		{"repeat/verify", "{\"checked_bytes\": 1}", "repeat.verify.mismatches: expected"},
		{"repeat/reverse", "{}", "repeat.reverse.elapsed_ns: expected"},
		{"repeat/placement/server", "{\"policy\": null, \"cpus\": [\"2\"]}",
		 "repeat.placement.server.cpus[0]: expected"},
		{"repeat/warnings", "[{\"code\": \"\"}]", "repeat.warnings[0].code: expected"},
	};

	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		char *line = edited(0, edits[i].path, edits[i].value);

		expect_refusal(line, edits[i].sentence);
		free(line);
	}
}

TEST(a_point_beyond_the_plan_is_refused, setup, teardown)
{
	for (size_t point = 1; point <= POINTS; point++) {
		char *line = edited(point, "repeat/errors", "0");

		expect_refusal(line, "expected point, index and order of the plan");
		free(line);
	}
}

TEST(a_repeat_is_there_once, setup, teardown)
{
	char text[16384], *again;

	journal_with(NULL);
	EQUAL((resume(), 0), (f.resumed, 2));
	journal_close(&f.journal, false);
	scratch_read("result.json.jsonl", text, sizeof(text));
	again = strdup(strchr(strchr(text, '\n') + 1, '\n') + 1);
	strncat(text, again, sizeof(text) - strlen(text) - 1);
	scratch_write("result.json.jsonl", text);
	assert_true(resume() < 0);
	EQUAL((failure_get()->text, HAS("line 4")), (failure_get()->text, HAS("each repeat once")));
	free(again);
}

TEST(without_an_output_nothing_is_kept, setup, teardown)
{
	f.options.output = NULL;
	EQUAL((start(), 0), (f.journal, NULL));
	add(0, 0);
	assert_null(journal_path(f.journal));
	journal_close(&f.journal, true);
}
