/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conversation.h -- what may come from the daemon, and when: STARTED first, then
 * one reply to each request, and nothing else.
 *
 * Takes bytes as they arrive, and does no I/O. The session's lock guards it.
 */
#pragma once

#include "librpmem/wire/control.h"

struct conversation {
	enum control_type awaited; /* CONTROL_TYPES: nothing may come */
	bool complete;		   /* header and body of the awaited one are here */
	struct control_header header;
	char wrong[160]; /* what the daemon has sent, after an error */
	size_t have;
	uint8_t frame[CONTROL_HEADER_BYTES + CONTROL_BODY_MAX];
};

/* Awaits CONTROL_STARTED. */
void conversation_begin(struct conversation *conversation);
/* A request of the type is about to be sent; the reply before it was dropped. */
void conversation_await(struct conversation *conversation, enum control_type type);
/*
 * -EPROTO: it is not what may come now; -EPROTONOSUPPORT: the daemon's protocol has another
 * version; `wrong` then continues an error message that begins with the daemon.
 */
int conversation_take(struct conversation *conversation, const uint8_t *bytes, size_t len);
/* The body of a complete reply, header.body_bytes long. */
const uint8_t *conversation_body(const struct conversation *conversation);
/* The complete reply was read. */
void conversation_drop(struct conversation *conversation);
