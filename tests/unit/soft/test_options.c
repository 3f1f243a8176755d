/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_options.c -- the settings among the words of RPMA_SOFT: what they mean, and which are
 * refused.
 */
#include "soft_device/process/options.h"
#include "tests/lib/test.h"

static struct soft_options options;
static char error[SOFT_ERROR_MAX];

static void parse(const char *text)
{
	if (soft_options_parse(text, &options, error) != 0)
		fail_msg("%s: %s", text, error);
}

TEST(nothing_asked_is_the_defaults)
{
	static const char *const texts[] = {NULL, "", " \t\n "};

	for (size_t i = 0; i < 3; i++) {
		parse(texts[i]);
		assert_false(options.verbose);
		assert_false(options.forced_remote);
		assert_int_equal(options.transport, SOFT_TRANSPORT_AUTO);
		assert_int_equal(options.seed, 1);
		assert_int_equal(options.faults_count, 0);
	}
}

TEST(the_last_of_a_setting_counts)
{
	parse("transport:tcp seed:2 transport:local\tseed:18446744073709551615");
	assert_int_equal(options.transport, SOFT_TRANSPORT_LOCAL);
	assert_true(options.seed == UINT64_MAX);
	parse("  verbose forced-remote ");
	assert_true(options.verbose && options.forced_remote);
}

TEST(a_secret_is_in_a_file)
{
	parse("");
	assert_string_equal(options.secret, "");
	parse("secret:/root/it verbose");
	assert_string_equal(options.secret, "/root/it");
}

TEST(a_trace_is_a_file_for_each_process)
{
	parse("seed:3");
	assert_string_equal(options.trace, "");
	parse("trace:/tmp/%p verbose trace:a:b.%p,c=d");
	assert_string_equal(options.trace, "a:b.%p,c=d");
	assert_int_equal(options.faults_count, 0);
}

TEST(the_adversary_has_a_seed_of_its_own)
{
	parse("seed:3");
	assert_false(options.adversary);
	parse("adversary:18446744073709551615 seed:3 adversary:0");
	assert_true(options.adversary);
	assert_true(options.adversary_seed == 0);
	assert_int_equal(options.seed, 3);
}

TEST(the_adversary_does_all_or_what_it_is_told)
{
	const unsigned all = SOFT_ADVERSARY_PARTS | SOFT_ADVERSARY_PASSES | SOFT_ADVERSARY_ATOMICS;

	parse("adversary:7");
	assert_int_equal(options.adversary_kinds & all, all);
	parse("adversary:7,late");
	assert_int_equal(options.adversary_kinds & all, 0);
	parse("adversary:7,passes,parts");
	assert_int_equal(options.adversary_kinds & all,
			 SOFT_ADVERSARY_PARTS | SOFT_ADVERSARY_PASSES);
	assert_true(options.adversary_seed == 7);
}

TEST(other_words_are_faults_in_the_order_of_the_user)
{
	parse("rate:1GB verbose no-such:thing refuse:at=1");
	assert_int_equal(options.faults_count, 3);
	assert_string_equal(options.faults[0], "rate:1GB");
	assert_string_equal(options.faults[1], "no-such:thing");
	assert_string_equal(options.faults[2], "refuse:at=1");
}

static const char *const wrong_words[] = {
	"verbose:1",
	"forced-remote:",
	"seed",
	"seed:",
	"seed:-1",
	"seed:1x",
	"seed:18446744073709551616",
	"transport",
	"transport:udp",
	"transport:local,tcp",
	"trace",
	"trace:",
	"secret",
	"secret:",
	"trace:/tmp/trace",
	"trace:/tmp/%d",
	"trace:/tmp/%",
	"trace:/tmp/%p.%p",
	"trace:/tmp/%%p",
	"adversary",
	"adversary:",
	"adversary:x",
	"adversary:-1",
	"adversary:18446744073709551616",
	"adversary:parts",
	"adversary:1,",
	"adversary:1,early",
};

TEST(wrong_words_are_refused_by_name)
{
	for (size_t i = 0; i < sizeof(wrong_words) / sizeof(wrong_words[0]); i++) {
		error[0] = 0;
		if (soft_options_parse(wrong_words[i], &options, error) != -EINVAL)
			fail_msg("%s was taken", wrong_words[i]);
		if (strncmp(error, wrong_words[i], strlen(wrong_words[i])) != 0 ||
		    strchr(error, '\n') != NULL)
			fail_msg("%s: the sentence is: %s", wrong_words[i], error);
	}
}

TEST(a_word_has_a_limit)
{
	char word[SOFT_WORD_MAX + 1];

	/* leading zeros may fill it up to its last byte */
	memset(word, '0', sizeof(word));
	memcpy(word, "seed:", 5);
	word[SOFT_WORD_MAX - 2] = '7';
	word[SOFT_WORD_MAX - 1] = '\0';
	parse(word);
	assert_int_equal(options.seed, 7);
	word[SOFT_WORD_MAX - 1] = '1';
	word[SOFT_WORD_MAX] = '\0';
	assert_int_equal(soft_options_parse(word, &options, error), -EINVAL);
	assert_non_null(strstr(error, "127 bytes"));
}

TEST(there_may_be_so_many_faults)
{
	char text[(SOFT_FAULTS_MAX + 1) * 16] = "";

	for (int i = 0; i < SOFT_FAULTS_MAX; i++)
		strcat(text, "rnr:at=1 ");
	parse(text);
	assert_int_equal(options.faults_count, SOFT_FAULTS_MAX);
	strcat(text, "refuse");
	assert_int_equal(soft_options_parse(text, &options, error), -EINVAL);
	assert_non_null(strstr(error, "refuse: more than 16"));
}
