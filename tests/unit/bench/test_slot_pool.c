/* SPDX-License-Identifier: BSD-3-Clause */
/* test_slot_pool.c -- free slots, and the messages that wait for one. */
#include "tests/lib/test.h"
#include "tools/rpma-bench/server/slot_pool.h"

static struct slot_pool make(uint32_t first, uint32_t size, uint32_t taken)
{
	struct slot_pool pool;

	assert_int_equal(slot_pool_init(&pool, first, size, taken), 0);
	return pool;
}

TEST(free_slots_are_those_not_taken_each_once)
{
	struct slot_pool pool = make(100, 4, 2);
	const struct slot_message message = {NULL, 100, 8};
	uint32_t one = 0, two = 0, none = 7;

	EQUAL((slot_pool_exchange(&pool, &message, &one), true),
	      (slot_pool_exchange(&pool, &message, &two), true), (one + two, 102 + 103));
	assert_int_not_equal(one, two);
	assert_false(slot_pool_exchange(&pool, &message, &none));
	slot_pool_clear(&pool);
}

TEST(messages_are_held_in_their_order)
{
	struct slot_pool pool = make(0, 3, 3);
	struct slot_message got;
	uint32_t slot = 0;

	/* more in all than the ring is long, so that it goes round */
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 2; i++) {
			const struct slot_message message = {&pool, i, 10 * round + i};

			assert_false(slot_pool_exchange(&pool, &message, &slot));
		}
		for (uint32_t i = 0; i < 2; i++) {
			assert_true(slot_pool_give(&pool, 2, &got));
			assert_ptr_equal(got.from, &pool);
			EQUAL((got.slot, i), (got.bytes, 10 * round + i));
		}
	}
	assert_false(slot_pool_give(&pool, 2, &got));
	slot_pool_clear(&pool);
}

TEST(a_slot_given_is_the_next_to_be_taken)
{
	struct slot_pool pool = make(0, 2, 2);
	const struct slot_message message = {NULL, 0, 1};
	struct slot_message got;
	uint32_t slot = 0;

	EQUAL((slot_pool_give(&pool, 1, &got), false),
	      (slot_pool_exchange(&pool, &message, &slot), true), (slot, 1));
	slot_pool_clear(&pool);
}
