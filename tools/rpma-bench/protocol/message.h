/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.h -- the control messages of rpma-bench: bytes in, values out.
 *
 * All on the control connection, which stays open for the whole run:
 *
 *	client			server
 *	RUN			WELCOME, TEXT chunks (its environment and readiness)
 *	BEGIN			READY: a port for the queue pairs of this repeat, or why not
 *		(the client connects its queue pairs there, one after the other)
 *	START phase		-	warm-up and measurement begin
 *	END			TEXT chunks: the report, a JSON object
 *	...			(BEGIN again)
 *	BYE
 *	-			ALIVE	now and then: is the client's host there?
 *
 * Messages are foreign: version, length and every range are checked here. A
 * body that is longer than known is accepted, its tail ignored.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/rdma/connection_knobs.h"
#include "common/rdma/handshake.h"
#include "params.h"

#define MESSAGE_VERSION	     2
#define MESSAGE_MAX	     4096
#define MESSAGE_REFUSAL_MAX  512
#define MESSAGE_CHUNK_MAX    3072
#define MESSAGE_TEXT_MAX     (4 * 1024 * 1024) /* a report with histograms of every kind */
#define MESSAGE_REPEAT_MAX   100000
#define MESSAGE_DURATION_MAX (24 * 3600 * 1000000000ULL)

enum message_type {
	MESSAGE_RUN = 1,
	MESSAGE_WELCOME = 2,
	MESSAGE_TEXT = 3,
	MESSAGE_BEGIN = 4,
	MESSAGE_READY = 5,
	MESSAGE_START = 6,
	MESSAGE_END = 7,
	MESSAGE_BYE = 8,
	MESSAGE_ALIVE = 9,
};

enum message_phase { PHASE_WARMUP = 0, PHASE_MEASURE = 1, PHASES };

struct message_run {
	uint8_t run_id[16];
};

/* One piece of memory that the server offers. */
struct message_target {
	uint8_t kind;	     /* enum target_kind */
	uint8_t odp;	     /* 0 no, 1 yes, 2 unknown */
	uint8_t flush_types; /* bits 1 << RPMA_FLUSH_TYPE_* of its registration */
	int numa_node;	     /* -1: unknown */
	uint32_t page_bytes; /* its page size; 0: unknown */
	uint64_t bytes;
};

struct message_welcome {
	uint32_t environment_bytes;   /* length of the TEXT that follows */
	uint8_t direct_write_to_pmem; /* what its operator stated */
	uint8_t targets_count;
	struct message_target targets[PARAMS_TARGETS_MAX];
	char refusal[MESSAGE_REFUSAL_MAX]; /* empty: welcome */
};

/* A part of a longer text; chunks are full but for the last. */
struct message_text {
	uint32_t total;
	uint32_t offset;
	uint32_t bytes;
	const uint8_t *data; /* borrowed from the message */
};

struct message_begin {
	struct params params;
	uint32_t repeat;
	uint64_t seed; /* for the slots and the content */
	uint64_t warmup_ns;
	uint64_t duration_ns;
	uint64_t ops;	/* stop after this many; 0: by time */
	uint8_t verify; /* check the target after the last flush */
	/* the client's memory, where bidirectional */
	uint64_t client_bytes;
	struct region_desc client_desc;
	struct connection_knobs knobs; /* the mirrored ones; the others are CONNECTION_KNOB_UNSET */
};

struct message_ready {
	uint16_t port;
	uint64_t token; /* this repeat's: each queue pair sends it */
	char refusal[MESSAGE_REFUSAL_MAX];
};

struct message_start {
	enum message_phase phase;
};

/* How many operations of each queue pair have touched the target, warm-up included. */
struct message_end {
	uint32_t qps_count;
	uint64_t touched[PARAMS_QPS_MAX];
};

struct message {
	enum message_type type;
	union {
		struct message_run run;
		struct message_welcome welcome;
		struct message_text text;
		struct message_begin begin;
		struct message_ready ready;
		struct message_start start;
		struct message_end end;
	};
};

/* Gives the length; the message is within its ranges, so it always fits. */
size_t message_encode(const struct message *message, uint8_t bytes[MESSAGE_MAX]);

/* -EPROTO for what is malformed or out of range, -EPROTONOSUPPORT for another version. */
int message_decode(const uint8_t *bytes, size_t len, struct message *message);
