/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lane_message.c -- requests and answers of lanes, as bytes. Round trips: fuzz_lane_message.c.
 */
#include "librpmem/wire/lane_message.h"
#include "tests/lib/test.h"

static const struct lane_request sample = {LANE_DEEP, 0x01020304, 0x1122334455667788ULL,
					   0xfedcba9876543210ULL};

TEST(a_request_is_little_endian)
{
	static const uint8_t expected[LANE_REQUEST_BYTES] = {
		3,    0,    0,	  0,	4,    3,    2,	  1,	0x88, 0x77, 0x66, 0x55,
		0x44, 0x33, 0x22, 0x11, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};
	uint8_t bytes[LANE_REQUEST_BYTES];

	lane_encode_request(&sample, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
}

TEST(other_operations_are_refused)
{
	uint8_t bytes[LANE_REQUEST_BYTES];
	struct lane_request got;

	lane_encode_request(&sample, bytes);
	bytes[0] = 0;
	assert_int_equal(lane_decode_request(bytes, &got), -EPROTO);
	bytes[0] = LANE_OPS;
	assert_int_equal(lane_decode_request(bytes, &got), -EPROTO);
	for (size_t i = 1; i < 4; i++) {
		lane_encode_request(&sample, bytes);
		bytes[i] = 1;
		assert_int_equal(lane_decode_request(bytes, &got), -EPROTO);
	}
}

TEST(data_to_persist_has_a_limit)
{
	struct lane_request request = {LANE_PERSIST_DATA, 0, 0, LANE_DATA_MAX + 1}, got;
	uint8_t bytes[LANE_REQUEST_BYTES];

	lane_encode_request(&request, bytes);
	assert_int_equal(lane_decode_request(bytes, &got), -EPROTO);
	request.op = LANE_WRITE; /* as much as the pool has */
	lane_encode_request(&request, bytes);
	assert_int_equal(lane_decode_request(bytes, &got), 0);
}

TEST(ranges_are_whole)
{
	struct lane_request request = {LANE_PERSIST_RANGES, 0, 0, LANE_DATA_MAX}, got;
	static const uint64_t wrong[] = {1, 8, 15, 17, LANE_DATA_MAX - 8, LANE_DATA_MAX + 16};
	uint8_t bytes[LANE_REQUEST_BYTES];

	lane_encode_request(&request, bytes);
	assert_int_equal(lane_decode_request(bytes, &got), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		request.length = wrong[i];
		lane_encode_request(&request, bytes);
		assert_int_equal(lane_decode_request(bytes, &got), -EPROTO);
	}
}

TEST(a_range_comes_back)
{
	static const uint8_t expected[LANE_RANGE_BYTES] = {2, 1, 0, 0, 0, 0, 0, 0x80, 64};
	const struct lane_range range = {0x8000000000000102ULL, 64};
	uint8_t bytes[LANE_RANGE_BYTES];
	struct lane_range got;

	lane_encode_range(&range, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
	got = lane_decode_range(bytes);
	assert_true(got.offset == range.offset);
	assert_int_equal(got.length, 64);
}

TEST(an_answer_is_little_endian)
{
	static const uint8_t expected[LANE_ANSWER_BYTES] = {4, 3, 2, 1, 2, 0, 0, 0};
	uint8_t bytes[LANE_ANSWER_BYTES];

	lane_encode_answer(&(struct lane_answer){0x01020304, PERSIST_FAILED}, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
}

TEST(other_statuses_are_refused)
{
	uint8_t bytes[LANE_ANSWER_BYTES] = {0, 0, 0, 0, PERSIST_STATUSES};
	struct lane_answer got;

	assert_int_equal(lane_decode_answer(bytes, &got), -EPROTO);
	bytes[4] = 0;
	bytes[7] = 1;
	assert_int_equal(lane_decode_answer(bytes, &got), -EPROTO);
}
