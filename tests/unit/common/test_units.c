/* SPDX-License-Identifier: BSD-3-Clause */
/* test_units.c -- sizes, durations, lists and ranges. */
#include "common/base/units.h"
#include "tests/lib/test.h"

struct parse_case {
	const char *text;
	int ret;
	uint64_t value;
};

static void check(int (*parse)(const char *, uint64_t *), const struct parse_case *cases)
{
	for (; cases->text != NULL; cases++) {
		uint64_t value = 77;

		if (parse(cases->text, &value) != cases->ret)
			fail_msg("%s: not %d", cases->text, cases->ret);
		assert_int_equal(value, cases->ret == 0 ? cases->value : 77);
	}
}

TEST(sizes_are_powers_of_1024)
{
	static const struct parse_case cases[] = {
		{"0", 0, 0},
		{"64", 0, 64},
		{"64B", 0, 64},
		{"4K", 0, 4096},
		{"4KiB", 0, 4096},
		{"1M", 0, 1048576},
		{"1MiB", 0, 1048576},
		{"2G", 0, 2147483648},
		{"3T", 0, 3298534883328},
		{"18446744073709551615", 0, UINT64_MAX},
		{NULL, 0, 0},
	};

	check(units_parse_size, cases);
}

TEST(malformed_sizes_are_refused)
{
	static const struct parse_case cases[] = {
		{"", -EINVAL, 0},	   {"X", -EINVAL, 0},
		{"1X", -EINVAL, 0},	   {"-1", -EINVAL, 0},
		{" 1", -EINVAL, 0},	   {"1 ", -EINVAL, 0},
		{"1k", -EINVAL, 0},	   {"1.5K", -EINVAL, 0},
		{"0x10", -EINVAL, 0},	   {"1KB", -EINVAL, 0},
		{"+1", -EINVAL, 0},	   {"18446744073709551616", -ERANGE, 0},
		{"16777216T", -ERANGE, 0}, {NULL, 0, 0},
	};

	check(units_parse_size, cases);
}

TEST(durations_have_units)
{
	static const struct parse_case cases[] = {
		{"10", 0, 10000000000},
		{"10s", 0, 10000000000},
		{"2ms", 0, 2000000},
		{"500us", 0, 500000},
		{"7ns", 0, 7},
		{"1m", 0, 60000000000},
		{"1h", 0, 3600000000000},
		{"1d", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"1S", -EINVAL, 0},
		{"99999999999h", -ERANGE, 0},
		{"0.2s", 0, 200000000},
		{".25", 0, 250000000},
		{"1.5m", 0, 90000000000},
		{"2.5ms", 0, 2500000},
		{"1.0000000009s", 0, 1000000000},
		{"0.123456789s", 0, 123456789},
		{".", -EINVAL, 0},
		{"1.", -EINVAL, 0},
		{"1.s", -EINVAL, 0},
		{".s", -EINVAL, 0},
		{"1.5.5s", -EINVAL, 0},
		{"-0.5s", -EINVAL, 0},
		{"18446744073.99s", -ERANGE, 0},
		{NULL, 0, 0},
	};

	check(units_parse_duration, cases);
}

TEST(counts_are_powers_of_1000)
{
	static const struct parse_case cases[] = {
		{"0", 0, 0},	       {"500", 0, 500},
		{"10k", 0, 10000},     {"2M", 0, 2000000},
		{"1G", 0, 1000000000}, {"1K", -EINVAL, 0},
		{"1.5k", -EINVAL, 0},  {"k", -EINVAL, 0},
		{"", -EINVAL, 0},      {"99999999999999999999", -ERANGE, 0},
		{NULL, 0, 0},
	};

	check(units_parse_count, cases);
}

TEST(fractions_are_millionths)
{
	static const struct parse_case cases[] = {
		{"0", 0, 0},
		{"1", 0, 1000000},
		{"0.5", 0, 500000},
		{"0.000001", 0, 1},
		{"1.000000", 0, 1000000},
		{"35%", 0, 350000},
		{"0.5%", 0, 5000},
		{"100%", 0, 1000000},
		{"99.9999%", 0, 999999},
		{"1.1", -ERANGE, 0},
		{"101%", -ERANGE, 0},
		{"0.0000001", -EINVAL, 0},
		{"0.00001%", -EINVAL, 0},
		{"-0.5", -EINVAL, 0},
		{".5", -EINVAL, 0},
		{"0.", -EINVAL, 0},
		{"0.5.5", -EINVAL, 0},
		{"%", -EINVAL, 0},
		{"5%%", -EINVAL, 0},
		{"nan", -EINVAL, 0},
		{"1e-3", -EINVAL, 0},
		{"", -EINVAL, 0},
		{NULL, 0, 0},
	};

	check(units_parse_fraction, cases);
}

