/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.h -- what a run has measured so far, so that --resume can go on.
 *
 * FILE.jsonl stands beside the result FILE while a run is under way: a line
 * that describes the run, then one for each repeat that was completed, each on
 * disk before the next begins. It goes when the result is written.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "tools/rpma-bench/options/options.h"
#include "tools/rpma-bench/options/plan.h"

struct journal; /* NULL: nothing is kept, as nothing is to be written; all calls take it */

/* The identity of a run. */
struct journal_run {
	uint8_t id[16];
	uint64_t seed;
};

/*
 * For --resume: opens and locks the journal, and takes the identity of its
 * run from it, before the plan is made: the seed gives the order.
 */
int journal_resume(struct journal **journal, const struct options *options,
		   struct journal_run *run);

/*
 * Makes the journal, unless one is there that holds repeats: they are not for
 * an option to throw away. A resumed one must be of this very plan, or the
 * error message names the first difference; repeats[point], arrays to be, get what
 * it holds. *resumed is how many.
 */
int journal_start(struct journal **journal, const struct options *options,
		  const struct journal_run *run, const struct plan *plan, json_t **repeats,
		  size_t *resumed);

/* Appends a repeat (borrowed), on disk when it returns; one that was cut short is not kept. */
int journal_add(struct journal *journal, size_t point, const json_t *repeat);

/* Removes the file if done, the result is written; or if there is nothing in it to go on with. */
void journal_close(struct journal **journal, bool done);

/* "FILE.jsonl" of a journal that holds repeats; NULL: there is nothing to resume. */
const char *journal_path(const struct journal *journal);
