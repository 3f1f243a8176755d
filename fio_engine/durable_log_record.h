/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durable_log_record.h -- the bytes of the log that durable_log= asks for: what a
 * client wrote, and what it reported to fio as durable.
 *
 * The file is a header and then records, little-endian. A write has one tag for each
 * 64-byte line of the region that it touches: a hash of its bytes in that line. Lines
 * are what a power failure takes or leaves, so a torn write can be judged too.
 *
 *   write  number, offset, length, tags: logged before it is posted
 *   done   write `number` was handed back to fio; with `claimed`, as durable
 *   sync   an fsync succeeded: all writes that are done are durable
 *   failed an fsync failed: no later one claims the writes so far, done or under way
 *   end    the job has ended, after N writes: a log without it may have had more; the
 *          flushes that completed, and what they reached
 *
 * Each record ends with a sum of its bytes, and its front has one of its own, so that a damaged
 * length is not taken for the last record of a log that a crash cut. The front's sum continues that
 * of the record before, or of the header: a record that is missing, or is another log's, is
 * noticed. What is read is hostile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flush_policy.h"
#include "job_handshake.h"

#define LOG_LINE	 64U /* bytes */
#define LOG_HEADER_BYTES 32U
#define LOG_RECORD_BYTES 32U /* tags come before the last four of them */
#define LOG_TAG_BYTES	 4U

/* The run that wrote the log. */
struct log_header {
	enum method method;
	enum flush_policy policy;
	enum target_kind kind;
	uint64_t region_bytes;
};

enum log_record_type { LOG_WRITE = 1, LOG_DONE, LOG_SYNC, LOG_FAILED, LOG_END };

/* The last field of a record, and of the header. */
struct log_sum {
	uint32_t value;
};

struct log_record {
	enum log_record_type type;
	bool claimed;	     /* LOG_DONE alone has it */
	uint64_t number;     /* the write's, from 0; in LOG_END how many there were; else 0 */
	uint64_t begin;	     /* LOG_WRITE: in the region; LOG_END: flushes that completed; else 0 */
	uint32_t bytes;	     /* LOG_END: enum reached */
	const uint8_t *tags; /* in the bytes it was decoded from */
	struct log_sum sum;  /* as decoded: the next record continues it */
};

uint32_t log_tag(const uint8_t *bytes, size_t count);

/* How many lines so many bytes from this offset on touch. */
static inline uint64_t log_lines(uint64_t begin, uint64_t bytes)
{
	return (begin + bytes - 1) / LOG_LINE - begin / LOG_LINE + 1;
}

struct log_sum log_header_encode(const struct log_header *header, uint8_t bytes[LOG_HEADER_BYTES]);
/* -EPROTO: it is not one. */
int log_header_decode(const uint8_t *bytes, size_t size, struct log_header *header,
		      struct log_sum *before);

/* All but a write: these have no tags. */
struct log_sum log_record_encode(const struct log_record *record, struct log_sum before,
				 uint8_t bytes[LOG_RECORD_BYTES]);

/* A write is encoded in pieces, since it may have many tags. */
#define LOG_FRONT_BYTES (LOG_RECORD_BYTES - LOG_TAG_BYTES)
#define LOG_FRONT_SUM	4U /* where the front's own sum is, which counts as zero in it */
struct log_sum log_record_front(const struct log_record *record, struct log_sum before,
				uint8_t bytes[LOG_FRONT_BYTES]);
void log_record_tag(struct log_sum *sum, uint32_t tag, uint8_t bytes[LOG_TAG_BYTES]);
void log_record_end(struct log_sum sum, uint8_t bytes[LOG_TAG_BYTES]);

/*
 * Gives the number of bytes that the record takes; 0: it goes on behind the bytes
 * that are there; -EPROTO: it is not a record. A write lies within the region.
 */
int64_t log_record_decode(const uint8_t *bytes, size_t size, uint64_t region_bytes,
			  struct log_sum before, struct log_record *record);
uint32_t log_record_tag_at(const struct log_record *record, uint64_t index);