struct list_case {
	const char *text;
	size_t count;
	uint64_t values[8];
};

TEST(lists_and_ranges_expand)
{
	static const struct list_case cases[] = {
		{"64", 1, {64}},
		{"64,4K", 2, {64, 4096}},
		{"64:1K:*2", 5, {64, 128, 256, 512, 1024}},
		{"1:100:*10", 3, {1, 10, 100}},
		{"1:99:*10", 2, {1, 10}},
		{"1K:4K:+1K", 4, {1024, 2048, 3072, 4096}},
		{"5:5:*2", 1, {5}},
		{"64:1K:x4", 3, {64, 256, 1024}},
		/* 10 x 1.5 x 1.5 ..., rounded at each step */
		{"10:60:*1.5", 5, {10, 15, 23, 35, 53}},
		/* rounding alone would stand still */
		{"1:4:*1.001", 4, {1, 2, 3, 4}},
		{"8,16:64:*2,1M", 5, {8, 16, 32, 64, 1048576}},
		/* the step after the last would overflow */
		{"9223372036854775808:18446744073709551615:*2", 1, {9223372036854775808ULL}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct units_list list = {0, NULL};

		EQUAL((units_parse_list(cases[i].text, units_parse_size, &list), 0),
		      (list.count, cases[i].count));
		assert_memory_equal(list.values, cases[i].values,
				    cases[i].count * sizeof(list.values[0]));
		units_list_free(&list);
		assert_int_equal(list.count, 0);
	}
}

TEST(malformed_lists_are_refused)
{
	static const char *const cases[] = {
		"",	      ",",	   "64,",	 "64,,4K",	  "64:4K",     "64:4K:",
		"64:4K:2",    "64:4K:*1",  "64:4K:*0.5", "64:4K:*1.0001", "64:4K:*1.", "64:4K:y2",
		"64:4K:*0",   "64:4K:+0",  "4K:64:*2",	 "0:64:*2",	  ":64:*2",    "64::*2",
		"64:4K:*2:8", "64:4K:*2K", "64;4K",	 "64::4K:*2",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct units_list list = {3, NULL};

		if (units_parse_list(cases[i], units_parse_size, &list) == 0)
			fail_msg("accepted: %s", cases[i]);
		assert_int_equal(list.count, 3);
	}
}

TEST(a_list_has_a_limit)
{
	struct units_list list = {0, NULL};

	EQUAL((units_parse_list("1:4096:+1", units_parse_size, &list), 0), (list.count, 4096));
	units_list_free(&list);
	assert_int_equal(units_parse_list("1:4097:+1", units_parse_size, &list), -ERANGE);
}

TEST(printed_fractions_are_read_again)
{
	static const uint64_t cases[] = {0, 1, 10, 350000, 999999, 1000000};
	char text[UNITS_TEXT_BYTES];

	assert_string_equal(units_print_fraction(350000, text), "0.35");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 77;

		units_print_fraction(cases[i], text);
		EQUAL((units_parse_fraction(text, &value), 0), (value, cases[i]));
	}
}

TEST(printed_spans_have_two_units)
{
	char text[UNITS_TEXT_BYTES];

	EQUAL((units_print_span(0, text), "0 s"), (units_print_span(59, text), "59 s"),
	      (units_print_span(605, text), "10 min 05 s"),
	      (units_print_span(3 * 3600 + 125, text), "3 h 02 min"));
}

TEST(printed_sizes_are_exact)
{
	char text[UNITS_TEXT_BYTES];

	EQUAL((units_print_size(0, text), "0 B"), (units_print_size(1500, text), "1500 B"),
	      (units_print_size(4096, text), "4 KiB"), (units_print_size(1536, text), "1536 B"),
	      (units_print_size(3ULL << 20, text), "3 MiB"),
	      (units_print_size(UINT64_MAX, text), "18446744073709551615 B"));
}

TEST(printed_durations_have_three_digits)
{
	char text[UNITS_TEXT_BYTES];

	EQUAL((units_print_duration(1, text), "1 ns"), (units_print_duration(999, text), "999 ns"),
	      (units_print_duration(999.6, text), "1.00 us"),
	      (units_print_duration(1890, text), "1.89 us"),
	      (units_print_duration(18900, text), "18.9 us"),
	      (units_print_duration(189000, text), "189 us"),
	      (units_print_duration(9.996e6, text), "10.0 ms"),
	      (units_print_duration(7.5e10, text), "75.0 s"));
}
