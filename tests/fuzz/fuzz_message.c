/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_message.c -- the control messages and the handshakes of rpma-bench.
 *
 * A message that decodes must be within its ranges, and come back from being encoded.
 */
#include "common/rdma/handshake.h"
#include "fuzz.h"
#include "tools/rpma-bench/protocol/message.h"

static void check_params(const struct params *p)
{
	hold(p->test < BENCH_TESTS && p->op < BENCH_OPS && p->persist < BENCH_PERSISTS);
	hold(p->size_bytes > 0 && p->size_bytes <= PARAMS_SIZE_MAX);
	hold(p->depth > 0 && p->depth <= PARAMS_DEPTH_MAX);
	hold(params_qps(p) > 0 && params_qps(p) <= PARAMS_QPS_MAX);
	hold(p->target < PARAMS_TARGETS_MAX);
	hold(params_conflict(p) == NULL);
}

static void check_message(const struct message *m)
{
	switch (m->type) {
	case MESSAGE_WELCOME:
		hold(strnlen(m->welcome.refusal, MESSAGE_REFUSAL_MAX) < MESSAGE_REFUSAL_MAX);
		hold(m->welcome.targets_count <= PARAMS_TARGETS_MAX);
		break;
	case MESSAGE_TEXT:
		hold(m->text.bytes > 0 && m->text.bytes <= MESSAGE_CHUNK_MAX);
		hold(m->text.offset + m->text.bytes <= m->text.total);
		hold(m->text.total <= MESSAGE_TEXT_MAX);
		break;
	case MESSAGE_BEGIN:
		check_params(&m->begin.params);
		hold(m->begin.duration_ns > 0 && m->begin.duration_ns <= MESSAGE_DURATION_MAX);
		hold(m->begin.client_desc.mr_bytes <= sizeof(m->begin.client_desc.mr));
		hold(m->begin.client_desc.pcfg_bytes <= sizeof(m->begin.client_desc.pcfg));
		break;
	case MESSAGE_READY:
		hold(strnlen(m->ready.refusal, MESSAGE_REFUSAL_MAX) < MESSAGE_REFUSAL_MAX);
		break;
	case MESSAGE_START:
		hold(m->start.phase < PHASES);
		break;
	case MESSAGE_END:
		hold(m->end.qps_count <= PARAMS_QPS_MAX);
		break;
	default:
		hold(m->type == MESSAGE_RUN || m->type == MESSAGE_BYE || m->type == MESSAGE_ALIVE);
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

static void try_handshakes(const uint8_t *data, size_t size)
{
	uint8_t bytes[HANDSHAKE_REPLY_BYTES];
	struct handshake_request request;
	struct handshake_reply reply, again;

	if (handshake_decode_request(data, size, &request) == 0 &&
	    request.version == HANDSHAKE_VERSION)
		hold(request.role == HANDSHAKE_CONTROL || request.role == HANDSHAKE_MEASURE ||
		     request.role == HANDSHAKE_PING || request.role == HANDSHAKE_FIO ||
		     request.role == HANDSHAKE_RPMEM);
	if (handshake_decode_reply(data, size, &reply) != 0)
		return;
	hold(reply.desc.mr_bytes <= sizeof(reply.desc.mr) &&
	     reply.desc.pcfg_bytes <= sizeof(reply.desc.pcfg));
	handshake_encode_reply(&reply, bytes);
	hold(handshake_decode_reply(bytes, sizeof(bytes), &again) == 0);
	hold(again.answer == reply.answer && again.desc.mr_bytes == reply.desc.mr_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_message(data, size);
	try_handshakes(data, size);
	return 0;
}

static struct message_begin good_begin(void)
{
	return (struct message_begin){
		.params = {.size_bytes = 64,
			   .depth = 2,
			   .threads = 1,
			   .connections = 1,
			   .batch = 1,
			   .signal_every = 1},
		.duration_ns = 1,
		.knobs = CONNECTION_KNOBS_NONE,
	};
}

static size_t message_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	struct message m = {.type = (enum message_type)(MESSAGE_RUN + index)};

	switch (m.type) {
	case MESSAGE_WELCOME:
		m.welcome.targets_count = 1;
		m.welcome.targets[0].bytes = 1;
		break;
	case MESSAGE_TEXT:
		m.text = (struct message_text){2, 0, 2, (const uint8_t *)"{}"};
		break;
	case MESSAGE_BEGIN:
		m.begin = good_begin();
		break;
	case MESSAGE_READY:
		strcpy(m.ready.refusal, "no");
		break;
	case MESSAGE_END:
		m.end.qps_count = 2;
		break;
	default:
		break;
	}
	return message_encode(&m, input);
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_MEASURE, 1, 2};
	const struct handshake_reply reply = {
		.version = HANDSHAKE_VERSION, .desc.mr_bytes = 22, .desc.pcfg_bytes = 1};

	if (index < MESSAGE_ALIVE)
		return message_seed(index, input);
	switch (index - MESSAGE_ALIVE) {
	case 0:
		handshake_encode_request(&request, input);
		return HANDSHAKE_REQUEST_BYTES;
	case 1:
		handshake_encode_reply(&reply, input);
		return HANDSHAKE_REPLY_BYTES;
	default:
		return 0;
	}
}
