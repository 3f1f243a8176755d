/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handshake.h -- what two tools say in the private data of a connection.
 *
 * The request has 56 bytes at most on InfiniBand and RoCE, and arrives padded
 * with zeros; so a greeting has the tool, its version and the purpose, the
 * reply of a lane brings the descriptors of the target, and everything longer
 * travels in messages. Magic, version, role and answer stay where they are in
 * all versions, so that two of them can tell each other apart.
 */
#ifndef COMMON_RDMA_HANDSHAKE_H
#define COMMON_RDMA_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GREETING_VERSION       2
#define GREETING_REQUEST_BYTES 24
#define GREETING_REPLY_BYTES   64
#define GREETING_MR_DESC_MAX   32
#define GREETING_PCFG_DESC_MAX 8

enum greeting_role {
	GREETING_CONTROL = 1, /* stays open for the whole run */
	GREETING_MEASURE = 2, /* a lane: one repeat of one point */
	GREETING_PING = 3,    /* a lane of rpma-ping; its token is the bytes of a ping */
	GREETING_FIO = 4,     /* a job of the fio engine: lane and token are its hello */
	GREETING_RPMEM = 5,   /* a lane of librpmem; the token is that of its session */
};

enum greeting_answer {
	GREETING_WELCOME = 0,
	GREETING_WRONG_VERSION = 1,
	GREETING_BUSY = 2,
	GREETING_OTHER_TOOL = 3, /* this server is not for what the request wants */
};

struct greeting_request {
	uint16_t version;
	enum greeting_role role;
	uint32_t lane;	/* a lane's: which one */
	uint64_t token; /* a lane's: the server's for this repeat */
};

struct greeting_reply {
	uint16_t version; /* the one the server speaks */
	enum greeting_answer answer;
	/* a lane's: the target of this repeat; else both are 0 */
	uint8_t mr_desc_bytes;
	uint8_t pcfg_desc_bytes;
	uint64_t word; /* a fio job's: the offer; a ping's: the claim; a lane's of librpmem:
			  LANE_WORD_* */
	uint8_t mr_desc[GREETING_MR_DESC_MAX];
	uint8_t pcfg_desc[GREETING_PCFG_DESC_MAX];
};

void greeting_encode_request(const struct greeting_request *request,
			     uint8_t bytes[GREETING_REQUEST_BYTES]);
/*
 * -EPROTO for foreign bytes; another version decodes, without what only this
 * one knows of, and is the caller's to refuse.
 */
int greeting_decode_request(const void *bytes, size_t len, struct greeting_request *request);
/* The same, and what a server for this role answers. */
int greeting_judge_request(const void *bytes, size_t len, enum greeting_role role,
			   struct greeting_request *request, enum greeting_answer *answer);

void greeting_encode_reply(const struct greeting_reply *reply, uint8_t bytes[GREETING_REPLY_BYTES]);
/* Why a server refused, for its log. */
const char *greeting_refusal(enum greeting_answer answer);
/* -EPROTO for foreign bytes; a refusal decodes whatever its version. */
int greeting_decode_reply(const void *bytes, size_t len, struct greeting_reply *reply);

#endif /* COMMON_RDMA_HANDSHAKE_H */
