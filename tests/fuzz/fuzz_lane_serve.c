/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_lane_serve.c -- messages that a client sends on a lane of rpmemd.
 *
 * Nothing outside the pool changes, and nothing of its header; a range that becomes
 * durable is within the pool.
 */
#include "fuzz.h"
#include "tests/lib/one_pool.h"
#include "tools/rpmemd/lane_serve.h"

#define SIZE   8192
#define HEADER 4096
#define AROUND 64

int pool_persist(const struct pool *pool, size_t offset, size_t length)
{
	(void)pool;
	hold(length > 0 && offset < SIZE && length <= SIZE - offset);
	return 0;
}

int pool_deep_persist(const struct pool *pool, size_t offset, size_t length)
{
	return pool_persist(pool, offset, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const atomic_bool ends;
	static unsigned char memory[SIZE + 2 * AROUND];
	const struct pool pool = {memory + AROUND, SIZE, true, TARGET_FILE, NULL};
	uint8_t bytes[LANE_ANSWER_BYTES];
	struct lane_answer answer;

	memset(memory, 0xee, sizeof(memory));
	if (lane_serve_message(&pool, data, size, &ends, bytes) == 0)
		hold(lane_decode_answer(bytes, &answer) == 0);
	for (size_t i = 0; i < AROUND + HEADER; i++)
		hold(memory[i] == 0xee);
	for (size_t i = AROUND + SIZE; i < sizeof(memory); i++)
		hold(memory[i] == 0xee);
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	static const struct lane_request requests[] = {
		{LANE_PERSIST, 1, HEADER, 64},
		{LANE_PERSIST_DATA, 2, HEADER, 64},
		{LANE_DEEP, 3, 0, SIZE},
		{LANE_WRITE, 4, SIZE - 100, 100},
		{LANE_READ, 5, HEADER, 64},
		{LANE_PERSIST_RANGES, 6, 0, 32},
		{LANE_PERSIST_DATA, 7, HEADER - 1, 4000},
	};
	static const struct lane_range ranges[] = {{HEADER, 8}, {SIZE - 8, 8}};
	const struct lane_request *request = &requests[index];

	if (index >= sizeof(requests) / sizeof(requests[0]))
		return 0;
	memset(input, 0x11, FUZZ_INPUT_MAX);
	lane_encode_request(request, input);
	for (size_t i = 0; request->op == LANE_PERSIST_RANGES && i < 2; i++)
		lane_encode_range(&ranges[i], input + LANE_REQUEST_BYTES + i * LANE_RANGE_BYTES);
	return LANE_REQUEST_BYTES + lane_serve_data_bytes(request);
}
