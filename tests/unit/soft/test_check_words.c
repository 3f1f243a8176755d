/* SPDX-License-Identifier: BSD-3-Clause */
/* test_check_words.c -- the words of `check`. */
#include "soft_device/check/words.h"
#include "tests/lib/test.h"

static struct check_words words;
static char error[SOFT_ERROR_MAX];

static void parse(const char *text)
{
	if (check_words_parse(text, &words, error) != 0)
		fail_msg("%s: %s", text, error);
}

TEST(without_words_all_kinds_are_reported)
{
	parse("");
	assert_true(words.kinds == UINT64_MAX);
	assert_int_equal(words.exit_status, 99);
	assert_false(words.strict || words.notes || words.halt || words.watch || words.every ||
		     words.durable_on_send);
	assert_string_equal(words.json, "");
	assert_string_equal(words.suppressions, "");
}

TEST(kinds_add_up)
{
	parse("rnr,strict,sq-full,exit=1");
	assert_true(words.kinds == (UINT64_C(1) << CHECK_RNR | UINT64_C(1) << CHECK_SQ_FULL));
	assert_true(words.strict);
	assert_int_equal(words.exit_status, 1);
}

TEST(a_kind_that_needs_it_has_memory_watched)
{
	parse("watch");
	assert_true(words.watch && words.kinds == UINT64_MAX);
	parse("early-read");
	assert_true(words.watch && words.kinds == UINT64_C(1) << CHECK_EARLY_READ);
}

TEST(messages_are_claims_if_asked_for)
{
	parse("rnr,durable-on-send");
	assert_true(words.durable_on_send && words.kinds == UINT64_C(1) << CHECK_RNR);
}

TEST(files_have_names)
{
	parse("json=/tmp/a=b,suppressions=s");
	assert_string_equal(words.json, "/tmp/a=b");
	assert_string_equal(words.suppressions, "s");
}

TEST(what_means_nothing_is_refused_by_name)
{
	static const char *const wrong[] = {"rn",      "exit=", "exit=0", "exit=256",
					    "exit=1x", "json=", "rnr=1",  "exit=999999999999"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(check_words_parse(wrong[i], &words, error), -EINVAL);
		assert_non_null(strstr(error, strchr(wrong[i], '=') != NULL
						      ? strchr(wrong[i], '=') + 1
						      : wrong[i]));
	}
}

TEST(words_of_the_variable_add_up)
{
	struct soft_options options;

	assert_int_equal(soft_options_parse("check verbose check:rnr check:halt", &options, error),
			 0);
	assert_true(options.checks);
	assert_string_equal(options.check, "rnr,halt");
	assert_int_equal(soft_options_parse("verbose", &options, error), 0);
	assert_false(options.checks);
}
