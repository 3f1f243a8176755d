/* SPDX-License-Identifier: BSD-3-Clause */
/* test_plan_file.c -- plans from files, good, wrong and hostile. */
#include "common/base/failure.h"
#include "tests/lib/scratch.h"
#include "tools/rpma-bench/options/options.h"

static struct options o;
static bool parsed;

const char *argp_program_version = "test";

/* Frees what the last parse left. */
static void forget(void)
{
	if (parsed)
		options_free(&o);
	parsed = false;
}

static int teardown(void **state)
{
	forget();
	return scratch_teardown(state);
}

#define PLAN_TEST(name) TEST(name, scratch_setup, teardown)

/* rpma-bench client host --plan FILE, and two more words. */
static int parse(const char *text, const char *option, const char *value)
{
	static char path[PATH_MAX];
	char *argv[] = {(char *)(uintptr_t) "client",
			(char *)(uintptr_t) "host",
			(char *)(uintptr_t) "--plan",
			path,
			(char *)(uintptr_t)option,
			(char *)(uintptr_t)value,
			NULL};

	scratch_write("plan.json", text);
	scratch_path("plan.json", path);
	forget();
	parsed = true;
	return options_parse_client(&o, option != NULL ? 6 : 4, argv);
}

PLAN_TEST(a_plan_has_series_and_settings)
{
	assert_int_equal(parse("{\"series\": [{\"test\": \"lat\", \"size\": [64, \"4K\"],"
			       " \"persist\": [\"none\", \"apm\"]},"
			       " {\"test\": \"mix\", \"read-fraction\": [0.5, \"90%\"],"
			       " \"depth\": \"1:8:*2\", \"target\": [\"dram\", 1]}],"
			       " \"duration\": \"2s\", \"repeats\": 3, \"warmup\": 1, \"seed\": 9,"
			       " \"label\": \"lab\"}",
			       NULL, NULL),
			 0);
	EQUAL((o.series_count, 2), (o.series[0].values[AXIS_SIZE].count, 2),
	      (o.series[0].values[AXIS_SIZE].values[1], 4096),
	      (o.series[0].values[AXIS_PERSIST].values[1], BENCH_APM),
	      (o.series[1].values[AXIS_READ_FRACTION].values[0], 500000),
	      (o.series[1].values[AXIS_READ_FRACTION].values[1], 900000),
	      (o.series[1].values[AXIS_DEPTH].count, 4), (o.selector.words[1], "dram"),
	      (o.selector.words[2], "1"), (o.duration_ns, 2000000000));
	EQUAL((o.warmup_ns, 1000000000), (o.repeats, 3), (o.seed, 9), (o.seed_given, true),
	      (o.label, "lab"));
}

PLAN_TEST(true_and_false_are_values_of_flags)
{
	assert_int_equal(parse("{\"series\": [{\"bidirectional\": [true, false]}]}", NULL, NULL),
			 0);
	EQUAL((o.series[0].values[AXIS_BIDIRECTIONAL].count, 2),
	      (o.series[0].values[AXIS_BIDIRECTIONAL].values[0], 1));
}

PLAN_TEST(the_command_line_has_the_last_word)
{
	static const char plan[] = "{\"series\": [{}], \"repeats\": 3, \"duration\": 2}";

	EQUAL((parse(plan, "--repeats", "7"), 0), (o.repeats, 7), (o.duration_ns, 2000000000));
	/* operations in place of the plan's time */
	EQUAL((parse(plan, "--ops", "10k"), 0), (o.ops, 10000),
	      (parse(plan, "--size", "64"), -EINVAL),
	      (failure_get()->text, "--size and --plan: the plan decides what to measure"));
}

struct refusal {
	const char *plan;
	const char *sentence; /* what it has somewhere after the path */
};

