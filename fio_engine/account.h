/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * account.h -- what a client did, counted, and the words that follow from it.
 *
 * All that a user reads of flushes when a job has ended comes from here: the last line on
 * stderr, the option in fio's JSON and the file of result=. No word comes from the options
 * of the job: what was to be flushed may not have been.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "flush_policy.h"
#include "io_queue.h"

#define ACCOUNT_TEXT_BYTES 512

/* fsync and its like, as fio called them. */
struct sync_counts {
	uint64_t flushed;
	uint64_t empty; /* they had nothing to flush */
	uint64_t failed;
};

struct account {
	enum flush_policy policy;
	bool persistent; /* what a flush of this job reaches; false: visibility */
	struct io_queue_counts io;
	struct sync_counts syncs;
};

enum reached account_reached(const struct account *account);

/* "64 writes, 60 flushed to persistence by 15 flushes, ..."; "": nothing was written. */
void account_print(const struct account *account, char text[ACCOUNT_TEXT_BYTES]);
