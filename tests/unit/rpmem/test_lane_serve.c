/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lane_serve.c -- requests of a lane on a pool of this test: what they copy and
 * make durable, and which are refused.
 */
#include <unistd.h>

#include "tests/lib/one_pool.h"
#include "tests/lib/test.h"
#include "tools/rpmemd/lane_serve.h"

#define SIZE   16384
#define HEADER 4096
#define MEMORY (around + 64)

/* The pool's memory, in a larger array whose rest must stay as it is. */
static unsigned char around[SIZE + 128];
static struct pool pool;

static struct {
	int answer;	     /* what the calls below return */
	unsigned ends_after; /* the session ends in this call for persistence; 0: in none */
	unsigned persisted, deep;
	size_t offset, length; /* the last range */
} calls;

static atomic_bool ends;

int pool_persist(const struct pool *p, size_t offset, size_t length)
{
	if (++calls.persisted == calls.ends_after)
		ends = true;
	calls.offset = offset;
	calls.length = length;
	return calls.answer;
}

int pool_deep_persist(const struct pool *p, size_t offset, size_t length)
{
	calls.deep++;
	calls.offset = offset;
	calls.length = length;
	return calls.answer;
}

static uint8_t message[LANE_REQUEST_BYTES + LANE_DATA_MAX + 1];

static int set_up(void **state)
{
	memset(&calls, 0, sizeof(calls));
	memset(around, 0xee, sizeof(around));
	pool = (struct pool){.memory = MEMORY, .size = SIZE, .kind = TARGET_FSDAX};
	ends = false;
	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 7 + 1);
	return 0;
}

/* Serves a message of a request with this much data; gives the status of the answer. */
static enum persist_status served(enum lane_op op, uint64_t offset, uint64_t length, size_t data)
{
	const struct lane_request request = {op, 0xabcd, offset, length};
	uint8_t bytes[LANE_ANSWER_BYTES];
	struct lane_answer answer;

	lane_encode_request(&request, message);
	EQUAL((lane_serve_message(&pool, message, LANE_REQUEST_BYTES + data, &ends, bytes), 0),
	      (lane_decode_answer(bytes, &answer), 0), (answer.slot, 0xabcd));
	return answer.status;
}

static int unanswered(enum lane_op op, uint64_t length, size_t bytes)
{
	const struct lane_request request = {op, 1, HEADER, length};
	uint8_t answer[LANE_ANSWER_BYTES];

	lane_encode_request(&request, message);
	return lane_serve_message(&pool, message, bytes, &ends, answer);
}

/* Everything but [offset, offset + length) is as it was. */
static void assert_untouched_except(size_t offset, size_t length)
{
	for (size_t i = 0; i < sizeof(around); i++) {
		if (i < 64 + offset || i >= 64 + offset + length)
			assert_int_equal(around[i], 0xee);
	}
}

TEST(data_are_copied_and_made_durable, set_up)
{
	/* each place of the begin and of the end within a word */
	for (size_t offset = HEADER; offset < HEADER + 8; offset++) {
		for (size_t length = 1; length < 40; length++) {
			set_up(NULL);
			assert_int_equal(served(LANE_PERSIST_DATA, offset, length, length),
					 PERSIST_DONE);
			assert_memory_equal(MEMORY + offset, message + LANE_REQUEST_BYTES, length);
			assert_untouched_except(offset, length);
			EQUAL((calls.persisted, 1), (calls.offset, offset), (calls.length, length));
		}
	}
}

TEST(a_whole_request_of_data_is_copied, set_up)
{
	assert_int_equal(served(LANE_PERSIST_DATA, 3, LANE_DATA_MAX, LANE_DATA_MAX), PERSIST_DONE);
	assert_memory_equal(MEMORY + 3, message + LANE_REQUEST_BYTES, LANE_DATA_MAX);
	assert_untouched_except(3, LANE_DATA_MAX);
}

