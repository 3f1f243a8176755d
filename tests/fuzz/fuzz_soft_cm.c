/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_soft_cm.c -- the messages by which ids of the software device connect.
 *
 * A message that decodes must be within its ranges, and come back from being encoded.
 */
#include "fuzz.h"
#include "soft_device/cm/wire.h"

#define KINDS 8 /* from CM_REQ to CM_SIDR_REP */

static void check(const struct cm_message *message)
{
	static const unsigned char zeros[CM_PRIVATE_MAX];
	const size_t private_max = cm_wire_private_max(message->kind);

	hold(message->kind >= CM_REQ && message->kind <= CM_SIDR_REP);
	hold(message->qpn < 1 << 24);
	hold(message->psn < 1 << 24 || message->kind == CM_SIDR_REP);
	hold(message->retry_count < 8 && message->rnr_retry_count < 8);
	hold(message->kind == CM_SIDR_REP || (message->kind == CM_REJ) == (message->reason != 0));
	hold(message->private_data_len <= private_max);
	hold(memcmp(message->private_data + message->private_data_len, zeros,
		    CM_PRIVATE_MAX - message->private_data_len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char bytes[CM_MESSAGE_MAX];
	struct cm_message message;

	while (size > 0) {
		const int taken = cm_wire_get(data, size, &message);

		if (taken <= 0) {
			hold(taken < 0 || size < CM_MESSAGE_MAX);
			break;
		}
		hold((size_t)taken <= size && taken <= CM_MESSAGE_MAX);
		check(&message);
		hold(cm_wire_put(&message, bytes) == (size_t)taken);
		hold(memcmp(bytes, data, (size_t)taken) == 0);
		data += taken;
		size -= (size_t)taken;
	}
	return 0;
}

/* One of each kind, then all one after the other; with private data and without. */
size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	struct cm_message message = {.qpn = 0xb2ff01, .psn = 0x123456, .rnr_retry_count = 7};
	size_t length = 0;

	if (index > 2 * KINDS)
		return 0;
	for (size_t kind = 0; kind < KINDS; kind++) {
		if (index < 2 * KINDS && kind != index % KINDS)
			continue;
		message.kind = (enum cm_kind)(CM_REQ + kind);
		message.reason = message.kind == CM_REJ ? CM_REASON_CONSUMER : 0;
		message.private_data_len =
			index < KINDS ? 0 : (uint8_t)cm_wire_private_max(message.kind);
		memset(message.private_data, 0x5a, message.private_data_len);
		length += cm_wire_put(&message, input + length);
	}
	return length;
}
