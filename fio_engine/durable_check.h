/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durable_check.h -- judges a target by the log of durable_log=: is what was reported
 * as durable there?
 *
 * The pieces of all writes, one for each line that a write touches, are sorted by line.
 * In each line the newest claimed piece has to be there, or a newer write of the same
 * bytes, which the failure may have left as well; what a newer claimed piece covers is
 * that one's concern.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/failure.h"
#include "durable_log_record.h"

enum claim_state {
	CLAIM_NONE,
	CLAIM_DONE,	 /* handed back, and not claimed */
	CLAIM_COVERED,	 /* claimed, and each byte covered by a later claim */
	CLAIM_THERE,	 /* claimed; the following are of claims, too */
	CLAIM_UNDECIDED, /* a later write, not claimed, was under way to the same bytes */
	CLAIM_LOST,
	CLAIM_STATES,
};

struct claim_extent {
	uint64_t begin; /* in the region */
	uint64_t end;
};

struct durable_check {
	struct log_header header;
	bool torn;	  /* the log ends within a record */
	bool ended;	  /* else it may have had more: of that nothing is known */
	uint64_t flushes; /* that completed, and what they reached, where the log has its end */
	enum reached reached;
	uint8_t *states; /* enum claim_state of each write */
	uint64_t writes;
	uint32_t *done; /* writes handed back and not claimed, so far */
	size_t done_count;
	uint64_t unclaimable; /* no sync claims writes below this number: one failed after them */
	struct log_piece *pieces;
	size_t piece_count;
	struct claim_extent *lost; /* in ascending order */
	size_t lost_count;
};

/* Gives up to `bytes` bytes of the region from `begin` on; 0, or -EIO with the message set. */
typedef int claim_read(void *arg, uint64_t begin, uint8_t *to, size_t bytes);

/* `name` is the log's, for messages. -EIO with the error message set: it is not a log. */
int durable_check_open(struct durable_check *check, const char *name, const uint8_t *bytes,
		       size_t size);
void durable_check_close(struct durable_check *check);

/* Sets states and lost. -EIO with the error message set: out of memory, or as `read`. */
int durable_check_judge(struct durable_check *check, claim_read *read, void *arg);

uint64_t durable_check_count(const struct durable_check *check, enum claim_state state);

/* Good only where the log is whole, something was claimed, and all of that is there. */
enum exit_code durable_check_verdict(const struct durable_check *check);
