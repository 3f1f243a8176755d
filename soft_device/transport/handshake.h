/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handshake.h -- how processes of two hosts begin a connection: what each sends, no I/O.
 *
 *	the one that connects		the one that listens
 *	first message >			< first message
 *	proof >				< proof		with a secret (secret.h)
 *
 * The first message of each then has a nonce, and a proof is over both first messages and both
 * addresses: so none of another conversation, or of another host, is of use. Who connects proves
 * first, so a listener tells nothing that could be tried out at leisure. What follows is neither
 * encrypted nor authenticated.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "wire.h"

enum handshake_side { HANDSHAKE_CLIENT, HANDSHAKE_SERVER, HANDSHAKE_SIDES };

struct handshake {
	enum handshake_side side;
	bool met; /* the other's first message has come */
	union ibv_gid gid[HANDSHAKE_SIDES];
	struct wire_handshake first[HANDSHAKE_SIDES];
};

/* The longer of the two messages. */
#define HANDSHAKE_MESSAGE WIRE_HANDSHAKE_MESSAGE

/* Between these addresses. 0 or -EIO. */
int handshake_begin(struct handshake *handshake, enum handshake_side side, uint64_t identity,
		    const union ibv_gid *own, const union ibv_gid *remote);

/* The kind of message that comes next. */
static inline enum wire_kind handshake_expects(const struct handshake *handshake)
{
	return handshake->met ? WIRE_PROOF : WIRE_HANDSHAKE;
}

/* This side's first message. */
void handshake_put_first(const struct handshake *handshake,
			 unsigned char message[WIRE_HANDSHAKE_MESSAGE]);

/*
 * Takes the body of the expected message, and makes the answer, if there is one: of
 * *bytes, also for an error. 1: both know each other now; 0: another message is expected; -EPROTO;
 * -ENOKEY: one of the two has no secret; -EKEYREJECTED: they differ.
 */
int handshake_take(struct handshake *handshake, const unsigned char *body, size_t length,
		   unsigned char answer[HANDSHAKE_MESSAGE], size_t *bytes);

/* For a line that people read, about the process at the other end; NULL: another error. */
const char *handshake_describe(int error);
