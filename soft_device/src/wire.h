/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.h -- the bytes that two processes exchange over sockets: pure encoding and
 * checked decoding, no I/O.
 *
 * Every message: magic (4), version (2), kind (2), length of what follows (4), all big-endian, then
 * the body. A decoder takes any bytes: it says how many more it needs, or -EPROTO.
 * Kinds: HELLO (both ways, first), REQUEST and ANSWER (operations over TCP), CHANNEL_NEW and
 * CHANNEL_GONE (unix socket), CM_REQ, CM_REP, CM_REJ, CM_RTU, CM_DREQ, CM_DREP (cm, in cm_wire.h).
 */
#ifndef SOFT_WIRE_H
#define SOFT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "request.h"

#define WIRE_MAGIC	  0x52505346u /* "RPSF" */
#define WIRE_VERSION	  1
#define WIRE_HEADER_BYTES 12
#define WIRE_BODY_MAX	  (SOFT_MAX_MESSAGE + 256)

enum wire_kind {
	WIRE_HELLO = 1,
	WIRE_REQUEST,
	WIRE_ANSWER,
	WIRE_CHANNEL_NEW,
	WIRE_CHANNEL_GONE,
	WIRE_CM_FIRST = 32, /* from here on cm_wire.h */
};

struct wire_header {
	enum wire_kind kind;
	uint32_t length;
};

/* 0 and *header, or -EPROTO: not ours, of another version, or longer than its kind may be. */
int wire_get_header(const unsigned char bytes[WIRE_HEADER_BYTES], struct wire_header *header);
void wire_put_header(unsigned char bytes[WIRE_HEADER_BYTES], enum wire_kind kind,
		     uint32_t length);

/* The rest (hello, request, answer, channel) is peer.c's and tcp.c's to define here. */

#endif /* SOFT_WIRE_H */
