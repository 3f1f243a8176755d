/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_job_handshake.c -- what a client of the fio engine sends, and what it gets.
 *
 * A message that decodes must be within its ranges, and come back from being encoded.
 */
#include "fio_engine/job_handshake.h"
#include "fuzz.h"

static void try_job_request(const uint8_t *data, size_t size)
{
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];
	enum handshake_answer answer;
	struct job_request job_request;

	if (job_request_decode(data, size, &job_request, &answer) != 0)
		return;
	if (answer != HANDSHAKE_WELCOME) {
		hold(answer == HANDSHAKE_WRONG_VERSION || answer == HANDSHAKE_OTHER_TOOL);
		return;
	}
	hold(job_request.method > METHOD_ANY && job_request.method < METHODS);
	hold(job_request.job < job_request.jobs);
	hold(job_request.imm_bytes == 0 ||
	     (job_request.method == METHOD_GPSPM && job_request.depth > 0));
	job_request_encode(&job_request, bytes);
	/* the one byte of the handshake that is not read */
	hold(size >= sizeof(bytes) && memcmp(bytes, data, 11) == 0 &&
	     memcmp(bytes + 12, data + 12, sizeof(bytes) - 12) == 0);
}

static void try_reply(const uint8_t *data, size_t size)
{
	struct job_reply job_reply;
	uint64_t word;

	if (size != sizeof(word))
		return;
	memcpy(&word, data, sizeof(word));
	if (job_reply_decode(word, &job_reply) != 0)
		return;
	hold(job_reply.refusal < REFUSALS && job_reply.method < METHODS &&
	     job_reply.kind < TARGET_KINDS && job_reply.persist < PERSIST_METHODS);
	hold(job_reply_encode(&job_reply) == word);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_job_request(data, size);
	try_reply(data, size);
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	const struct job_request job_request = {METHOD_GPSPM, 1, 4, 77, false, 32, 4096};
	const struct job_reply job_reply = {
		.method = METHOD_APM, .kind = TARGET_FSDAX, .depth = 512};
	const uint64_t word = job_reply_encode(&job_reply);

	switch (index) {
	case 0:
		job_request_encode(&job_request, input);
		return HANDSHAKE_REQUEST_BYTES;
	case 1:
		memcpy(input, &word, sizeof(word));
		return sizeof(word);
	default:
		return 0;
	}
}
