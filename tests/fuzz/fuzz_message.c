/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_message.c -- the control messages and the greetings of rpma-bench.
 *
 * What decodes must be within its ranges, and come back from being encoded.
 */
#include <stdlib.h>
#include <string.h>

#include "common/greeting.h"
#include "common/target.h"
#include "fuzz.h"
#include "rpma-bench/message.h"

static void hold(int condition)
{
	if (!condition)
		abort();
}

static void check_message(const struct message *m)
{
	switch (m->type) {
	case MESSAGE_HELLO:
		hold(m->hello.size_bytes > 0 && m->hello.size_bytes <= OPTIONS_SIZE_MAX);
		hold(m->hello.depth > 0 && m->hello.depth <= OPTIONS_DEPTH_MAX);
		hold(m->hello.test < BENCH_TESTS && m->hello.op < BENCH_OPS);
		break;
	case MESSAGE_WELCOME:
		hold(strnlen(m->welcome.refusal, MESSAGE_TEXT_MAX) < MESSAGE_TEXT_MAX);
		break;
	case MESSAGE_ENVIRONMENT:
		hold(m->environment.bytes > 0 && m->environment.bytes <= MESSAGE_CHUNK_MAX);
		hold(m->environment.offset + m->environment.bytes <= MESSAGE_ENVIRONMENT_MAX);
		break;
	default:
		hold(m->type == MESSAGE_BYE || m->type == MESSAGE_REPORT);
	}
}

static void try_message(const uint8_t *data, size_t size)
{
	uint8_t first[MESSAGE_MAX], second[MESSAGE_MAX];
	struct message m, again;
	size_t len;

	if (message_decode(data, size, &m) != 0)
		return;
	check_message(&m);
	len = message_encode(&m, first);
	hold(message_decode(first, len, &again) == 0);
	hold(message_encode(&again, second) == len && memcmp(first, second, len) == 0);
}

static void try_greetings(const uint8_t *data, size_t size)
{
	uint8_t bytes[GREETING_REPLY_BYTES];
	struct greeting_request request;
	struct greeting_reply reply, again;

	if (greeting_decode_request(data, size, &request) == 0 &&
	    request.version == GREETING_VERSION)
		hold(request.role == GREETING_CONTROL || request.role == GREETING_MEASURE);
	if (greeting_decode_reply(data, size, &reply) != 0)
		return;
	if (reply.answer == GREETING_WELCOME)
		hold(reply.target_kind < TARGET_KINDS &&
		     reply.mr_desc_bytes <= sizeof(reply.mr_desc) &&
		     reply.pcfg_desc_bytes <= sizeof(reply.pcfg_desc));
	greeting_encode_reply(&reply, bytes);
	hold(greeting_decode_reply(bytes, sizeof(bytes), &again) == 0);
	hold(again.target_numa_node == reply.target_numa_node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_message(data, size);
	try_greetings(data, size);
	return 0;
}

static size_t message_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	struct message m = {.type = (enum message_type)(MESSAGE_HELLO + index)};

	switch (m.type) {
	case MESSAGE_HELLO:
		m.hello = (struct message_hello){.size_bytes = 64,
						 .depth = 1,
						 .threads = 1,
						 .connections = 1,
						 .duration_ns = 1,
						 .limit_ns = 1};
		break;
	case MESSAGE_WELCOME:
		strcpy(m.welcome.refusal, "no");
		break;
	case MESSAGE_ENVIRONMENT:
		m.environment = (struct message_environment){0, 2, (const uint8_t *)"{}"};
		break;
	default:
		break;
	}
	return message_encode(&m, input);
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	const struct greeting_request request = {GREETING_VERSION, GREETING_CONTROL};
	const struct greeting_reply reply = {.version = GREETING_VERSION,
					     .target_bytes = 1,
					     .mr_desc_bytes = 22,
					     .pcfg_desc_bytes = 1};

	if (index < MESSAGE_REPORT)
		return message_seed(index, input);
	switch (index - MESSAGE_REPORT) {
	case 0:
		greeting_encode_request(&request, input);
		return GREETING_REQUEST_BYTES;
	case 1:
		greeting_encode_reply(&reply, input);
		return GREETING_REPLY_BYTES;
	default:
		return 0;
	}
}
