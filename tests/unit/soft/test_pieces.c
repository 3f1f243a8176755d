// SPDX-License-Identifier: BSD-3-Clause
/*
 * test_pieces.c -- a message in pieces: each byte moves once, with its line, and no other byte
 * does.
 */
#include "soft_device/transport/pieces.h"
#include "tests/lib/test.h"

#define ROOM   20000u
#define GROUPS 4u
#define LINE   64u

static _Alignas(LINE) unsigned char near[ROOM], far[ROOM], before[ROOM];
static struct local_memory local;
static uint32_t bytes;
static bool reads;

/* Two parts, of which the second one comes first in memory. */
static void make_memory(bool is_read, uint32_t length)
{
	const uint32_t first = length / 3;

	for (unsigned i = 0; i < ROOM; i++) {
		near[i] = (unsigned char)(i * 7 + 1);
		far[i] = (unsigned char)(i * 13 + 5);
	}
	reads = is_read;
	bytes = length;
	local = (struct local_memory){.parts = {{near + ROOM / 2, first}, {near, length - first}},
				      .count = 2};
}

static unsigned char *local_byte(uint32_t at)
{
	const uint32_t first = (uint32_t)local.parts[0].iov_len;

	return at < first ? near + ROOM / 2 + at : near + at - first;
}

static void move(unsigned char *to, uint64_t key, unsigned first, unsigned last)
{
	struct pieces pieces = {.local = &local,
				.reads = reads,
				.key = key,
				.groups = GROUPS,
				.first = first,
				.last = last};

	assert_int_equal(pieces_move(&pieces, (uintptr_t)to, bytes), 0);
}

static void write_in_groups(uint32_t skew, uint32_t length, uint64_t key)
{
	unsigned changed[GROUPS] = {0};

	make_memory(false, length);
	for (unsigned group = 0; group < GROUPS; group++) {
		memcpy(before, far, sizeof(far));
		move(far + skew, key, group, group);
		for (uint32_t i = 0; i < ROOM; i++) {
			if (far[i] == before[i])
				continue;
			changed[group]++;
			if (i < skew || i >= skew + length || far[i] != *local_byte(i - skew))
				fail_msg("%u bytes at %u: byte %u", length, skew, i);
		}
	}
	for (uint32_t i = 0; i < length; i++)
		assert_int_equal(far[skew + i], *local_byte(i));
	if (length >= 64 * LINE)
		for (unsigned group = 0; group < GROUPS; group++)
			assert_true(changed[group] > 0);
}

TEST(a_write_is_whole_after_all_groups)
{
	static const uint32_t lengths[] = {1, 8, 63, 64, 65, 128, 4000, 4096, 4097, 9000};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (uint32_t skew = 0; skew < 130; skew += 13)
			write_in_groups(skew, lengths[i], i + skew);
}

TEST(a_line_moves_as_a_whole)
{
	make_memory(false, 64 * LINE);
	memset(near, 1, sizeof(near));
	memset(far, 2, sizeof(far));
	move(far, 5, 0, 1);
	for (unsigned line = 0; line < 64; line++)
		for (unsigned i = 1; i < LINE; i++)
			assert_int_equal(far[line * LINE + i], far[line * LINE]);
}

TEST(the_last_groups_may_move_together)
{
	make_memory(false, 4096);
	move(far, 3, 0, 0);
	move(far, 3, 1, GROUPS - 1);
	for (uint32_t i = 0; i < 4096; i++)
		assert_int_equal(far[i], *local_byte(i));
}

TEST(a_read_goes_the_other_way)
{
	make_memory(true, 5000);
	for (unsigned group = 0; group < GROUPS; group++)
		move(far + 10, 9, group, group);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(*local_byte(i), (unsigned char)((i + 10) * 13 + 5));
}

TEST(other_keys_deal_in_another_way)
{
	make_memory(false, 4096);
	move(far, 1, 0, 0);
	memcpy(before, far, sizeof(far));
	make_memory(false, 4096);
	move(far, 2, 0, 0);
	assert_memory_not_equal(before, far, 4096);
	make_memory(false, 4096);
	move(far, 1, 0, 0);
	assert_memory_equal(before, far, 4096);
}
