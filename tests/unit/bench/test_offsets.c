/* SPDX-License-Identifier: BSD-3-Clause */
/* test_offsets.c -- where operations go, and what the server finds there. */
#include <math.h>

#include "tests/lib/test.h"
#include "tools/rpma-bench/measure/offsets.h"

static struct access a;

static struct params one_qp(uint64_t size_bytes, enum bench_pattern pattern)
{
	return (struct params){
		.size_bytes = size_bytes,
		.depth = 1,
		.threads = 1,
		.connections = 1,
		.pattern = {pattern, 0},
	};
}

/* A target after `ops` operations of each queue pair, as the client's device would leave it. */
static uint8_t *written(const struct params *params, uint64_t target_bytes, uint64_t ops,
			uint64_t seed)
{
	uint8_t *target = calloc(1, target_bytes);

	assert_non_null(target);
	for (uint32_t qp = 0; qp < params_qps(params); qp++) {
		uint8_t *source;

		access_init(&a, params, target_bytes, qp, seed);
		source = malloc(access_source_bytes(&a));
		assert_non_null(source);
		access_fill(&a, source);
		for (uint64_t i = 0; i < ops; i++) {
			uint64_t slot = access_next(&a);

			memcpy(target + access_offset(&a, slot), source + access_source(&a, slot),
			       params->size_bytes);
			for (int byte = 0; params->persist == BENCH_APPEND && byte < 8; byte++)
				target[access_tail_offset(&a) + (uint64_t)byte] =
					(uint8_t)(access_tail(&a, slot) >> (8 * byte));
		}
		free(source);
	}
	return target;
}

static struct access_check check(const struct params *params, uint64_t target_bytes,
				 const uint8_t *target, uint64_t touched, uint64_t seed)
{
	struct access_check c = ACCESS_CHECK_NONE;

	for (uint32_t qp = 0; qp < params_qps(params); qp++) {
		access_init(&a, params, target_bytes, qp, seed);
		access_verify(&a, params, target, touched, &c, NULL);
	}
	return c;
}

TEST(every_slot_comes_once_before_any_comes_twice)
{
	static const uint64_t slots[] = {1, 2, 3, 4, 5, 63, 64, 65, 1000, 65536, 100003};

	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		for (int pattern = 0; pattern <= BENCH_RAND; pattern++) {
			struct params p = one_qp(64, (enum bench_pattern)pattern);
			uint8_t *seen = calloc(slots[i], 1);

			assert_non_null(seen);
			access_init(&a, &p, slots[i] * 64, 0, i);
			assert_int_equal(a.slots, slots[i]);
			for (uint64_t n = 0; n < 3 * slots[i]; n++) {
				uint64_t slot = access_next(&a);

				assert_true(slot < slots[i]);
				assert_int_equal(seen[slot]++, n / slots[i]);
			}
			free(seen);
		}
	}
}

TEST(a_sequence_is_in_order)
{
	struct params p = one_qp(100, BENCH_SEQ);

	access_init(&a, &p, 1024, 0, 1);
	for (uint64_t i = 0; i < 20; i++)
		assert_int_equal(access_offset(&a, access_next(&a)), i % 8 * 128);
}

/* No distance between two neighbours in time is frequent, so no prefetcher learns one. */
TEST(a_random_order_has_no_stride)
{
	enum { SLOTS = 4096 };
	static unsigned distances[2 * SLOTS];
	struct params p = one_qp(64, BENCH_RAND);
	uint64_t last = 0;

	for (uint64_t seed = 0; seed < 10; seed++) {
		memset(distances, 0, sizeof(distances));
		access_init(&a, &p, (uint64_t)SLOTS * 64, 0, seed);
		for (int i = 0; i < SLOTS; i++) {
			uint64_t slot = access_next(&a);

			distances[SLOTS + slot - last]++;
			last = slot;
		}
		/* a fair shuffle has each about once; 1 % of all would be 41 */
		for (int i = 0; i < 2 * SLOTS; i++)
			assert_true(distances[i] < 41);
	}
}

