/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handshake.h -- what two tools say in the private data of a connection.
 *
 * The request has 56 bytes at most on InfiniBand and RoCE, and arrives padded
 * with zeros; so a handshake has the tool, its version and the purpose, the
 * reply brings the descriptors of the target, and everything longer
 * travels in messages. Magic, version, role and answer stay where they are in
 * all versions, so that two of them can tell each other apart.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HANDSHAKE_VERSION	2
#define HANDSHAKE_REQUEST_BYTES 24
#define HANDSHAKE_REPLY_BYTES	64
#define HANDSHAKE_MR_DESC_MAX	32
#define HANDSHAKE_PCFG_DESC_MAX 8

enum handshake_role {
	HANDSHAKE_CONTROL = 1, /* stays open for the whole run */
	HANDSHAKE_MEASURE = 2, /* one repeat of one point */
	HANDSHAKE_PING = 3,    /* rpma-ping; the token is the bytes of a ping */
	HANDSHAKE_FIO = 4,   /* a job of the fio engine: number and token are struct job_request */
	HANDSHAKE_RPMEM = 5, /* a lane of librpmem; the token is that of its session */
};

enum handshake_answer {
	HANDSHAKE_WELCOME = 0,
	HANDSHAKE_WRONG_VERSION = 1,
	HANDSHAKE_BUSY = 2,
	HANDSHAKE_OTHER_TOOL = 3, /* this server is not for what the request wants */
};

struct handshake_request {
	uint16_t version;
	enum handshake_role role;
	uint32_t number; /* which connection of its kind */
	uint64_t token;	 /* the server's for this repeat */
};

/* A region, and its host as a peer, for librpma on another host; both are empty without one. */
struct region_desc {
	uint8_t mr_bytes;
	uint8_t mr[HANDSHAKE_MR_DESC_MAX];
	uint8_t pcfg_bytes;
	uint8_t pcfg[HANDSHAKE_PCFG_DESC_MAX];
};

struct handshake_reply {
	uint16_t version; /* the one the server speaks */
	enum handshake_answer answer;
	uint64_t word; /* a fio job's: struct job_reply; a ping's: the claim; a lane's of librpmem:
			  LANE_WORD_* */
	struct region_desc desc; /* the target of this repeat */
};

void handshake_encode_request(const struct handshake_request *request,
			      uint8_t bytes[HANDSHAKE_REQUEST_BYTES]);
/*
 * -EPROTO for foreign bytes; another version decodes, without what only this
 * one knows of, and is the caller's to refuse.
 */
int handshake_decode_request(const void *bytes, size_t len, struct handshake_request *request);
/* The same, and what a server for this role answers. */
int handshake_judge_request(const void *bytes, size_t len, enum handshake_role role,
			    struct handshake_request *request, enum handshake_answer *answer);

void handshake_encode_reply(const struct handshake_reply *reply,
			    uint8_t bytes[HANDSHAKE_REPLY_BYTES]);
/* Why a server refused, for its log. */
const char *handshake_refusal(enum handshake_answer answer);
/* -EPROTO for foreign bytes; a refusal decodes whatever its version. */
int handshake_decode_reply(const void *bytes, size_t len, struct handshake_reply *reply);
