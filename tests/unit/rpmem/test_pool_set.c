/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pool_set.c -- pool set files, good and wrong: the format of poolset(5). */
#include <inttypes.h>

#include "common/base/failure.h"
#include "tests/lib/test.h"
#include "tools/rpmemd/pool_set.h"

#define SIGNATURE "PMEMPOOLSET\n"
#define KIB	  1024ULL
#define MIB	  (1024 * KIB)

/* In memory of exactly its size, so that a sanitizer sees a byte too far. */
static int parse(struct pool_set *set, const char *text, size_t len)
{
	char *exact = malloc(len > 0 ? len : 1);
	int ret;

	assert_non_null(exact);
	memcpy(exact, text, len);
	failure_get()->text[0] = '\0';
	ret = pool_set_parse(set, "my.set", exact, len);
	free(exact);
	return ret;
}

TEST(a_set_has_parts_and_options)
{
	static const char text[] = SIGNATURE "OPTION SINGLEHDR\n"
					     "# the first part\n"
					     "\n"
					     "16M /mnt/pmem0/a  # comment\n"
					     "\t8M\t \t/mnt/pmem1/b#comment\n"
					     "   \n"
					     "AUTO /dev/dax0.0";
	struct pool_set set;

	EQUAL((parse(&set, text, strlen(text)), 0), (set.single_header, true),
	      (set.no_headers, false), (set.count, 3), (set.parts[0].path, "/mnt/pmem0/a"),
	      (set.parts[0].bytes, 16 * MIB), (set.parts[1].path, "/mnt/pmem1/b"),
	      (set.parts[1].bytes, 8 * MIB), (set.parts[2].path, "/dev/dax0.0"),
	      (set.parts[2].bytes, POOL_SET_AUTO));
	pool_set_free(&set);
	pool_set_free(&set);
}

TEST(lines_may_end_in_crlf)
{
	static const char text[] = "PMEMPOOLSET\r\n16M /a\r\nOPTION NOHDRS\r\n\r\n";
	struct pool_set set;

	EQUAL((parse(&set, text, strlen(text)), 0), (set.parts[0].path, "/a"),
	      (set.no_headers, true));
	pool_set_free(&set);
}

static const struct {
	const char *size;
	uint64_t bytes; /* 0: malformed */
} sizes[] = {
	{"1", 1},
	{"4096B", 4096},
	{"2K", 2 * KIB},
	{"2KiB", 2 * KIB},
	{"2kB", 2000},
	{"16M", 16 * MIB},
	{"16MiB", 16 * MIB},
	{"16MB", 16000000},
	{"3G", 3072 * MIB},
	{"3GiB", 3072 * MIB},
	{"3GB", 3000000000},
	{"1T", 1ULL << 40},
	{"1TiB", 1ULL << 40},
	{"1TB", 1000000000000},
	{"1P", 1ULL << 50},
	{"1PiB", 1ULL << 50},
	{"1PB", 1000000000000000},
	{"0016M", 16 * MIB},
	{"9223372036854775807", INT64_MAX},
	{"9223372036854775808", 0},
	{"18446744073709551617", 0}, /* 2^64 + 1 */
	{"16385P", 0},		     /* more than 2^64 */
	{"8192P", 0},		     /* 2^63 */
	{"0", 0},
	{"-1M", 0},
	{"+1M", 0},
	{"1k", 0},
	{"1KB", 0},
	{"1kiB", 0},
	{"1MIB", 0},
	{"1E", 0},
	{"1MM", 0},
	{"1.5M", 0},
	{"M", 0},
	{"auto", 0},
	{"AUTOM", 0},
};

TEST(sizes_have_units)
{
	struct pool_set set;
	char text[64];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const int len = snprintf(text, sizeof(text), SIGNATURE "%s /a\n", sizes[i].size);
		const int ret = parse(&set, text, (size_t)len);

		if (ret != (sizes[i].bytes > 0 ? 0 : -EINVAL))
			fail_msg("%s: %d", sizes[i].size, ret);
		if (ret == 0 && set.parts[0].bytes != sizes[i].bytes)
			fail_msg("%s: %" PRIu64, sizes[i].size, set.parts[0].bytes);
		if (ret == 0)
			pool_set_free(&set);
	}
}

TEST(options_may_be_anywhere_and_repeated)
{
	static const struct {
		const char *text;
		bool single, none;
	} cases[] = {
		{"16M /a\nOPTION SINGLEHDR\n", true, false},
		{"OPTION NOHDRS # all of it\n16M /a\n", false, true},
		{"OPTION NOHDRS NOHDRS\n16M /a\nOPTION NOHDRS\n", false, true},
		{"16M /a\n", false, false},
		{"#OPTION NOHDRS\n16M /a\n", false, false},
	};
	struct pool_set set;
	char text[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int len = snprintf(text, sizeof(text), SIGNATURE "%s", cases[i].text);

		EQUAL((parse(&set, text, (size_t)len), 0), (set.single_header, cases[i].single),
		      (set.no_headers, cases[i].none));
		pool_set_free(&set);
	}
}

#define LITERAL(text) text, sizeof(text) - 1