TEST(each_seed_has_an_order_and_a_content_of_its_own)
{
	struct params p = one_qp(64, BENCH_RAND);
	struct access b;
	unsigned equal = 0;

	access_init(&a, &p, 64000, 0, 1);
	access_init(&b, &p, 64000, 0, 2);
	assert_int_not_equal(a.salt, b.salt);
	for (int i = 0; i < 1000; i++)
		equal += access_next(&a) == access_next(&b);
	assert_true(equal < 20);
}

TEST(qps_do_not_overlap)
{
	struct params p = one_qp(100, BENCH_SEQ);
	uint64_t end = 0;

	p.threads = 2;
	p.connections = 3;
	for (uint32_t qp = 0; qp < 6; qp++) {
		access_init(&a, &p, 10000, qp, 1);
		assert_in_range(access_offset(&a, 0), end, 10000);
		end = access_offset(&a, a.slots - 1) + 100;
		assert_true(end <= 10000);
	}
}

TEST(the_least_room_of_a_qp_is_enough)
{
	static const uint64_t sizes[] = {1, 8, 63, 64, 65, 4096, 1048576};
	static const enum bench_persist persists[] = {BENCH_NONE, BENCH_APPEND};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (size_t k = 0; k < 2; k++) {
			struct params p = one_qp(sizes[i], BENCH_SEQ);
			uint64_t room;

			p.persist = persists[k];
			p.threads = 3;
			room = 3 * access_slice_min(&p);
			access_init(&a, &p, room, 2, 1);
			assert_int_equal(a.slots, 1);
			assert_true(access_offset(&a, 0) + sizes[i] <= room);
			access_init(&a, &p, room, 0, 1);
			if (persists[k] == BENCH_APPEND)
				assert_int_equal(access_tail_offset(&a), 0);
		}
	}
}

TEST(the_source_stays_small)
{
	struct params p = one_qp(64, BENCH_SEQ);

	access_init(&a, &p, 1ULL << 34, 0, 1);
	assert_int_equal(access_source_bytes(&a), ACCESS_SOURCE_BYTES);
	p.size_bytes = 3 << 20;
	access_init(&a, &p, 1ULL << 34, 0, 1);
	assert_int_equal(access_source_bytes(&a), 3 << 20);
	p.size_bytes = 64 << 20;
	access_init(&a, &p, 1ULL << 34, 0, 1);
	assert_int_equal(access_source_bytes(&a), 64 << 20);
}

static const struct {
	uint64_t size;
	uint64_t target_bytes;
	uint64_t ops;
} targets[] = {
	{8, 4096, 10}, {8, 4096, 64}, {8, 4096, 1000},	    {100, 10000, 7},
	{1, 640, 3},   {7, 640, 5},   {4096, 1 << 20, 200}, {65536, 16 << 20, 256},
};

TEST(what_was_written_is_found)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		for (int pattern = 0; pattern <= BENCH_RAND; pattern++) {
			struct params p = one_qp(targets[i].size, (enum bench_pattern)pattern);
			uint8_t *target = written(&p, targets[i].target_bytes, targets[i].ops, 9);
			struct access_check c =
				check(&p, targets[i].target_bytes, target, targets[i].ops, 9);
			uint64_t slots =
				targets[i].target_bytes / ((targets[i].size + 63) & ~63ULL);
			uint64_t touched = targets[i].ops < slots ? targets[i].ops : slots;

			EQUAL((c.mismatches, 0), (c.first_offset, UINT64_MAX),
			      (c.checked_bytes, touched * targets[i].size));
			free(target);
		}
	}
}

/* Each byte of the target, one after the other. */
TEST(exactly_the_flipped_byte_is_found)
{
	const uint64_t bytes = 1024, ops = 5;
	struct params p = one_qp(100, BENCH_RAND);
	uint8_t *target = written(&p, bytes, ops, 3);
	uint64_t found = 0;

	for (uint64_t at = 0; at < bytes; at++) {
		struct access_check c;

		target[at] ^= 0x40;
		c = check(&p, bytes, target, ops, 3);
		target[at] ^= 0x40;
		if (c.mismatches == 0)
			continue;
		EQUAL((c.mismatches, 1), (c.first_offset, at));
		found++;
	}
	/* untouched bytes are not checked */
	assert_int_equal(found, ops * 100);
	free(target);
}

