/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.c -- CM messages to bytes and back.
 *
 * REQ, REP, REJ and the two of SIDR have one body: 24 bytes of numbers, big-endian, in a REQ who
 * asks, then the private data. RTU, DREQ and DREP have none. Whatever decodes is in range, and
 * encodes to the same bytes.
 */
#include "wire.h"

#include <errno.h>
#include <string.h>

#define QPN_MAX	  0xffffffu
#define RETRY_MAX 7

static unsigned char *put_32(unsigned char *at, uint32_t value)
{
	at[0] = (unsigned char)(value >> 24);
	at[1] = (unsigned char)(value >> 16);
	at[2] = (unsigned char)(value >> 8);
	at[3] = (unsigned char)value;
	return at + 4;
}

static uint32_t get_32(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Bytes of a body before its private data; 0: this kind has no body. */
static size_t fixed_bytes(enum cm_kind kind)
{
	switch (kind) {
	case CM_REQ:
	case CM_SIDR_REQ:
		return CM_BODY_BYTES + CM_ORIGIN_BYTES;
	case CM_REP:
	case CM_REJ:
	case CM_SIDR_REP:
		return CM_BODY_BYTES;
	default:
		return 0;
	}
}

size_t cm_wire_private_max(enum cm_kind kind)
{
	switch (kind) {
	case CM_REQ:
		return CM_REQ_PRIVATE;
	case CM_REP:
		return CM_REP_PRIVATE;
	case CM_REJ:
		return CM_REJ_PRIVATE;
	case CM_SIDR_REQ:
		return CM_SIDR_REQ_PRIVATE;
	case CM_SIDR_REP:
		return CM_SIDR_REP_PRIVATE;
	default:
		return 0;
	}
}

static void put_body(const struct cm_message *message, unsigned char *at)
{
	at = put_32(at, message->qpn);
	at = put_32(at, message->psn);
	*at++ = (unsigned char)(message->reason >> 8);
	*at++ = (unsigned char)message->reason;
	*at++ = message->responder_resources;
	*at++ = message->initiator_depth;
	*at++ = message->retry_count;
	*at++ = message->rnr_retry_count;
	*at++ = message->flow_control;
	*at++ = message->srq;
	at = put_32(at, message->ece_vendor);
	at = put_32(at, message->ece_options);
	if (cm_kind_asks(message->kind)) {
		memcpy(at, message->token, WIRE_TOKEN_BYTES);
		at += WIRE_TOKEN_BYTES;
	}
	memcpy(at, message->private_data, message->private_data_len);
}

size_t cm_wire_put(const struct cm_message *message, unsigned char bytes[CM_MESSAGE_MAX])
{
	size_t length = fixed_bytes(message->kind);

	if (length > 0) {
		length += message->private_data_len;
		put_body(message, bytes + WIRE_HEADER_BYTES);
	}
	wire_put_header(bytes, (enum wire_kind)message->kind, (uint32_t)length);
	return WIRE_HEADER_BYTES + length;
}

static bool in_range(const struct cm_message *message)
{
	const bool has_reason = message->kind == CM_REJ || message->kind == CM_SIDR_REP;

	return message->qpn <= QPN_MAX &&
	       (message->psn <= QPN_MAX || message->kind == CM_SIDR_REP) &&
	       (has_reason || message->reason == 0) &&
	       (message->kind != CM_REJ || message->reason != 0) &&
	       message->retry_count <= RETRY_MAX && message->rnr_retry_count <= RETRY_MAX &&
	       message->flow_control <= 1 && message->srq <= 1;
}

static int get_body(const unsigned char *at, size_t length, struct cm_message *message)
{
	const size_t fixed = fixed_bytes(message->kind), private_bytes = length - fixed;

	if (length < fixed || private_bytes > cm_wire_private_max(message->kind))
		return -EPROTO;
	message->qpn = get_32(at);
	message->psn = get_32(at + 4);
	message->reason = (uint16_t)(at[8] << 8 | at[9]);
	message->responder_resources = at[10];
	message->initiator_depth = at[11];
	message->retry_count = at[12];
	message->rnr_retry_count = at[13];
	message->flow_control = at[14];
	message->srq = at[15];
	message->ece_vendor = get_32(at + 16);
	message->ece_options = get_32(at + 20);
	message->private_data_len = (uint8_t)private_bytes;
	if (cm_kind_asks(message->kind))
		memcpy(message->token, at + CM_BODY_BYTES, WIRE_TOKEN_BYTES);
	memcpy(message->private_data, at + fixed, private_bytes);
	return in_range(message) ? 0 : -EPROTO;
}

int cm_wire_get(const unsigned char *bytes, size_t length, struct cm_message *message)
{
	struct wire_header header;

	if (length < WIRE_HEADER_BYTES)
		return 0;
	if (wire_get_header(bytes, &header) != 0 || (int)header.kind < CM_REQ ||
	    (int)header.kind > CM_SIDR_REP || header.length > CM_MESSAGE_MAX - WIRE_HEADER_BYTES)
		return -EPROTO;
	if (length < WIRE_HEADER_BYTES + header.length)
		return 0;
	memset(message, 0, sizeof(*message));
	message->kind = (enum cm_kind)header.kind;
	if (fixed_bytes(message->kind) > 0) {
		if (get_body(bytes + WIRE_HEADER_BYTES, header.length, message) != 0)
			return -EPROTO;
	} else if (header.length != 0) {
		return -EPROTO;
	}
	return (int)(WIRE_HEADER_BYTES + header.length);
}
