/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * knee.h -- the search for the highest rate that keeps a limit: which rate to
 * try next, and what the trials say. Numbers in, numbers out.
 *
 * A trial is a rate that was measured, and whether it was kept. Trials are
 * noisy, so the two ends that the answer rests on are measured again, and a
 * rate that was kept above one that was missed is reported as it is.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/rpma-bench/protocol/params.h"

#define KNEE_TRIALS_MAX 64
#define KNEE_GAP	0.015 /* the search ends with the two ends so close */
#define KNEE_LOWEST	1024  /* without a bracket, not below the first rate / this */

enum knee_verdict { KNEE_KEPT, KNEE_MISSED, KNEE_UNKNOWN };

struct knee_trial {
	uint64_t rate_per_s;
	size_t point; /* its index in the result */
	enum knee_verdict verdict;
	bool achieved; /* the path kept up with the rate */
	double value;  /* the limit's metric; not a number: unknown */
	bool again;    /* measured a second time */
};

struct knee {
	const char *limit; /* borrowed */
	char *name;	   /* what else is fixed, as "size 64 B"; owned */
	uint64_t low;	   /* the bracket; 0: none was given */
	uint64_t high;
	uint64_t first;	 /* where a search without a bracket begins */
	uint64_t needed; /* samples of a repeat that the limit's metric takes */
	bool over;	 /* it came to an end */
	struct knee_trial trials[KNEE_TRIALS_MAX];
	size_t trials_count;
};

enum knee_step { KNEE_TRY, KNEE_AGAIN, KNEE_END };

struct knee_next {
	enum knee_step step;
	uint64_t rate_per_s; /* to try */
	size_t trial;	     /* to measure again */
};

struct knee_next knee_next(const struct knee *knee);

/* The highest rate that was kept, the lowest that was missed; NULL: none was. */
const struct knee_trial *knee_kept(const struct knee *knee);
const struct knee_trial *knee_missed(const struct knee *knee);

/* found, kept, missed, unclear, unknown or unfinished */
const char *knee_outcome(const struct knee *knee);

/*
 * Did complete repeats of this duration keep up with a rate? Each operation was
 * begun, and what was planned took no longer than the plan, 0.5 %, and a period or burst: a
 * backlog that grows ends later.
 */
bool knee_achieved(const json_t *repeats, uint64_t duration_ns, const struct params *params);
