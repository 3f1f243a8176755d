/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rate.c -- the fault rate: when the last byte of an operation has left. */
#include "tests/unit/soft/fault_test.h"

TEST(it_sends_one_after_the_other)
{
	use_faults("rate:1GB"); /* a byte a nanosecond */
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 500, 1000), 1500);
	assert_int_equal(fault_due_ns(SOFT_OP_READ, 300, 1000), 1800);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 100, 1700), 1900);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 100, 5000), 5100); /* it was idle */
}

TEST(rates_are_bits_or_bytes_in_powers_of_ten)
{
	static const struct {
		const char *word;
		uint32_t bytes;
		uint64_t ns; /* that they take */
	} cases[] = {
		{"rate:100Gbit", 4096, 328}, /* 12.5 bytes a nanosecond */
		{"rate:10GB", 1000, 100},	 {"rate:8bit", 2, 2000000000},
		{"rate:1kbit", 125, 1000000000}, {"rate:1Mbit", 125, 1000000},
		{"rate:1.5kB", 3, 2000000},	 {"rate:2MB", 2, 1000},
		{"rate:7B", 7, 1000000000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		use_faults(cases[i].word);
		assert_int_equal(fault_due_ns(SOFT_OP_SEND, cases[i].bytes, 1000),
				 1000 + cases[i].ns);
	}
}

TEST(it_applies_in_the_order_of_the_user)
{
	use_faults("delay:time=2us rate:1GB"); /* the wait comes before the wire */
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 100, 1000), 3100);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 100, 3000), 5100);
	use_faults("rate:1GB delay:time=2us"); /* the wire is free again at 1100 */
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 100, 1000), 3100);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 100, 1000), 3200);
}

TEST(wrong_words_are_refused)
{
	ASSERT_REFUSED("rate", "rate:limit=1GB", "rate:1GB,2GB", "rate:0B", "rate:100",
		       "rate:1gbit", "rate:1GiB", "rate:9999999GB", "rate:infB", "rate:1GB/s");
}
