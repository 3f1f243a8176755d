/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_message.h -- what a client asks the daemon to do on a lane, as bytes.
 *
 *	request: op 4 | slot 4 | offset 8 | length 8 | data
 *	answer:  slot 4 | status 4 | the data of LANE_READ
 *
 * All little-endian. Offsets count from the start of the pool. Over RDMA a
 * request is one SEND; over TCP requests follow each other.
 */
#pragma once

#include <stdint.h>

#include "common/rdma/gpspm.h"

#define LANE_REQUEST_BYTES 24
#define LANE_ANSWER_BYTES  8

/* the data of a request; but over TCP LANE_WRITE and LANE_READ may have as much as the pool */
#define LANE_DATA_MAX 8192

enum lane_op {
	LANE_PERSIST = 1,  /* a range that was written before */
	LANE_PERSIST_DATA, /* copy the data by stores of whole aligned words, then persist it */
	LANE_DEEP,	   /* as LANE_PERSIST, down to the medium */
	LANE_WRITE, /* copy the data so, not durable yet; over TCP of any length, no answer */
	LANE_READ,  /* TCP only */
	LANE_PERSIST_RANGES, /* as LANE_PERSIST, each of the ranges in the data */
	LANE_OPS,
};

#define LANE_RANGE_BYTES 16 /* offset 8 | length 8 */

struct lane_range {
	uint64_t offset;
	uint64_t length;
};

struct lane_request {
	enum lane_op op;
	uint32_t slot; /* comes back in the answer */
	uint64_t offset;
	uint64_t length;
};

struct lane_answer {
	uint32_t slot;
	enum persist_status status;
};

/* A client leaves at most this many requests of a lane unanswered; they are answered in order. */
#define LANE_SLOTS 8
/* A bit of handshake_reply.word: data are durable only after a native flush of the device. */
#define LANE_WORD_NATIVE 1U

void lane_encode_request(const struct lane_request *request, uint8_t bytes[LANE_REQUEST_BYTES]);
/*
 * -EPROTO: no such op, too much data for it, or ranges that are cut. Whether a range is within
 * the pool is not checked.
 */
int lane_decode_request(const uint8_t bytes[LANE_REQUEST_BYTES], struct lane_request *request);
void lane_encode_range(const struct lane_range *range, uint8_t bytes[LANE_RANGE_BYTES]);
struct lane_range lane_decode_range(const uint8_t bytes[LANE_RANGE_BYTES]);
void lane_encode_answer(const struct lane_answer *answer, uint8_t bytes[LANE_ANSWER_BYTES]);
/* -EPROTO: no such status. */
int lane_decode_answer(const uint8_t bytes[LANE_ANSWER_BYTES], struct lane_answer *answer);
