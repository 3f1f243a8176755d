/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_conversation.c -- all that a daemon can send librpmem over ssh.
 *
 * The first byte chooses how the others are cut into reads. Each complete message
 * must be the one that was awaited; after an error the stream is over. The same bytes
 * give the same messages however they are cut.
 */
#include "fuzz.h"
#include "librpmem/src/conversation.h"

#define REQUESTS 4

static void check_reply(const struct conversation *c, enum control_type awaited)
{
	const uint8_t *body = conversation_body(c);
	char reason[CONTROL_REASON_MAX];
	struct control_pool_reply reply;

	hold(c->header.type == awaited && c->header.is_reply == (awaited != CONTROL_STARTED));
	hold(c->have == CONTROL_HEADER_BYTES + c->header.body_bytes);
	if (c->header.status != 0)
		control_decode_reason(body, c->header.body_bytes, reason);
	else
		control_decode_pool_reply(body, c->header.body_bytes, &reply);
}

/* How many messages were complete: STARTED, then replies to these requests in turn. */
static int converse(const uint8_t *data, size_t size, size_t cut)
{
	static const enum control_type requests[REQUESTS] = {CONTROL_CREATE, CONTROL_SET_ATTR,
							     CONTROL_OPEN, CONTROL_CLOSE};
	static struct conversation c;
	enum control_type awaited = CONTROL_STARTED;
	int complete = 0;

	conversation_begin(&c);
	while (size > 0) {
		size_t n = cut < size ? cut : size;
		int ret = conversation_take(&c, data, n);

		if (ret != 0) {
			hold(c.wrong[0] != '\0' && strlen(c.wrong) < sizeof(c.wrong));
			return complete;
		}
		data += n;
		size -= n;
		if (!c.complete)
			continue;
		check_reply(&c, awaited);
		conversation_drop(&c);
		if (complete == REQUESTS)
			return complete;
		awaited = requests[complete++];
		conversation_await(&c, awaited);
	}
	return complete;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int by_byte;

	if (size == 0)
		return 0;
	by_byte = converse(data + 1, size - 1, 1);
	/* a longer read may have bytes behind a message, which end the stream earlier */
	hold(converse(data + 1, size - 1, (size_t)data[0] + 1) <= by_byte);
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	static const enum control_type replies[] = {CONTROL_SET_ATTR, CONTROL_OPEN, CONTROL_CLOSE};
	const struct control_pool_reply reply = {
		.nlanes = 1, .port = 1, .method = CONTROL_GPSPM, .pool_size = 4096};
	size_t len = 1;

	if (index > 4)
		return 0;
	input[0] = 255;
	len += control_encode_plain(CONTROL_STARTED, false, 0, NULL, input + len,
				    FUZZ_INPUT_MAX - len);
	if (index > 0)
		len += control_encode_pool_reply(CONTROL_CREATE, &reply, input + len,
						 FUZZ_INPUT_MAX - len);
	for (size_t i = 0; i + 1 < index; i++)
		len += control_encode_plain(replies[i], true, 22, "because", input + len,
					    FUZZ_INPUT_MAX - len);
	return len;
}
