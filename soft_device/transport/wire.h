/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.h -- the bytes that two processes exchange over sockets: pure encoding and
 * checked decoding, no I/O.
 *
 * Every message: magic (4), version (2), kind (2), length of what follows (4), all big-endian, then
 * the body. The put functions write a whole message, the get functions take a body of the length
 * that its header said, and refuse what no encoder makes: lengths, ranges, codes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "request.h"

#define WIRE_MAGIC	  0x52505346u /* "RPSF" */
#define WIRE_VERSION	  4
#define WIRE_HEADER_BYTES 12
#define WIRE_BODY_MAX	  (SOFT_MAX_MESSAGE + 256)

enum wire_kind {
	WIRE_HANDSHAKE = 1, /* both ways, first */
	WIRE_CARRY,	    /* from who connected: this connection carries the operations */
	WIRE_REQUEST,	    /* an operation */
	WIRE_ANSWER,	    /* what became of it */
	WIRE_CHANNEL_NEW,   /* unix socket: a comp channel; its eventfd comes along */
	WIRE_CHANNEL_GONE,  /* unix socket */
	WIRE_PROOF,	    /* both ways, after these: handshake.h */
	WIRE_CM_FIRST = 32, /* from here on cm/wire.h */
	WIRE_CM_LAST = 47,
};

#define WIRE_CM_MAX 1024 /* bytes of a body */

struct wire_header {
	enum wire_kind kind;
	uint32_t length;
};

/* 0 and *header, or -EPROTO: not ours, of another version, or of no length its kind may have. */
int wire_get_header(const unsigned char bytes[WIRE_HEADER_BYTES], struct wire_header *header);
void wire_put_header(unsigned char bytes[WIRE_HEADER_BYTES], enum wire_kind kind, uint32_t length);

#define WIRE_HANDSHAKE_BYTES 44 /* bodies */
#define WIRE_REQUEST_BYTES   89 /* without payload */
#define WIRE_ANSWER_BYTES    16 /* without data */
#define WIRE_CHANNEL_BYTES   8
#define WIRE_PROOF_BYTES     32

#define WIRE_TOKEN_BYTES     16

/*
 * The handshake of two processes. Over the unix socket the kernel tells whose process it is, and
 * each side gives the other a token, which proves that a TCP connection is the same process's.
 * Over TCP between hosts all but the identity is 0, with a secret also but the token, which is the
 * nonce of handshake.h then.
 */
struct wire_handshake {
	uint32_t layout;	/* SEGMENT_LAYOUT; 0: it shares no memory */
	uint64_t identity;	/* segment.identity */
	uint64_t probe;		/* where segment.probe is in its memory */
	uint64_t pid_namespace; /* inode; 0: unknown */
	unsigned char token[WIRE_TOKEN_BYTES];
};

#define WIRE_HANDSHAKE_MESSAGE (WIRE_HEADER_BYTES + WIRE_HANDSHAKE_BYTES)
void wire_put_handshake(unsigned char bytes[WIRE_HANDSHAKE_MESSAGE],
			const struct wire_handshake *handshake);
int wire_get_handshake(const unsigned char *body, size_t length, struct wire_handshake *handshake);

#define WIRE_PROOF_MESSAGE (WIRE_HEADER_BYTES + WIRE_PROOF_BYTES)
void wire_put_proof(unsigned char bytes[WIRE_PROOF_MESSAGE],
		    const unsigned char proof[WIRE_PROOF_BYTES]);

/*
 * A request for QP `qpn` of device `gid`; its number comes back with the answer. When it was made,
 * its sender had begun to execute requests of the receiver up to `after`, that one not included:
 * their answers, which take another connection, come first.
 */
struct wire_request {
	uint32_t number;
	uint32_t after;
	uint32_t qpn;
	union ibv_gid gid;
	struct request request;
};

/* Bytes that follow a request of this kind; and that follow its answer when it succeeded. */
uint32_t wire_payload(const struct request *request);
uint32_t wire_answer_data(const struct request *request);

/* Header and fixed part; wire_payload() bytes are to follow. */
#define WIRE_REQUEST_START (WIRE_HEADER_BYTES + WIRE_REQUEST_BYTES)
void wire_put_request(unsigned char bytes[WIRE_REQUEST_START], uint32_t number, uint32_t after,
		      const union ibv_gid *gid, uint32_t qpn, const struct request *request);
/* The payload, wire_payload() bytes, is at body + WIRE_REQUEST_BYTES. */
int wire_get_request(const unsigned char *body, size_t length, struct wire_request *request);

/*
 * Data follow, as many as the request asked for; or WIRE_REGION_BYTES where a process with checks
 * refuses a request with IBV_WC_REM_ACCESS_ERR.
 */
struct wire_answer {
	uint32_t number;
	struct outcome outcome;
	uint32_t bytes; /* data bytes that follow */
};

#define WIRE_ANSWER_START (WIRE_HEADER_BYTES + WIRE_ANSWER_BYTES)
void wire_put_answer(unsigned char bytes[WIRE_ANSWER_START], const struct wire_answer *answer);
/* The data are at body + WIRE_ANSWER_BYTES. */
int wire_get_answer(const unsigned char *body, size_t length, struct wire_answer *answer);

/* The region that a request was refused for, as its owner knows it. */
#define WIRE_PLACE_BYTES  160
#define WIRE_REGION_BYTES (33 + 2 * WIRE_PLACE_BYTES)
struct wire_region {
	uint32_t key; /* its rkey, which the request may have meant */
	uint32_t pid;
	uint32_t pd;
	uint32_t access;
	bool is_gone;
	uint64_t addr;
	uint64_t length;
	char made_at[WIRE_PLACE_BYTES]; /* "main a.c:3"; "": unknown */
	char gone_at[WIRE_PLACE_BYTES];
};
void wire_put_region(unsigned char bytes[WIRE_REGION_BYTES], const struct wire_region *region);
/* The places are printable. */
int wire_get_region(const unsigned char *bytes, size_t length, struct wire_region *region);

struct wire_channel {
	uint32_t slot;
	uint32_t id; /* never 0 */
};

#define WIRE_CHANNEL_MESSAGE (WIRE_HEADER_BYTES + WIRE_CHANNEL_BYTES)
void wire_put_channel(unsigned char bytes[WIRE_CHANNEL_MESSAGE], enum wire_kind kind,
		      const struct wire_channel *channel);
int wire_get_channel(const unsigned char *body, size_t length, struct wire_channel *channel);
