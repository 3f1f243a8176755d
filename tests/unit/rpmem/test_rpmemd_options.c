/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rpmemd_options.c -- the command line of rpmemd, good and wrong. */
#include "common/base/failure.h"
#include "tests/lib/test.h"
#include "tools/rpmemd/config.h"

#define WORDS_MAX 20

const char *argp_program_version = "test";

/* Blanks separate the words. */
static int parse(struct options *o, const char *line)
{
	static char words[256];
	char *argv[WORDS_MAX] = {(char *)(uintptr_t) "rpmemd"}, *rest = words, *word;
	int argc = 1;

	strcpy(words, line);
	while (line[0] != '\0' && (word = strsep(&rest, " ")) != NULL && argc < WORDS_MAX - 1)
		argv[argc++] = word;
	return options_parse(o, argc, argv);
}

TEST(nothing_is_needed)
{
	struct options o;

	EQUAL((parse(&o, ""), 0), (o.config, NULL), (o.remove, NULL), (o.poolset_dir, NULL),
	      (o.log_level, LOG_LEVELS));
	assert_false(o.check || o.force || o.pool_set || o.persist_apm || o.persist_general ||
		     o.log.to_file || o.log.to_syslog);
}

/* libpmempool and librpmem write it so. */
TEST(remove_has_two_modifiers)
{
	struct options o;

	EQUAL((parse(&o, "--remove my.set --force"), 0), (o.remove, "my.set"));
	assert_true(o.force && !o.pool_set);
	assert_int_equal(parse(&o, "--remove my.set --force --pool-set"), 0);
	assert_true(o.force && o.pool_set);
	EQUAL((parse(&o, "-r -x -s"), 0), (o.remove, "-x"));
	assert_true(o.pool_set && !o.force);
}

TEST(options_have_the_names_of_keys)
{
	struct options o;

	assert_int_equal(parse(&o, "-c my.conf --log-file=a.log --poolset-dir /sets "
				   "--log-level info --persist-apm --persist-general"),
			 0);
	EQUAL((o.config, "my.conf"), (o.log.file, "a.log"), (o.poolset_dir, "/sets"),
	      (o.log_level, LEVEL_INFO));
	assert_true(o.persist_apm && o.persist_general);
	EQUAL((parse(&o, "--check"), 0), (o.check, true));
}

TEST(the_last_of_log_file_and_syslog_counts)
{
	struct options o;

	assert_int_equal(parse(&o, "--use-syslog --log-file a"), 0);
	assert_true(o.log.to_file && !o.log.to_syslog);
	assert_int_equal(parse(&o, "--log-file a --use-syslog"), 0);
	assert_true(o.log.to_syslog && !o.log.to_file);
}

TEST(wrong_lines_are_told)
{
	static const char *const cases[][2] = {
		{"set", "unexpected argument set"},
		{"--remove my set", "unexpected argument set"},
		{"--remove", "--remove needs a value"},
		{"--force", "--force is for --remove"},
		{"--pool-set", "--pool-set is for --remove"},
		{"--check --remove x", "mutually exclusive"},
		{"--log-level loud", "--log-level loud: expected err"},
		{"-t 4", "unknown option"},
		{"--nthreads 4", "unknown option --nthreads"},
	};
	struct options o;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(parse(&o, cases[i][0]) < 0);
		if (strstr(failure_get()->text, cases[i][1]) == NULL)
			fail_msg("%s: \"%s\" has no \"%s\"", cases[i][0], failure_get()->text,
				 cases[i][1]);
	}
}