PLAN_TEST(wrong_plans_are_refused_by_place)
{
	static const struct refusal cases[] = {
		{"", "line 1, column 0"},
		{"{\"series\": [{]}", "line 1, column"},
		{"{\"series\": [{}], \"series\": [{}]}", "duplicate object key"},
		{"[]", "expected an object with the key \"series\""},
		{"{}", "expected an object with the key \"series\""},
		{"{\"series\": []}", "series: expected a list of 1 to 256"},
		{"{\"series\": {}}", "series: expected a list of 1 to 256"},
		{"{\"series\": [1]}", "series[0]: expected an object"},
		{"{\"series\": [{}, {\"sise\": 64}]}", "series[1]: unknown key \"sise\""},
		{"{\"series\": [{}], \"size\": 64}",
		 "unknown key \"size\": expected \"series\" or"},
		{"{\"series\": [{\"size\": 0}]}", "series[0]: size 0: expected sizes"},
		{"{\"series\": [{\"size\": []}]}", "series[0]: size: expected a string"},
		{"{\"series\": [{\"size\": null}]}", "series[0]: size: expected a string"},
		{"{\"series\": [{\"size\": [[64]]}]}", "series[0]: size: expected a string"},
		{"{\"series\": [{\"size\": {\"from\": 1}}]}", "series[0]: size: expected a string"},
		{"{\"series\": [{\"size\": [64, 64]}]}", "size 64,64: expected"},
		{"{\"series\": [{\"size\": 64.5}]}", "size 64.5: expected"},
		{"{\"series\": [{\"size\": -1}]}", "size -1: expected"},
		{"{\"series\": [{\"size\": true}]}", "size yes: expected"},
		{"{\"series\": [{\"size\": 1e30}]}", "size 1e+30: expected"},
		{"{\"series\": [{\"target\": \"disk\"}]}", "series[0]: target disk: expected"},
		{"{\"series\": [{\"persist\": \"a\\u001b[31m\\nb\"}]}", "persist a?[31m?b"},
		{"{\"series\": [{}], \"repeats\": [1, 2]}",
		 "repeats: expected a string or a number"},
		{"{\"series\": [{}], \"repeats\": 0}", "repeats 0: expected"},
		{"{\"series\": [{}], \"label\": \"\"}", "label : expected"},
		{"{\"series\": [{\"size\": \"\\u0000\"}]}", "line 1"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (parse(cases[i].plan, NULL, NULL) != -EINVAL)
			fail_msg("accepted: %s", cases[i].plan);
		if (strstr(failure_get()->text, cases[i].sentence) == NULL)
			fail_msg("%s: %s", cases[i].plan, failure_get()->text);
		assert_int_equal(failure_get()->code, EXIT_WRONG_USAGE);
	}
}

PLAN_TEST(a_plan_has_limits)
{
	static char text[2 << 20];
	char *end = text + sprintf(text, "{\"series\": [{}");

	for (int i = 1; i < 257; i++)
		end += sprintf(end, ", {\"size\": %d}", i);
	sprintf(end, "]}");
	EQUAL((parse(text, NULL, NULL), -EINVAL), (failure_get()->text, HAS("a list of 1 to 256")));

	memset(text, ' ', (1 << 20) + 1);
	text[(1 << 20) + 1] = '\0';
	EQUAL((parse(text, NULL, NULL), -EINVAL), (failure_get()->text, HAS("at most 1 MiB")));

	/* jansson bounds how deep it goes */
	memset(text, '[', 100000);
	text[100000] = '\0';
	assert_int_equal(parse(text, NULL, NULL), -EINVAL);

	/* a value as long as a list may become */
	end = text + sprintf(text, "{\"series\": [{\"size\": \"");
	memset(end, '1', 100000);
	sprintf(end + 100000, "\"}]}");
	assert_int_equal(parse(text, NULL, NULL), -EINVAL);
}

PLAN_TEST(what_is_no_regular_file_is_not_waited_for)
{
	char path[PATH_MAX];
	char *argv[] = {(char *)(uintptr_t) "client", (char *)(uintptr_t) "host",
			(char *)(uintptr_t) "--plan", path, NULL};

	assert_int_equal(mkfifo(scratch_path("fifo", path), 0600), 0);
	parsed = true;
	assert_true(options_parse_client(&o, 4, argv) < 0);
	assert_non_null(strstr(failure_get()->text, "expected a regular file"));
	options_free(&o);
	scratch_path("none", path);
	assert_true(options_parse_client(&o, 4, argv) < 0);
	assert_non_null(strstr(failure_get()->text, "No such file"));
}