TEST(a_write_is_not_durable_yet, set_up)
{
	assert_int_equal(served(LANE_WRITE, 100, 1000, 1000), PERSIST_DONE);
	assert_memory_equal(MEMORY + 100, message + LANE_REQUEST_BYTES, 1000);
	assert_untouched_except(100, 1000);
	assert_int_equal(calls.persisted, 0);
}

TEST(a_range_is_made_durable, set_up)
{
	EQUAL((served(LANE_PERSIST, 0, SIZE, 0), PERSIST_DONE), (calls.persisted, 1),
	      (calls.length, SIZE), (served(LANE_DEEP, SIZE - 1, 1, 0), PERSIST_DONE),
	      (calls.deep, 1), (calls.offset, SIZE - 1));
	assert_untouched_except(0, 0);
}

TEST(ranges_outside_the_pool_are_refused, set_up)
{
	static const struct {
		uint64_t offset, length;
	} outside[] = {
		{0, 0},
		{SIZE, 0},
		{SIZE, 1},
		{SIZE - 1, 2},
		{0, SIZE + 1},
		{1, UINT64_MAX},
		{UINT64_MAX, 1},
		{UINT64_MAX, 2},
		{UINT64_MAX, UINT64_MAX},
		{1ULL << 63, 1ULL << 63},
		{SIZE, UINT64_MAX - SIZE + 1},
	};
	static const enum lane_op ops[] = {LANE_PERSIST, LANE_DEEP};

	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		for (size_t k = 0; k < sizeof(ops) / sizeof(ops[0]); k++)
			assert_int_equal(served(ops[k], outside[i].offset, outside[i].length, 0),
					 PERSIST_OUTSIDE);
	}
	EQUAL((served(LANE_PERSIST_DATA, SIZE - 7, 8, 8), PERSIST_OUTSIDE),
	      (served(LANE_WRITE, UINT64_MAX - 3, 8, 8), PERSIST_OUTSIDE),
	      (served(LANE_WRITE, 0, 0, 0), PERSIST_OUTSIDE), (calls.persisted + calls.deep, 0));
	assert_untouched_except(0, 0);
}

/* librpmem refuses this itself; the header is the daemon's. */
TEST(a_header_is_not_written, set_up)
{
	pool.has_headers = true;
	EQUAL((served(LANE_PERSIST_DATA, HEADER - 1, 1, 1), PERSIST_OUTSIDE),
	      (served(LANE_WRITE, HEADER - 8, 64, 64), PERSIST_OUTSIDE));
	assert_untouched_except(0, 0);
	EQUAL((served(LANE_PERSIST_DATA, HEADER, 1, 1), PERSIST_DONE),
	      (served(LANE_PERSIST, 0, HEADER, 0), PERSIST_DONE));
}

/* Ranges as data; gives the status of the answer. */
static enum persist_status served_ranges(const struct lane_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		lane_encode_range(&ranges[i], message + LANE_REQUEST_BYTES + i * LANE_RANGE_BYTES);
	return served(LANE_PERSIST_RANGES, 0, count * LANE_RANGE_BYTES, count * LANE_RANGE_BYTES);
}

TEST(each_of_many_ranges_is_made_durable, set_up)
{
	const struct lane_range good[] = {{0, 8}, {64, 100}, {SIZE - 1, 1}};
	const struct lane_range bad[] = {{SIZE - 1, 2}, {0, 0}, {64, 100}};

	EQUAL((served_ranges(good, 3), PERSIST_DONE), (calls.persisted, 3),
	      (calls.offset, SIZE - 1), (served_ranges(bad, 3), PERSIST_OUTSIDE),
	      (calls.persisted, 4), (served_ranges(NULL, 0), PERSIST_DONE), (calls.persisted, 4));
	assert_untouched_except(0, 0);
}

