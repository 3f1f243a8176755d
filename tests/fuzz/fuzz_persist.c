/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_persist.c -- requests to persist a range, and their answers.
 *
 * What decodes comes back from being encoded; a range that is not within the
 * target has no effect, which a sanitizer sees if it had.
 */
#include "common/rdma/gpspm.h"
#include "fuzz.h"

static void try_request(const uint8_t *data, size_t size)
{
	static unsigned char memory[256];
	const struct target target = {
		.kind = TARGET_DRAM, .memory = memory, .size_bytes = sizeof(memory)};
	uint8_t bytes[PERSIST_REQUEST_BYTES];
	struct persist_request request;
	struct persist persist;
	int inside;

	if (persist_decode_request(data, size, &request) != 0)
		return;
	persist_encode_request(&request, bytes);
	hold(memcmp(bytes, data, 4) == 0 && memcmp(bytes + 8, data + 8, 16) == 0);
	hold(persist_open(&persist, &target) == 0);
	inside = request.length > 0 && request.offset < sizeof(memory) &&
		 request.length <= sizeof(memory) - request.offset;
	hold((persist_range(&persist, request.offset, request.length) == PERSIST_DONE) == inside);
}

static void try_answer(const uint8_t *data, size_t size)
{
	uint8_t bytes[PERSIST_ANSWER_BYTES];
	struct persist_answer answer;

	if (persist_decode_answer(data, size, &answer) != 0)
		return;
	hold(answer.status < PERSIST_STATUSES);
	persist_encode_answer(&answer, bytes);
	hold(memcmp(bytes, data, sizeof(bytes)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_request(data, size);
	try_answer(data, size);
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	const struct persist_request request = {1, 64, 64};
	const struct persist_answer answer = {1, PERSIST_OUTSIDE};

	switch (index) {
	case 0:
		persist_encode_request(&request, input);
		return PERSIST_REQUEST_BYTES;
	case 1:
		persist_encode_answer(&answer, input);
		return PERSIST_ANSWER_BYTES;
	default:
		return 0;
	}
}