TEST(what_was_not_written_is_found)
{
	struct params p = one_qp(256, BENCH_SEQ);
	uint8_t *target = written(&p, 65536, 99, 3);
	struct access_check c = check(&p, 65536, target, 100, 3);

	assert_int_equal(c.checked_bytes, 25600);
	/* a byte in 256 is zero by chance */
	assert_in_range(c.mismatches, 240, 256);
	assert_in_range(c.first_offset, 99 * 256, 99 * 256 + 8);
	free(target);
}

TEST(what_an_earlier_repeat_left_is_no_match)
{
	struct params p = one_qp(4096, BENCH_SEQ);
	uint8_t *target = written(&p, 65536, 16, 3);
	struct access_check c = check(&p, 65536, target, 16, 4);

	assert_true(c.mismatches > 65536 * 9 / 10);
	free(target);
}

TEST(a_log_is_checked_with_its_tail)
{
	struct params p = one_qp(100, BENCH_SEQ);
	struct access_check c;
	uint8_t *target;

	p.persist = BENCH_APPEND;
	for (uint64_t ops = 1; ops < 20; ops++) {
		target = written(&p, 64 + 128 * 7, ops, 3);
		c = check(&p, 64 + 128 * 7, target, ops, 3);
		EQUAL((c.mismatches, 0), (c.checked_bytes, (ops < 7 ? ops : 7) * 100 + 8));
		/* it points behind the last record */
		assert_int_equal(target[0] | target[1] << 8, ((ops - 1) % 7 + 1) * 128);
		target[0] ^= 1;
		c = check(&p, 64 + 128 * 7, target, ops, 3);
		EQUAL((c.mismatches, 1), (c.first_offset, 0));
		free(target);
	}
}

TEST(all_qps_are_checked)
{
	struct params p = one_qp(64, BENCH_RAND);
	struct access_check c;
	uint8_t *target;

	p.threads = 2;
	p.connections = 2;
	target = written(&p, 65536, 100, 3);
	target[65535 - 63] ^= 1;
	c = check(&p, 65536, target, 1000, 3);
	assert_int_equal(c.checked_bytes, 65536);
	assert_true(c.mismatches > 0);
	free(target);
	target = written(&p, 65536, 1000, 3);
	c = check(&p, 65536, target, 1000, 3);
	assert_int_equal(c.mismatches, 0);
	free(target);
}

/* 1000 slots, theta 0.99: the hottest has 1 / 7.73 of the draws, the sum of k^-0.99 up to 1000. */
TEST(zipf_has_hot_slots_anywhere)
{
	static uint32_t draws[ACCESS_DRAWS], counts[1000];
	struct params p = one_qp(64, BENCH_ZIPF);
	uint64_t hottest[2];
	double sum = 0;

	p.pattern.number = 990000;
	for (int k = 1; k <= 1000; k++)
		sum += pow(k, -0.99);
	for (uint64_t seed = 0; seed < 2; seed++) {
		double p_hot = 1 / sum;

		memset(counts, 0, sizeof(counts));
		access_init(&a, &p, 64000, 0, seed);
		access_draw(&a, &p, draws);
		for (int i = 0; i < 2 * ACCESS_DRAWS; i++) {
			uint64_t slot = access_next(&a);

			assert_true(slot < 1000);
			assert_int_equal(slot, draws[i % ACCESS_DRAWS]);
			counts[slot] += i < ACCESS_DRAWS;
		}
		hottest[seed] = 0;
		for (uint64_t i = 0; i < 1000; i++) {
			if (counts[i] > counts[hottest[seed]])
				hottest[seed] = i;
		}
		assert_true(fabs(counts[hottest[seed]] - p_hot * ACCESS_DRAWS) <
			    5 * sqrt(p_hot * ACCESS_DRAWS));
	}
	assert_int_not_equal(hottest[0], hottest[1]);
}