TEST(a_large_range_is_made_durable_in_pieces, set_up)
{
	pool.size = 3 * LANE_PIECE_BYTES;
	EQUAL((served(LANE_PERSIST, 1, 2 * LANE_PIECE_BYTES + 7, 0), PERSIST_DONE),
	      (calls.persisted, 3), (calls.offset, 1 + 2 * LANE_PIECE_BYTES), (calls.length, 7),
	      (served(LANE_DEEP, 0, pool.size, 0), PERSIST_DONE), (calls.deep, 3),
	      (calls.offset + calls.length, pool.size));
}

/* However much of it is left. */
TEST(a_session_that_ends_makes_nothing_more_durable, set_up)
{
	const struct lane_range ranges[] = {{0, 8}, {64, 100}, {SIZE - 1, 1}};

	pool.size = 3 * LANE_PIECE_BYTES;
	calls.ends_after = 2;
	EQUAL((served(LANE_PERSIST, 0, pool.size, 0), PERSIST_FAILED), (calls.persisted, 2));
	set_up(NULL);
	calls.ends_after = 1;
	EQUAL((served_ranges(ranges, 3), PERSIST_FAILED), (calls.persisted, 1),
	      (served(LANE_PERSIST_DATA, 0, 8, 8), PERSIST_FAILED), (calls.persisted, 1));
}

TEST(what_the_system_refuses_is_answered, set_up)
{
	calls.answer = -EIO;
	EQUAL((served(LANE_PERSIST, 0, 1, 0), PERSIST_FAILED),
	      (served(LANE_PERSIST_DATA, 0, 1, 1), PERSIST_FAILED),
	      (served(LANE_DEEP, 0, 1, 0), PERSIST_FAILED));
}

TEST(messages_of_another_form_are_not_answered, set_up)
{
	for (size_t bytes = 0; bytes < LANE_REQUEST_BYTES; bytes++)
		assert_int_equal(unanswered(LANE_PERSIST, 1, bytes), -EPROTO);
	EQUAL((unanswered(LANE_PERSIST, 8, LANE_REQUEST_BYTES + 8), -EPROTO),
	      (unanswered(LANE_PERSIST_DATA, 8, LANE_REQUEST_BYTES + 7), -EPROTO),
	      (unanswered(LANE_PERSIST_DATA, 8, LANE_REQUEST_BYTES + 9), -EPROTO),
	      (unanswered(LANE_PERSIST_DATA, LANE_DATA_MAX + 1, sizeof(message)), -EPROTO),
	      (unanswered(LANE_PERSIST_RANGES, 8, LANE_REQUEST_BYTES + 8), -EPROTO),
	      (unanswered(LANE_PERSIST_RANGES, 16, LANE_REQUEST_BYTES), -EPROTO),
	      (unanswered(LANE_WRITE, UINT64_MAX, LANE_REQUEST_BYTES), -EPROTO),
	      (unanswered(LANE_READ, 8, LANE_REQUEST_BYTES), -EPROTO),
	      (unanswered((enum lane_op)0, 8, LANE_REQUEST_BYTES), -EPROTO),
	      (unanswered((enum lane_op)99, 8, LANE_REQUEST_BYTES), -EPROTO));
	assert_int_equal(calls.persisted + calls.deep, 0);
	assert_untouched_except(0, 0);
}

TEST(a_read_is_only_checked, set_up)
{
	struct lane_request request = {LANE_READ, 0, SIZE - 8, 8};

	assert_int_equal(lane_serve(&pool, &request, NULL, LANE_BY_CPU, &ends), PERSIST_DONE);
	request.length = 9;
	assert_int_equal(lane_serve(&pool, &request, NULL, LANE_BY_CPU, &ends), PERSIST_OUTSIDE);
	assert_untouched_except(0, 0);
}

/* In the page cache each page is stored to, so that msync(2) finds it dirty; bytes stay. */
TEST(pages_of_a_file_keep_their_bytes, set_up)
{
	pool.kind = TARGET_FILE;
	EQUAL((served(LANE_PERSIST, 1, SIZE - 1, 0), PERSIST_DONE),
	      (served(LANE_PERSIST, SIZE, 1, 0), PERSIST_OUTSIDE));
	assert_untouched_except(0, 0);
}
