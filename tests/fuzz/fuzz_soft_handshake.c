/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_soft_handshake.c -- how processes of two hosts begin a connection on the software device,
 * and what comes then: messages of the link or of the CM.
 *
 * One end is talked to by a good peer, whose messages the input may change, repeat or replace. With
 * a secret it must not admit anybody whose first message or proof is not the good peer's; whatever
 * comes after that must be in its ranges.
 */
#include <infiniband/verbs.h>

#include "fuzz.h"
#include "soft_device/cm/wire.h"
#include "soft_device/process/process.h"
#include "soft_device/transport/handshake.h"
#include "soft_device/transport/secret.h"

#define ENOUGH 8 /* messages of a handshake */

enum { FLAG_SECRET = 1, FLAG_CLIENT = 2, FLAG_CM = 4 };

/* The fates of the good peer's next message. */
enum { DO_SEND, DO_CHANGE, DO_REPEAT, DO_REPLACE, DOS };

struct message {
	unsigned char bytes[HANDSHAKE_MESSAGE];
	size_t length;
};

struct input {
	const uint8_t *data;
	size_t size;
};

void process_warn(const char *format, ...)
{
	(void)format;
}

static uint8_t take_byte(struct input *input)
{
	if (input->size == 0)
		return 0;
	input->size--;
	return *input->data++;
}

static void set_secret(bool wanted)
{
	static struct process process;

	if (wanted == secret_is_set())
		return;
	if (wanted)
		setenv("RPMA_SOFT_SECRET", "a secret of the two ends", 1);
	else
		unsetenv("RPMA_SOFT_SECRET");
	hold(secret_part.begin(&process) == 0);
}

/* Does with a message what the device does: -1 ends the connection, as one of another kind does. */
static int give(struct handshake *end, const struct message *message, struct message *answer)
{
	struct wire_header header;

	answer->length = 0;
	if (message->length < WIRE_HEADER_BYTES || wire_get_header(message->bytes, &header) != 0 ||
	    header.kind != handshake_expects(end) ||
	    message->length != WIRE_HEADER_BYTES + header.length)
		return -1;
	return handshake_take(end, message->bytes + WIRE_HEADER_BYTES, header.length, answer->bytes,
			      &answer->length);
}

/* True: it is not what the good peer said. */
static bool change(struct message *message, const struct message *before, struct input *input)
{
	const struct message good = *message;
	size_t length;

	switch (take_byte(input) % DOS) {
	case DO_CHANGE:
		message->bytes[take_byte(input) % sizeof(message->bytes)] ^= take_byte(input);
		break;
	case DO_REPEAT:
		*message = *before;
		break;
	case DO_REPLACE:
		length = take_byte(input) % (sizeof(message->bytes) + 1);
		message->length = length < input->size ? length : input->size;
		memcpy(message->bytes, input->data, message->length);
		input->data += message->length;
		input->size -= message->length;
		break;
	default:
		break;
	}
	return message->length != good.length ||
	       memcmp(message->bytes, good.bytes, good.length) != 0;
}

/* A stream of messages, after the peer's proof. */
static void talk_link(struct input *rest)
{
	struct wire_header header;
	struct wire_request wire;

	while (rest->size >= WIRE_HEADER_BYTES && wire_get_header(rest->data, &header) == 0) {
		rest->data += WIRE_HEADER_BYTES;
		rest->size -= WIRE_HEADER_BYTES;
		if (rest->size < header.length)
			return;
		if (header.kind == WIRE_REQUEST &&
		    wire_get_request(rest->data, header.length, &wire) == 0)
			hold(WIRE_REQUEST_BYTES + wire_payload(&wire.request) == header.length);
		rest->data += header.length;
		rest->size -= header.length;
	}
}

static void talk_cm(struct input *rest)
{
	struct cm_message message;
	int taken;

	while ((taken = cm_wire_get(rest->data, rest->size, &message)) > 0) {
		hold((size_t)taken <= rest->size);
		hold(message.private_data_len <= cm_wire_private_max(message.kind));
		rest->data += taken;
		rest->size -= (size_t)taken;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const union ibv_gid here = {.raw = {[15] = 1}}, there = {.raw = {[15] = 2}};
	struct input input = {data, size};
	const uint8_t flags = take_byte(&input);
	const enum handshake_side side = flags & FLAG_CLIENT ? HANDSHAKE_CLIENT : HANDSHAKE_SERVER;
	struct handshake end, good;
	struct message message = {.length = 0}, before = {.length = 0}, answer;
	bool changed = false;
	int result = 0;

	set_secret(flags & FLAG_SECRET);
	hold(handshake_begin(&end, side, 1, &here, &there) == 0);
	hold(handshake_begin(&good, HANDSHAKE_SERVER - side, 2, &there, &here) == 0);
	if (side == HANDSHAKE_CLIENT) {
		answer.length = WIRE_HANDSHAKE_MESSAGE;
		handshake_put_first(&end, answer.bytes);
		give(&good, &answer, &message);
	} else {
		message.length = WIRE_HANDSHAKE_MESSAGE;
		handshake_put_first(&good, message.bytes);
	}
	for (int i = 0; i < ENOUGH && result == 0; i++) {
		const struct message said = message;

		changed |= change(&message, &before, &input);
		before = said;
		result = give(&end, &message, &answer);
		hold(answer.length <= sizeof(answer.bytes));
		hold(!(flags & FLAG_SECRET) || result <= 0 || !changed);
		if (answer.length > 0)
			give(&good, &answer, &message);
	}
	if (result <= 0)
		return 0;
	if (flags & FLAG_CM)
		talk_cm(&input);
	else
		talk_link(&input);
	return 0;
}

/* Each kind of end, all messages good; then a request or a REQ. */
size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	const struct request request = {.op = REQUEST_WRITE, .length = 8};
	const struct cm_message req = {.kind = CM_REQ, .qpn = 0xb2ff01};
	const union ibv_gid gid = {.raw = {0xfd, [15] = 1}};
	size_t length = 1;

	if (index > 7)
		return 0;
	input[0] = (uint8_t)index;
	/* a byte for each message of the good peer: DO_SEND */
	for (int i = 0; i < (index & FLAG_SECRET ? 2 : 1); i++)
		input[length++] = DO_SEND;
	if (index & FLAG_CM)
		return length + cm_wire_put(&req, input + length);
	wire_put_header(input + length, WIRE_CARRY, 0);
	length += WIRE_HEADER_BYTES;
	wire_put_request(input + length, 0, 0, &gid, 0x123400, &request);
	length += WIRE_REQUEST_START;
	memset(input + length, 7, 8);
	return length + 8;
}
