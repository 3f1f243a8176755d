/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_options.c -- command lines into options. Malformed values are the
 * system test wrong-input's.
 */
#include "common/base/failure.h"
#include "tests/lib/test.h"
#include "tools/rpma-bench/options/options.h"

static struct options o;
static bool parsed;

const char *argp_program_version = "test";

#define WORDS_MAX 24

/* Frees what the last parse left. */
static int forget(void **state)
{
	if (parsed)
		options_free(&o);
	parsed = false;
	return 0;
}

#define OPTIONS_TEST(name) TEST(name, NULL, forget)

/* Words separated by single spaces, after the mode's name. */
static int parse(int (*mode)(struct options *, int, char **), const char *words)
{
	static char line[512];
	static char *argv[WORDS_MAX + 2];
	char *rest = line;
	int argc = 1;

	assert_true(strlen(words) < sizeof(line));
	memcpy(line, words, strlen(words) + 1);
	argv[0] = (char *)(uintptr_t) "mode";
	while (rest != NULL && *rest != '\0' && argc < WORDS_MAX)
		argv[argc++] = strsep(&rest, " ");
	argv[argc] = NULL;
	forget(NULL);
	parsed = true;
	return mode(&o, argc, argv);
}

static int client(const char *words)
{
	return parse(options_parse_client, words);
}

OPTIONS_TEST(a_client_has_defaults)
{
	EQUAL((client("host"), 0), (o.host, "host"), (o.port, 7204), (o.device, NULL),
	      (o.duration_ns, 10000000000), (o.warmup_ns, 1000000000), (o.repeats, 5), (o.ops, 0));
	assert_true(o.ci == 0);
	EQUAL((o.seed_given, false), (o.pin, "auto"), (o.mem_node, "auto"), (o.output, NULL),
	      (o.series_count, 1), (o.selector.count, 1));
}

OPTIONS_TEST(settings_are_taken)
{
	assert_int_equal(client("host --duration 2s --warmup 5ms --repeats 2 --seed 7 --label tab "
				"--pin 2,4 --mem-node 1 --verify --csv t.csv -o r.json"),
			 0);
	EQUAL((o.duration_ns, 2000000000), (o.warmup_ns, 5000000), (o.repeats, 2), (o.seed, 7),
	      (o.seed_given, true), (o.label, "tab"), (o.pin, "2,4"), (o.mem_node, "1"),
	      (o.verify, true), (o.csv, "t.csv"));
	assert_string_equal(o.output, "r.json");
}

OPTIONS_TEST(an_interval_is_in_percent_and_repeats_are_its_most)
{
	assert_int_equal(client("host --ci 5"), 0);
	assert_true(o.ci == 0.05);
	EQUAL((o.repeats, 30), (client("host --ci 2.5% --repeats 10"), 0));
	assert_true(o.ci == 0.025);
	assert_int_equal(o.repeats, 10);
}

OPTIONS_TEST(operations_end_a_repeat_instead_of_time)
{
	EQUAL((client("host --ops 100k"), 0), (o.ops, 100000),
	      (o.duration_ns, OPTIONS_DURATION_MAX));
}

OPTIONS_TEST(resume_names_the_result)
{
	EQUAL((client("host --resume r.json"), 0), (o.resume, true), (o.output, "r.json"),
	      (client("host --resume r.json -o r.json"), 0),
	      (client("host --resume r.json -o x.json"), -EINVAL));
}

OPTIONS_TEST(a_flag_axis_is_yes_or_a_list)
{
	EQUAL((client("host --bidirectional --srq=no"), 0),
	      (o.series->values[AXIS_BIDIRECTIONAL].count, 1),
	      (o.series->values[AXIS_BIDIRECTIONAL].values[0], 1),
	      (o.series->values[AXIS_SRQ].values[0], 0), (client("host --bidirectional=no,yes"), 0),
	      (o.series->values[AXIS_BIDIRECTIONAL].count, 2));
}

