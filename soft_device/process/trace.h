/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.h -- what this process posted and when, in a file: the truth that a test of a
 * measuring program compares with.
 *
 * The file is mapped and all its blocks are there before the first operation, so that a record
 * costs its stores and two reads of the clock, and what a killed process leaves is whole.
 * Stamps are taken inside the calls of the program: the time a program measures around
 * its calls contains the time from `posted_ns` to `polled_ns`, and is longer by what the
 * calls cost. tests/soft_trace.py reads the file.
 *
 *	struct trace_header, then `room` times struct trace_record in the order of the posts
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "process.h"

#define TRACE_MAGIC UINT64_C(0x3165636172746d70) /* "pmtrace1" */
#define TRACE_ROOM  (1u << 20)
#define TRACE_KINDS 16 /* the numbers of enum ibv_wr_opcode; 14 is a flush */

struct trace_kind {
	_Atomic uint64_t operations; /* posted, those without a record as well */
	_Atomic uint64_t bytes;	     /* their payload */
};

struct trace_header {
	uint64_t magic;
	uint32_t header_bytes; /* where the first record is */
	uint32_t record_bytes;
	uint64_t room;		 /* how many records there may be */
	_Atomic uint64_t posted; /* more than room: the rest has no records */
	uint64_t unused[4];
	struct trace_kind kinds[TRACE_KINDS];
};

/* Times are of CLOCK_MONOTONIC. */
struct trace_record {
	uint64_t posted_ns; /* in the call that posted it */
	uint64_t delay_ns;  /* injected */
	uint64_t done_ns;   /* its completion was there to be polled; 0: never */
	uint64_t polled_ns; /* in the call that took the completion; 0: never, or it had none */
	uint32_t qpn;
	uint32_t bytes;	  /* payload; 0 for a flush */
	uint8_t opcode;	  /* enum ibv_wr_opcode, or SOFT_WR_FLUSH */
	uint8_t status;	  /* enum ibv_wc_status; invalid before done_ns */
	uint8_t signaled; /* it completes even on success */
	uint8_t unused[5];
};

extern const struct process_part trace_part;

/* The number of the operation's record, from 1; 0: there is none. */
struct trace_post {
	uint32_t qpn;
	uint32_t bytes;
	uint8_t opcode;
	bool signaled;
	uint64_t now_ns;
	uint64_t delay_ns;
};
uint32_t trace_posted(const struct trace_post *post);
void trace_done(uint32_t record, enum ibv_wc_status status);

/* For completions that a program is about to get; imm_data of a send's is its record. */
void trace_polled(struct ibv_wc *wc, int count);
