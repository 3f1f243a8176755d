/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_soft_link.c -- what processes on the software device say to each other: handshake, requests,
 * answers and channels, as they come out of a stream.
 *
 * A message that decodes must be within its ranges, and come back from being encoded.
 */
#include <infiniband/verbs.h>

#include "fuzz.h"
#include "soft_device/transport/wire.h"

static void try_handshake(const uint8_t *body, size_t length)
{
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
	struct wire_handshake handshake;

	if (wire_get_handshake(body, length, &handshake) != 0)
		return;
	hold(handshake.identity != 0);
	wire_put_handshake(bytes, &handshake);
	hold(length == WIRE_HANDSHAKE_BYTES &&
	     memcmp(bytes + WIRE_HEADER_BYTES, body, length) == 0);
}

static void try_request(const uint8_t *body, size_t length)
{
	unsigned char bytes[WIRE_REQUEST_START];
	struct wire_request wire;

	if (wire_get_request(body, length, &wire) != 0)
		return;
	hold(wire.request.op >= REQUEST_WRITE && wire.request.op < REQUEST_OPS);
	hold(wire_payload(&wire.request) == length - WIRE_REQUEST_BYTES);
	hold(wire_answer_data(&wire.request) <= SOFT_MAX_MESSAGE);
	wire_put_request(bytes, wire.number, wire.after, &wire.gid, wire.qpn, &wire.request);
	hold(memcmp(bytes + WIRE_HEADER_BYTES, body, WIRE_REQUEST_BYTES) == 0);
}

static void try_region(const uint8_t *body, size_t length)
{
	unsigned char bytes[WIRE_REGION_BYTES];
	struct wire_region region;

	if (wire_get_region(body, length, &region) != 0)
		return;
	hold(strlen(region.made_at) < WIRE_PLACE_BYTES &&
	     strlen(region.gone_at) < WIRE_PLACE_BYTES);
	wire_put_region(bytes, &region);
	hold(memcmp(bytes, body, WIRE_REGION_BYTES) == 0);
}

static void try_answer(const uint8_t *body, size_t length)
{
	unsigned char bytes[WIRE_ANSWER_START];
	struct wire_answer answer;

	if (wire_get_answer(body, length, &answer) != 0)
		return;
	hold(answer.bytes == length - WIRE_ANSWER_BYTES);
	hold(answer.outcome.kind <= OUTCOME_ABSENT && answer.outcome.rnr_timer < 32);
	wire_put_answer(bytes, &answer);
	hold(memcmp(bytes + WIRE_HEADER_BYTES, body, WIRE_ANSWER_BYTES) == 0);
	try_region(body + WIRE_ANSWER_BYTES, answer.bytes);
}

static void try_channel(enum wire_kind kind, const uint8_t *body, size_t length)
{
	unsigned char bytes[WIRE_CHANNEL_MESSAGE];
	struct wire_channel channel;

	if (wire_get_channel(body, length, &channel) != 0)
		return;
	hold(channel.id != 0);
	wire_put_channel(bytes, kind, &channel);
	hold(length == WIRE_CHANNEL_BYTES && memcmp(bytes + WIRE_HEADER_BYTES, body, length) == 0);
}

static void try_body(enum wire_kind kind, const uint8_t *body, size_t length)
{
	switch (kind) {
	case WIRE_HANDSHAKE:
		try_handshake(body, length);
		break;
	case WIRE_REQUEST:
		try_request(body, length);
		break;
	case WIRE_ANSWER:
		try_answer(body, length);
		break;
	case WIRE_CHANNEL_NEW:
	case WIRE_CHANNEL_GONE:
		try_channel(kind, body, length);
		break;
	default:
		hold(kind == WIRE_CARRY || (kind >= WIRE_CM_FIRST && kind <= WIRE_CM_LAST));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_header header;

	while (size >= WIRE_HEADER_BYTES && wire_get_header(data, &header) == 0) {
		data += WIRE_HEADER_BYTES;
		size -= WIRE_HEADER_BYTES;
		hold(header.length <= WIRE_BODY_MAX);
		if (size < header.length)
			break;
		try_body(header.kind, data, header.length);
		data += header.length;
		size -= header.length;
	}
	/* and whatever it is, as a body */
	for (int kind = WIRE_HANDSHAKE; kind <= WIRE_CHANNEL_GONE; kind++) {
		if (kind != WIRE_CARRY)
			try_body((enum wire_kind)kind, data, size);
	}
	return 0;
}

static size_t request_seed(enum request_op op, uint8_t input[FUZZ_INPUT_MAX])
{
	const struct request request = {
		.op = op, .length = op == REQUEST_FLUSH ? 4096 : 8, .flush_type = 3};
	const union ibv_gid gid = {.raw = {0xfd, [15] = 1}};

	wire_put_request(input, 1, 2, &gid, 0x123400, &request);
	memset(input + WIRE_REQUEST_START, 7, wire_payload(&request));
	return WIRE_REQUEST_START + wire_payload(&request);
}

/* A refusal that tells of the region. */
static size_t refusal_seed(uint8_t input[FUZZ_INPUT_MAX])
{
	const struct wire_answer answer = {.number = 1,
					   .outcome = {.status = IBV_WC_REM_ACCESS_ERR},
					   .bytes = WIRE_REGION_BYTES};
	const struct wire_region region = {.key = 0x301, .length = 4096, .made_at = "main a.c:3"};

	wire_put_answer(input, &answer);
	wire_put_region(input + WIRE_ANSWER_START, &region);
	return WIRE_ANSWER_START + WIRE_REGION_BYTES;
}

static size_t answer_seed(uint32_t bytes, uint8_t input[FUZZ_INPUT_MAX])
{
	const struct wire_answer answer = {.number = 1, .bytes = bytes};

	wire_put_answer(input, &answer);
	memset(input + WIRE_ANSWER_START, 7, bytes);
	return WIRE_ANSWER_START + bytes;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	const struct wire_handshake handshake = {.identity = 1, .token = "token"};
	const struct wire_channel channel = {1, 2};

	if (index >= REQUEST_WRITE && index < REQUEST_OPS)
		return request_seed((enum request_op)index, input);
	switch (index) {
	case 0:
		wire_put_handshake(input, &handshake);
		wire_put_header(input + WIRE_HANDSHAKE_MESSAGE, WIRE_CARRY, 0);
		return WIRE_HANDSHAKE_MESSAGE + WIRE_HEADER_BYTES;
	case REQUEST_OPS:
		return answer_seed(0, input);
	case REQUEST_OPS + 1:
		return answer_seed(64, input);
	case REQUEST_OPS + 2:
		wire_put_channel(input, WIRE_CHANNEL_NEW, &channel);
		return WIRE_CHANNEL_MESSAGE;
	case REQUEST_OPS + 3:
		return refusal_seed(input);
	default:
		return 0;
	}
}