OPTIONS_TEST(a_server_offers_what_it_is_told)
{
	EQUAL((parse(options_parse_server, ""), 0), (o.targets_count, 1),
	      (o.targets[0], "dram:64M"), (o.force, false));
	assert_int_equal(parse(options_parse_server,
			       "--target dram:1M,dram:2M --target /dev/dax0.0 --force --once"),
			 0);
	EQUAL((o.targets_count, 3), (o.targets[1], "dram:2M"), (o.targets[2], "/dev/dax0.0"));
	assert_true(o.force && o.once);
}

OPTIONS_TEST(a_server_has_a_limit_of_targets)
{
	char words[512] = "--target dram:1M";

	for (int i = 1; i < PARAMS_TARGETS_MAX; i++)
		strncat(words, ",dram:1M", sizeof(words) - strlen(words) - 1);
	assert_int_equal(parse(options_parse_server, words), 0);
	strncat(words, ",dram:1M", sizeof(words) - strlen(words) - 1);
	assert_int_equal(parse(options_parse_server, words), -EINVAL);
}

/* The client's target axis counts words; local's counts what it offers. */
OPTIONS_TEST(targets_are_chosen_by_word)
{
	EQUAL((client("host --target devdax,0,dram"), 0), (o.selector.count, 3),
	      (o.selector.words[1], "devdax"), (o.selector.words[2], "dram"),
	      (o.series->values[AXIS_TARGET].count, 3),
	      (o.series->values[AXIS_TARGET].values[0], 1),
	      (o.series->values[AXIS_TARGET].values[1], 0),
	      (o.series->values[AXIS_TARGET].values[2], 2),
	      (parse(options_parse_local, "--target dram:1M,dram:2M"), 0),
	      (o.series->values[AXIS_TARGET].count, 2));
	assert_string_equal(o.selector.words[1], "1");
}

static struct message_welcome welcome = {.targets_count = 3,
					 .targets = {{.kind = 0}, {.kind = 4}, {.kind = 0}}};

OPTIONS_TEST(words_are_resolved_by_what_is_offered)
{
	uint32_t resolved[PARAMS_TARGETS_MAX];

	EQUAL((client("host --target devdax,dram,2"), 0),
	      (target_selector_resolve(&o.selector, &welcome, "server", resolved), 0),
	      (resolved[1], 1), (resolved[2], 0), (resolved[3], 2));
}

OPTIONS_TEST(words_that_mean_nothing_or_the_same_are_refused)
{
	static const char *const cases[] = {"host --target 3", "host --target fsdax",
					    "host --target devdax,1", "host --target 0,dram"};
	uint32_t resolved[PARAMS_TARGETS_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(client(cases[i]), 0);
		if (target_selector_resolve(&o.selector, &welcome, "server", resolved) != -EINVAL)
			fail_msg("resolved: %s", cases[i]);
	}
}

OPTIONS_TEST(what_is_verified_must_be_written)
{
	static const char *const nothing[] = {"--op read", "--op read,send", "--test connect",
					      "--test connect,register",
					      "--test mix --read-fraction 1"};
	static const char *const something[] = {"--op read,write", "--test lat,connect",
						"--test mix --read-fraction 0.5,1",
						"--op atomic-write"};
	char words[128];

	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
		snprintf(words, sizeof(words), "host --verify %s", nothing[i]);
		if (client(words) != -EINVAL)
			fail_msg("taken: %s", words);
		EQUAL((failure_get()->code, EXIT_WRONG_USAGE),
		      (failure_get()->text, HAS("--verify: nothing to compare")));
	}
	for (size_t i = 0; i < sizeof(something) / sizeof(something[0]); i++) {
		snprintf(words, sizeof(words), "host --verify %s", something[i]);
		if (client(words) != 0)
			fail_msg("refused: %s", words);
	}
}

