/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_lane_message.c -- the requests and answers of librpmem's lanes.
 *
 * A message that decodes must be within its ranges, and come back from being encoded.
 */
#include "fuzz.h"
#include "librpmem/wire/lane_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[LANE_REQUEST_BYTES];
	struct lane_request request;
	struct lane_answer answer;

	if (size >= LANE_REQUEST_BYTES && lane_decode_request(data, &request) == 0) {
		hold(request.op >= LANE_PERSIST && request.op < LANE_OPS);
		hold(request.op != LANE_PERSIST_DATA || request.length <= LANE_DATA_MAX);
		lane_encode_request(&request, bytes);
		hold(memcmp(bytes, data, LANE_REQUEST_BYTES) == 0);
	}
	if (size >= LANE_ANSWER_BYTES && lane_decode_answer(data, &answer) == 0) {
		hold(answer.status < PERSIST_STATUSES);
		lane_encode_answer(&answer, bytes);
		hold(memcmp(bytes, data, LANE_ANSWER_BYTES) == 0);
	}
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	const struct lane_request request = {LANE_PERSIST_DATA, 1, 4096, 64};
	const struct lane_answer answer = {1, PERSIST_FAILED};

	switch (index) {
	case 0:
		lane_encode_request(&request, input);
		return LANE_REQUEST_BYTES;
	case 1:
		lane_encode_answer(&answer, input);
		return LANE_ANSWER_BYTES;
	default:
		return 0;
	}
}
