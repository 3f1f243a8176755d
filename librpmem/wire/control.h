/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control.h -- the messages of librpmem and rpmemd over ssh, as bytes.
 *
 * The daemon begins with CONTROL_STARTED; then each request of the client gets
 * one reply of the same type. A frame is a header of 16 bytes,
 *
 *	magic 4 | version 2 | type 2 | status 4 | body bytes 4
 *
 * and a body of at most CONTROL_BODY_MAX; integers are big-endian, and a
 * reply's type has bit 8 set. The status of STARTED and of a reply is an errno of
 * Linux; if it is not 0, the body is the reason, as text.
 */
#pragma once

#include <librpmem.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_VERSION	     1
#define CONTROL_HEADER_BYTES 16
#define CONTROL_BODY_MAX     65536
#define CONTROL_REASON_MAX   1024 /* with its NUL */
#define CONTROL_NAME_MAX     4096 /* a pool set, with its NUL */
#define CONTROL_STATUS_MAX   4095 /* MAX_ERRNO of the kernel's include/linux/err.h */

enum control_type {
	CONTROL_STARTED = 1,
	CONTROL_CREATE,
	CONTROL_OPEN,
	CONTROL_SET_ATTR,
	CONTROL_CLOSE,
	CONTROL_PERSISTED, /* the first persist of a new pool has completed: its parts stay */
	CONTROL_TYPES,
};

enum control_transport { CONTROL_RDMA = 1, CONTROL_TCP = 2 };
enum control_method { CONTROL_GPSPM = 1, CONTROL_APM = 2 };

struct control_header {
	enum control_type type;
	bool is_reply; /* false for CONTROL_STARTED */
	uint32_t status;
	uint32_t body_bytes;
};

/* The body of CONTROL_CREATE and CONTROL_OPEN. */
struct control_pool_request {
	uint64_t pool_size;
	uint32_t nlanes;
	enum control_transport transport;
	bool has_attr; /* CONTROL_CREATE only; if not set, attr is not sent */
	struct rpmem_pool_attr attr;
	char name[CONTROL_NAME_MAX];
};

/* The body of their replies. */
struct control_pool_reply {
	uint32_t nlanes;
	uint16_t port;	  /* where the daemon accepts lanes */
	char address[64]; /* numeric; empty: the host that ssh went to */
	enum control_method method;
	bool has_headers; /* the client may not write the first 4096 bytes */
	uint64_t pool_size;
	uint64_t token; /* a lane must present it to be admitted */
	struct rpmem_pool_attr attr;
};

#define CONTROL_CLOSE_REMOVE 1U /* remove the parts that this session has created */

/*
 * Each encodes header and body, and returns how many bytes the frame has; 0 if it does not fit
 * into room.
 */
size_t control_encode_pool_request(enum control_type type, const struct control_pool_request *body,
				   uint8_t *frame, size_t room);
size_t control_encode_pool_reply(enum control_type type, const struct control_pool_reply *body,
				 uint8_t *frame, size_t room);
size_t control_encode_set_attr(const struct rpmem_pool_attr *attr, uint8_t *frame, size_t room);
size_t control_encode_close(uint32_t flags, uint8_t *frame, size_t room);
/*
 * A frame without a body, or with a status and its reason, which may be NULL; a longer one is
 * cut. CONTROL_STARTED is never a reply, whatever is_reply is.
 */
size_t control_encode_plain(enum control_type type, bool is_reply, uint32_t status,
			    const char *reason, uint8_t *frame, size_t room);

/*
 * -EPROTO: foreign bytes, or a field out of range; -EPROTONOSUPPORT: another version, with the
 * header decoded as far as this version can.
 */
int control_decode_header(const uint8_t bytes[CONTROL_HEADER_BYTES], struct control_header *header);
/* Could a frame begin with these bytes, as many as there are? */
bool control_may_begin(const uint8_t *bytes, size_t len);
/* Each decodes a body; -EPROTO unless it is exactly one, with every field in its range. */
int control_decode_pool_request(enum control_type type, const uint8_t *body, size_t len,
				struct control_pool_request *request);
int control_decode_pool_reply(const uint8_t *body, size_t len, struct control_pool_reply *reply);
int control_decode_set_attr(const uint8_t *body, size_t len, struct rpmem_pool_attr *attr);
int control_decode_close(const uint8_t *body, size_t len, uint32_t *flags);
/* Cuts at CONTROL_REASON_MAX and at the first control character. */
void control_decode_reason(const uint8_t *body, size_t len, char reason[CONTROL_REASON_MAX]);