OPTIONS_TEST(a_search_has_a_limit_and_maybe_two_ends)
{
	EQUAL((client("host --test rate --find-rate response.p99<5ms --rate 1k:20k"), 0),
	      (o.find_rate, "response.p99<5ms"), (o.rate_low, 1000), (o.rate_high, 20000),
	      (client("host --test rate --find-rate lat.max<1s"), 0), (o.rate_low, 0),
	      (o.rate_high, 0));
}

OPTIONS_TEST(what_a_search_cannot_take_is_refused)
{
	static const char *const lines[] = {
		"host --find-rate lat.max<1s",
		"host --test rate,lat --find-rate lat.max<1s",
		"host --test rate --find-rate lat.max<1s --rate 10k",
		"host --test rate --find-rate lat.max<1s --rate 10k,20k",
		"host --test rate --find-rate lat.max<1s --rate 20k:10k",
		"host --test rate --find-rate lat.max<1s --rate 10k:10k",
		"host --test rate --find-rate lat.max<1s --rate 1k:10k:x2",
		"host --test rate --find-rate lat.max<1s --ops 10",
		"host --test rate --find-rate lat.max<1s --ci 5",
		"host --test rate --find-rate lat.max<1s --slo lat.max<1s",
		"host --test rate --find-rate lat.max<1s --resume r.json",
		"host --test rate --find-rate lat.max>1s",
		"host --test rate --find-rate nonsense<1s",
		"host --test rate --find-rate read.p50<1s",
		"host --test rate --find-rate reverse.p50<1s",
		"host --test rate --find-rate verify.mismatches<1",
		"host --test rate --rate 10k:20k",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (client(lines[i]) == 0)
			fail_msg("%s is taken", lines[i]);
		assert_int_equal(failure_get()->code, EXIT_WRONG_USAGE);
	}
	assert_int_not_equal(parse(options_parse_ranks, "host --test rate --find-rate lat.max<1s"),
			     0);
}

OPTIONS_TEST(an_endless_run_has_one_repeat_of_one_point)
{
	static const char *const refused[] = {
		"host --duration inf",
		"host --duration inf --size 64,4K",
		"host --duration inf --size 64 --repeats 2",
		"host --duration inf --size 64 --ci 5",
		"host --duration inf --size 64 --ops 5",
		"host --duration inf --test connect",
		"host --duration inf --size 64 --test rate --find-rate lat.max<1s",
		"host --duration infinite --size 64",
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (client(refused[i]) == 0)
			fail_msg("%s is taken", refused[i]);
		assert_int_equal(failure_get()->code, EXIT_WRONG_USAGE);
	}
	EQUAL((client("host --duration inf --size 64 --interval 500ms"), 0), (o.endless, true),
	      (o.repeats, 1), (o.interval_ns, 500000000));
	assert_int_not_equal(parse(options_parse_ranks, "host --duration inf --size 64"), 0);
	assert_int_not_equal(parse(options_parse_ranks, "host --interval 1s"), 0);
}

OPTIONS_TEST(a_missing_host_names_the_command)
{
	EQUAL((client(""), -EINVAL), (failure_get()->text, HAS(": rpma-bench client HOST")),
	      (parse(options_parse_ranks, ""), -EINVAL),
	      (failure_get()->text, HAS(": rpma-bench-mpi client HOST")));
}

OPTIONS_TEST(an_address_may_stand_in_brackets)
{
	static const char *const with_port[] = {"[::1]:7204", "192.0.2.1:7204", "host:7204"};

	EQUAL((client("[::1]"), 0), (client("fd00::1"), 0));
	for (size_t i = 0; i < sizeof(with_port) / sizeof(with_port[0]); i++) {
		EQUAL((client(with_port[i]), -EINVAL),
		      (failure_get()->text, HAS("the port goes into --port")));
	}
}

/* In local the server leaves the client's cores to it. */
OPTIONS_TEST(a_client_takes_as_many_cores_as_its_largest_point)
{
	EQUAL((parse(options_parse_local, "--threads 1,4,2"), 0), (o.cores_taken, 4));
}
