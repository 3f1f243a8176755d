/* SPDX-License-Identifier: BSD-3-Clause */
/* test_account.c -- the words that follow from counts of writes and flushes. */
#include "fio_engine/account.h"
#include "tests/lib/test.h"

static const struct {
	struct account account;
	enum reached reached;
	const char *text;
} cases[] = {
	{{FLUSH_EACH, true, {64, 64, 0, 64}, {0, 0, 0}},
	 REACHED_PERSISTENCE,
	 "64 writes, all flushed to persistence by 64 flushes"},
	{{FLUSH_FSYNC, false, {1, 1, 0, 1}, {1, 0, 0}},
	 REACHED_VISIBILITY,
	 "1 write, all flushed to visibility only by 1 flush"},
	{{FLUSH_FSYNC, true, {64, 60, 4, 15}, {15, 0, 0}},
	 REACHED_PERSISTENCE,
	 "64 writes, 60 flushed to persistence by 15 flushes, 4 after the last flush not flushed"},
	{{FLUSH_FSYNC, true, {64, 0, 64, 0}, {0, 0, 0}},
	 REACHED_NOTHING,
	 "64 writes, none flushed: fio called no fsync"},
	{{FLUSH_NONE, true, {64, 0, 64, 0}, {0, 15, 0}},
	 REACHED_NOTHING,
	 "64 writes, none flushed: flush=none"},
	{{FLUSH_FSYNC, true, {64, 40, 4, 10}, {10, 0, 1}},
	 REACHED_PERSISTENCE,
	 "64 writes, 40 flushed to persistence by 10 flushes, 4 after the last flush not flushed, "
	 "20 before a failed fsync may be lost"},
	{{FLUSH_FSYNC, true, {9, 0, 0, 0}, {0, 0, 1}},
	 REACHED_NOTHING,
	 "9 writes, none flushed, 9 before a failed fsync may be lost"},
	{{FLUSH_FSYNC, true, {64, 64, 0, 16}, {16, 112, 0}},
	 REACHED_PERSISTENCE,
	 "64 writes, all flushed to persistence by 16 flushes; 112 of 128 fsyncs had nothing to "
	 "flush: fio's sync latencies include them"},
	{{FLUSH_AUTO, true, {0, 0, 0, 0}, {0, 3, 0}}, REACHED_NOTHING, ""},
};

TEST(words_follow_from_counts)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[ACCOUNT_TEXT_BYTES];

		account_print(&cases[i].account, text);
		assert_string_equal(text, cases[i].text);
		assert_int_equal(account_reached(&cases[i].account), cases[i].reached);
	}
}

TEST(numbers_of_any_size_have_room)
{
	const struct account account = {FLUSH_FSYNC,
					true,
					{UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 4, UINT64_MAX},
					{UINT64_MAX / 4, UINT64_MAX / 4, UINT64_MAX / 4}};
	char text[ACCOUNT_TEXT_BYTES];

	account_print(&account, text);
	assert_non_null(strstr(text, "sync latencies include them"));
}
