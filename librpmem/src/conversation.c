/* SPDX-License-Identifier: BSD-3-Clause */
/* conversation.c -- bytes of the daemon into STARTED and replies. */
#include "conversation.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_BYTES 40

void conversation_begin(struct conversation *conversation)
{
	memset(conversation, 0, offsetof(struct conversation, frame));
	conversation->awaited = CONTROL_STARTED;
}

void conversation_drop(struct conversation *conversation)
{
	conversation->awaited = CONTROL_TYPES;
	conversation->complete = false;
	conversation->have = 0;
}

void conversation_await(struct conversation *conversation, enum control_type type)
{
	conversation_drop(conversation);
	conversation->awaited = type;
}

const uint8_t *conversation_body(const struct conversation *conversation)
{
	return conversation->frame + CONTROL_HEADER_BYTES;
}

static int refuse(struct conversation *c, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct conversation *c, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->wrong, sizeof(c->wrong), format, args);
	va_end(args);
	return error;
}

/* Most often that is what a shell's startup file prints: show it. */
static int refuse_foreign(struct conversation *c, const uint8_t *bytes, size_t len)
{
	char shown[SHOWN_BYTES + 1];
	size_t n = 0;

	for (; n < len && n < SHOWN_BYTES && bytes[n] != '\n'; n++)
		shown[n] = (char)(bytes[n] < ' ' || bytes[n] > '~' ? '?' : bytes[n]);
	shown[n] = '\0';
	return refuse(c, -EPROTO, "sent '%s' where its protocol has a message", shown);
}

/* Moves up to `until` bytes of the frame; how many. */
static size_t fill(struct conversation *c, const uint8_t *bytes, size_t len, size_t until)
{
	size_t n = until - c->have < len ? until - c->have : len;

	memcpy(c->frame + c->have, bytes, n);
	c->have += n;
	return n;
}

static int take_header(struct conversation *c)
{
	int ret = control_decode_header(c->frame, &c->header);

	if (ret == -EPROTONOSUPPORT)
		return refuse(c, ret,
			      "has another version of the protocol than this librpmem, "
			      "which has %d",
			      CONTROL_VERSION);
	if (ret != 0)
		return refuse(c, ret, "sent a message with a header that is out of range");
	if (c->header.type != c->awaited || c->header.is_reply != (c->awaited != CONTROL_STARTED))
		return refuse(c, -EPROTO,
			      "sent a message of type %d where a reply of type %d was due",
			      (int)c->header.type, (int)c->awaited);
	return 0;
}

int conversation_take(struct conversation *c, const uint8_t *bytes, size_t len)
{
	size_t n;
	int ret;

	if (len == 0)
		return 0;
	if (c->awaited == CONTROL_TYPES || c->complete)
		return refuse(c, -EPROTO, "sent %zu bytes where nothing was due", len);
	n = 0;
	if (c->have < CONTROL_HEADER_BYTES) {
		n = fill(c, bytes, len, CONTROL_HEADER_BYTES);
		if (!control_may_begin(c->frame, c->have))
			return c->have == n ? refuse_foreign(c, bytes, len)
					    : refuse_foreign(c, c->frame, c->have);
		if (c->have < CONTROL_HEADER_BYTES)
			return 0;
		ret = take_header(c);
		if (ret != 0)
			return ret;
	}
	n += fill(c, bytes + n, len - n, CONTROL_HEADER_BYTES + c->header.body_bytes);
	c->complete = c->have == CONTROL_HEADER_BYTES + c->header.body_bytes;
	if (n < len)
		return refuse(c, -EPROTO, "sent %zu bytes behind a reply", len - n);
	return 0;
}
