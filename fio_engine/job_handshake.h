/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_handshake.h -- what a client of the engine asks of a server, and what it is told,
 * within the handshake that all tools begin with.
 *
 * The request's number and token hold struct job_request, the reply's word
 * struct job_reply: a refusal of the engine's own is a welcome whose word has it, and no
 * descriptors. A client that ends as it should sends an empty message last; one
 * that goes without it is missed.
 *
 * With apm and native, the server only consumes writes with immediate data. No
 * more than depth of them may be in flight, as a receiver that is not ready costs
 * most of a second; so after each half of the depth the server sends an empty
 * message, which means that as many were consumed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/rdma/gpspm.h"
#include "common/rdma/handshake.h"
#include "common/rdma/target.h"

#define JOB_DEPTH_MIN 512  /* messages of one client at once that any server has room for */
#define JOB_DEPTH_MAX 4096 /* and the most that one can be told to have room for */

enum method { METHOD_ANY, METHOD_APM, METHOD_GPSPM, METHOD_NATIVE, METHODS };

struct job_request {
	enum method method; /* never METHOD_ANY */
	uint16_t job;	    /* which connection of the client's run this is; below jobs */
	uint16_t jobs;	    /* how many that run makes */
	uint8_t tag;	    /* any number: jobs of one host that are alike differ in it, mostly */
	bool again;	    /* a connection of this job broke: it takes the place of that one */
	uint16_t depth;	    /* messages, or writes with immediate data, at once; 0: none come */
	uint32_t imm_bytes; /* gpspm with immediate data: the block size; the data is the number of
			       a block to make durable; 0: such writes are not answered */
};

enum refusal {
	REFUSAL_NONE,
	REFUSAL_METHOD, /* the server is for another method: job_reply.method */
	REFUSAL_DEPTH,	/* job_reply.depth is what it has room for */
	REFUSAL_FULL,	/* it already served all expected clients */
	REFUSALS,
};

struct job_reply {
	enum refusal refusal;
	enum method method;	     /* the server's own; METHOD_ANY */
	enum target_kind kind;	     /* the region's */
	enum persist_method persist; /* what gpspm does there */
	bool direct_write_to_pmem;
	uint16_t depth;
};

/* "apm", "gpspm", "native"; "any". */
const char *method_name(enum method method);

void job_request_encode(const struct job_request *job_request,
			uint8_t bytes[HANDSHAKE_REQUEST_BYTES]);
/*
 * *answer is what a handshake deserves: HANDSHAKE_WELCOME with *job_request, or why it
 * is refused. -EPROTO if it is not a handshake, or not one that a client can send.
 */
int job_request_decode(const void *bytes, size_t len, struct job_request *job_request,
		       enum handshake_answer *answer);

uint64_t job_reply_encode(const struct job_reply *job_reply);
/* -EPROTO for what no server of this engine sends. */
int job_reply_decode(uint64_t word, struct job_reply *job_reply);