TEST(wrong_sets_are_refused_by_line)
{
	static const struct {
		const char *text;
		size_t len;
		const char *sentence;
	} cases[] = {
		{LITERAL(""), "my.set:1: expected the line PMEMPOOLSET"},
		{LITERAL("\n"), "my.set:1:"},
		{LITERAL("PMEMPOOLSET"), "has no parts"},
		{LITERAL("PMEMPOOLSET \n16M /a\n"), "my.set:1:"},
		{LITERAL("PMEMPOOLSETX\n16M /a\n"), "my.set:1:"},
		{LITERAL(" PMEMPOOLSET\n16M /a\n"), "my.set:1:"},
		{LITERAL("pmempoolset\n16M /a\n"), "my.set:1:"},
		{LITERAL("# first\nPMEMPOOLSET\n16M /a\n"), "my.set:1:"},
		{LITERAL("PMEMPOOLSET\r16M /a\n"), "my.set:1:"},
		{LITERAL(SIGNATURE), "has no parts"},
		{LITERAL(SIGNATURE "OPTION SINGLEHDR\n"), "has no parts"},
		{LITERAL(SIGNATURE "#16M /a\n"), "has no parts"},
		{LITERAL(SIGNATURE SIGNATURE), "my.set:2: expected a size"},
		{LITERAL(SIGNATURE "16M\n"), "my.set:2: expected a size and a path"},
		{LITERAL(SIGNATURE "16M #/a\n"), "my.set:2: expected a size and a path"},
		{LITERAL(SIGNATURE "16M /a b\n"), "my.set:2: expected a size and a path"},
		{LITERAL(SIGNATURE "16 M /a\n"), "my.set:2: expected a size and a path"},
		{LITERAL(SIGNATURE "16M a\n"), "my.set:2: expected an absolute path, not a"},
		{LITERAL(SIGNATURE "16M ../a\n"), "my.set:2: expected an absolute path"},
		{LITERAL(SIGNATURE "/a 16M\n"), "my.set:2: expected a size such as"},
		{LITERAL(SIGNATURE "16M /a\n\n8M b\n"), "my.set:4: expected an absolute path"},
		{LITERAL(SIGNATURE "16M /a\nREPLICA\n8M /b\n"), "my.set:3: a pool set of"},
		{LITERAL(SIGNATURE "16M /a\nREPLICA host b.set\n"), "my.set:3: a pool set of"},
		{LITERAL(SIGNATURE "16M /a\nOPTION\n"), "my.set:3: expected one or two words"},
		{LITERAL(SIGNATURE "OPTION NOHDRS NOHDRS NOHDRS\n"), "my.set:2: expected one or"},
		{LITERAL(SIGNATURE "OPTION nohdrs\n16M /a\n"), "my.set:2: expected OPTION"},
		{LITERAL(SIGNATURE "OPTION NOHDRS X\n16M /a\n"), "not X"},
		{LITERAL(SIGNATURE "OPTION SINGLEHDR NOHDRS\n16M /a\n"), "mutually exclusive"},
		{LITERAL(SIGNATURE "OPTION SINGLEHDR\n16M /a\nOPTION NOHDRS\n"),
		 "my.set:4: SINGLE"},
		{LITERAL(SIGNATURE "16M /a\0b\n"), "my.set:2: a control character"},
		{LITERAL(SIGNATURE "16M /a\rb\n"), "my.set:2: a control character"},
		{LITERAL(SIGNATURE "16M /a\r\r\n"), "my.set:2: a control character"},
		{LITERAL(SIGNATURE "16M /a\177\n"), "my.set:2: a control character"},
	};
	struct pool_set set;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (parse(&set, cases[i].text, cases[i].len) != -EINVAL)
			fail_msg("accepted: %s", cases[i].text);
		if (strstr(failure_get()->text, cases[i].sentence) == NULL)
			fail_msg("%s: \"%s\" has no \"%s\"", cases[i].text, failure_get()->text,
				 cases[i].sentence);
	}
}

/* PATH_MAX counts the NUL. */
TEST(a_path_may_be_as_long_as_paths_are)
{
	static char text[8192];
	struct pool_set set;

	for (size_t length = 4095; length <= 4096; length++) {
		const int start = snprintf(text, sizeof(text), SIGNATURE "16M /");

		memset(text + start, 'a', length - 1);
		assert_int_equal(parse(&set, text, (size_t)start + length - 1),
				 length < 4096 ? 0 : -EINVAL);
		if (length < 4096) {
			assert_int_equal(strlen(set.parts[0].path), length);
			pool_set_free(&set);
		}
	}
}

TEST(a_set_has_1024_parts_at_most)
{
	static char text[64 * 1024];
	struct pool_set set;

	for (unsigned parts = 1024; parts <= 1025; parts++) {
		size_t len = (size_t)snprintf(text, sizeof(text), SIGNATURE);

		for (unsigned i = 0; i < parts; i++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "2M /mnt/%u\n", i);
		assert_int_equal(parse(&set, text, len), parts == 1024 ? 0 : -EINVAL);
		if (parts == 1024) {
			assert_string_equal(set.parts[1023].path, "/mnt/1023");
			pool_set_free(&set);
		}
	}
	assert_non_null(strstr(failure_get()->text, "my.set:1026: expected 1024 parts or less"));
}
