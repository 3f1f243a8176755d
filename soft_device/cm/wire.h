/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.h -- the messages by which two CM ids connect and disconnect: bytes and values,
 * no I/O.
 *
 * The first six are the ones of InfiniBand's CM (IBTA 12.6) that an RC connection takes, in
 * that order: REQ, REP or REJ, RTU; later DREQ, DREP. For datagrams two (12.11) ask for a QP
 * number and tell it. Sizes of private data are those that IP over IB leaves to programs. The
 * bytes come from anybody who can reach a port.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft_device/transport/wire.h"

#define CM_REQ_PRIVATE	    56
#define CM_REP_PRIVATE	    196
#define CM_REJ_PRIVATE	    148
#define CM_SIDR_REQ_PRIVATE 180
#define CM_SIDR_REP_PRIVATE 136
#define CM_PRIVATE_MAX	    CM_REP_PRIVATE

#define CM_BODY_BYTES	    24 /* before the private data, in messages that have a body */
#define CM_ORIGIN_BYTES	    WIRE_TOKEN_BYTES /* in REQ and SIDR REQ, after it */
#define CM_MESSAGE_MAX	    (WIRE_HEADER_BYTES + CM_BODY_BYTES + CM_PRIVATE_MAX)

enum cm_kind {
	CM_REQ = WIRE_CM_FIRST,
	CM_REP,
	CM_REJ,
	CM_RTU,
	CM_DREQ,
	CM_DREP,
	CM_SIDR_REQ,
	CM_SIDR_REP,
};

/* The status of a SIDR REP (IBTA 12.11.2.2). */
enum cm_sidr_status { CM_SIDR_SUCCESS, CM_SIDR_UNSUPPORTED, CM_SIDR_REJECT };

/* Reasons of a rejection (IBTA 12.6.7.2). */
enum cm_reason {
	CM_REASON_TIMEOUT = 4,
	CM_REASON_INVALID_SERVICE = 8,
	CM_REASON_CONSUMER = 28,
	CM_REASON_ECE = 35, /* vendor option not supported */
};

/* An id's description of itself, and what it asks for; the sender's point of view. */
struct cm_message {
	enum cm_kind kind;
	uint32_t qpn; /* 24 bits */
	union {
		uint32_t psn;  /* 24 bits: the receiver's sends begin with it */
		uint32_t qkey; /* SIDR REP */
	};
	uint16_t reason; /* REJ; of a SIDR REP its status */
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t retry_count;	 /* REQ; 0 to 7 */
	uint8_t rnr_retry_count; /* REQ, REP; 0 to 7 */
	uint8_t flow_control;	 /* 0, 1 */
	uint8_t srq;		 /* 0, 1 */
	uint32_t ece_vendor;
	uint32_t ece_options;
	unsigned char token[WIRE_TOKEN_BYTES]; /* REQ, SIDR REQ: left at the listener's admission
						  socket, if of its host */
	uint8_t private_data_len;
	unsigned char private_data[CM_PRIVATE_MAX]; /* zeros after private_data_len */
};

static inline bool cm_kind_asks(enum cm_kind kind)
{
	return kind == CM_REQ || kind == CM_SIDR_REQ;
}

/* How much private data a message of this kind takes. */
size_t cm_wire_private_max(enum cm_kind kind);

/* The number of bytes written. The values are in range. */
size_t cm_wire_put(const struct cm_message *message, unsigned char bytes[CM_MESSAGE_MAX]);

/*
 * Takes one message from the front of `bytes`: how many bytes it had; 0: there is no
 * whole one yet; -EPROTO: this is no message of ours.
 */
int cm_wire_get(const unsigned char *bytes, size_t length, struct cm_message *message);
