/* SPDX-License-Identifier: BSD-3-Clause */
/* test_corrupt.c -- the fault corrupt: which byte of which operation is complemented. */
#include "tests/unit/soft/fault_test.h"

static unsigned complemented(const unsigned char *bytes, size_t length)
{
	unsigned count = 0;

	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == 0xff)
			count++;
		else
			assert_int_equal(bytes[i], 0);
	}
	return count;
}

TEST(one_byte_of_the_nth_is_corrupted)
{
	unsigned char bytes[100] = {0};

	use_faults("corrupt:op=write,at=2");
	assert_true(fault_corrupt_wanted());
	fault_corrupt(SOFT_OP_WRITE, bytes, sizeof(bytes));
	fault_corrupt(SOFT_OP_SEND, bytes, sizeof(bytes));
	fault_corrupt(SOFT_OP_WRITE, bytes, 0); /* moves nothing: is not counted */
	assert_int_equal(complemented(bytes, sizeof(bytes)), 0);
	fault_corrupt(SOFT_OP_WRITE, bytes, sizeof(bytes));
	assert_int_equal(complemented(bytes, sizeof(bytes)), 1);
}

TEST(it_reaches_every_byte)
{
	unsigned char bytes[4], seen = 0;

	use_faults("corrupt seed:3");
	for (int i = 0; i < 200; i++) { /* all but certain: 4 * (3/4)^200 */
		memset(bytes, 0, sizeof(bytes));
		fault_corrupt(SOFT_OP_SEND, bytes, sizeof(bytes));
		assert_int_equal(complemented(bytes, sizeof(bytes)), 1);
		for (int n = 0; n < 4; n++)
			seen |= (unsigned char)(bytes[n] != 0 ? 1 << n : 0);
	}
	assert_int_equal(seen, 0xf);
}

TEST(nothing_is_corrupted_without_it)
{
	use_faults("delay:time=1us");
	assert_false(fault_corrupt_wanted());
}

TEST(wrong_words_are_refused)
{
	ASSERT_REFUSED("corrupt:", "corrupt:op=byte", "corrupt:status=FATAL_ERR");
}
