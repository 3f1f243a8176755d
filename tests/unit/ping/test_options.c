/* SPDX-License-Identifier: BSD-3-Clause */
/* test_options.c -- the command line, good and wrong. */
#include "common/base/failure.h"
#include "tests/lib/test.h"
#include "tools/rpma-ping/options.h"

static struct options o;

#define WORDS_MAX 20

const char *argp_program_version = "test";

/* Blanks separate the words. */
static int parse(const char *line)
{
	static char words[256];
	char *argv[WORDS_MAX] = {(char *)(uintptr_t) "rpma-ping"}, *rest = words, *word;
	int argc = 1;

	strcpy(words, line);
	while ((word = strsep(&rest, " ")) != NULL && argc < WORDS_MAX - 1)
		argv[argc++] = word;
	return options_parse(&o, argc, argv);
}

TEST(a_host_is_enough)
{
	EQUAL((parse("host"), 0), (o.hosts_count, 1), (o.hosts[0], "host"), (o.port, 7205),
	      (o.count, 0), (o.interval_ns, 1000000000), (o.size_bytes, 64),
	      (o.limit_ns, 5000000000), (o.flush, FLUSH_AUTO), (o.wait, WAIT_POLL));
	assert_null(o.device);
}

TEST(letters_are_those_of_ping)
{
	assert_int_equal(parse("-q -f -c 5 -s 4K -w 10 -W 0.5 h"), 0);
	assert_true(o.cli.quiet && o.flood);
	EQUAL((o.count, 5), (o.size_bytes, 4096), (o.deadline_ns, 10000000000),
	      (o.limit_ns, 500000000), (o.interval_ns, 0), (parse("-f -i 10ms h"), 0),
	      (o.interval_ns, 10000000));
}

TEST(times_may_have_a_fraction)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} cases[] = {{"0.2", 200000000},   {"1.5s", 1500000000}, {"0", 0},
		     {".2", 200000000},	   {".05s", 50000000},	 {"0.000000001", 1},
		     {"200ms", 200000000}, {"2", 2000000000},	 {"24h", 86400000000000},
		     {".2ms", 200000},	   {"1.5m", 90000000000}};
	char line[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(line, sizeof(line), "-i %s h", cases[i].text);
		EQUAL((parse(line), 0), (o.interval_ns, cases[i].ns));
	}
}

TEST(sizes_ascend_and_are_there_once)
{
	static const uint64_t expected[] = {64, 256, 1024, 4096};

	EQUAL((parse("-s 4K,64:1K:*4,64 h"), 0), (o.sizes_count, 4));
	assert_memory_equal(o.sizes, expected, sizeof(expected));
	EQUAL((o.size_bytes, 4096), (parse("-s 64:127:+1 h"), 0), (o.sizes_count, OPTIONS_SIZES));
}

TEST(hosts_are_kept_in_order)
{
	assert_int_equal(parse("-D -6 a b c"), 0);
	assert_true(o.timestamps && o.ipv6 && !o.ipv4);
	EQUAL((o.hosts_count, 3), (o.hosts[0], "a"), (o.hosts[2], "c"));
}

TEST(a_server_has_its_own)
{
	EQUAL((parse("--server --listen ::1 -p 0 -t dram:1M --allow 192.0.2.0/24"), 0),
	      (o.server, true), (o.listen, "::1"), (o.port, 0), (o.target, "dram:1M"),
	      (o.allow.count, 1));
}

TEST(wrong_lines_are_told)
{
	static const char *const cases[][2] = {
		{"-q", "host to ping is missing"},
		{"--expect-persistent --flush visibility h", "mutually exclusive"},
		{"-46 h", "mutually exclusive"},
		{"-i .x h", "--interval .x"},
		{"-s 64,0 h", "--size 64,0"},
		{"-s 64:32:*2 h", "--size 64:32:*2"},
		{"-s 64:4K:+1 h", "--size 64:4K:+1"},
		{"-s 64,2G h", "--size 64,2G"},
		{"--server h", "unexpected argument h"},
		{"-c 0 h", "--count 0"},
		{"-c -1 h", "--count -1"},
		{"-c x h", "--count x"},
		{"-i . h", "--interval ."},
		{"-i 1. h", "--interval 1."},
		{"-i 25h h", "--interval 25h"},
		{"-i 99999999999999999999.5 h", "--interval"},
		{"-W 0 h", "--timeout 0"},
		{"-w 0 h", "--deadline 0"},
		{"-s 0 h", "--size 0"},
		{"-s 2G h", "--size 2G"},
		{"-p 65536 h", "--port 65536"},
		{"-p 0 h", "--port 0"},
		{"--flush both h", "visibility, persistent or auto"},
		{"--wait sleep h", "poll or event"},
		{"--retries 8 h", "a number from 0 to 7"},
		{"--ack-timeout 32 h", "a number from 0 to 31"},
		{"--server --retries 1", "--retries is for the client"},
		{"--server -c 1", "--count is for the client"},
		{"--server --json", "--json is for the client"},
		{"--target dram:1M h", "--target is for rpma-ping --server"},
		{"--server --target dram", "--target dram"},
		{"--server --allow x", "--allow x"},
		{"--none h", "unknown option --none"},
		{"h -c", "-c needs a value"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(parse(cases[i][0]) < 0);
		assert_int_equal(failure_get()->code, EXIT_WRONG_USAGE);
		if (strstr(failure_get()->text, cases[i][1]) == NULL)
			fail_msg("%s: \"%s\" has no \"%s\"", cases[i][0], failure_get()->text,
				 cases[i][1]);
	}
}
