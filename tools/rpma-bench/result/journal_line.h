/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal_line.h -- the lines of a journal, for journal.c: the first one, which has all that
 * makes two runs the same one, and whether another that --resume reads back is one that this
 * very run could have written.
 */
#pragma once

#include "common/json/json_schema.h"
#include "journal.h"

/* Its repeat can go into a result as it is; or `why` names where it differs. */
bool journal_line_good(const json_t *line, const struct plan *plan, char why[SCHEMA_WHY_MAX]);

#define JOURNAL_SCHEMA	       "rpma-bench-journal/1"
#define JOURNAL_DIFFERENCE_MAX 256

/* NULL: no memory. */
json_t *journal_head_make(const struct options *options, const struct journal_run *run,
			  const struct plan *plan);

/* False for what is not the head of a journal. */
bool journal_head_read(const json_t *head, struct journal_run *run);

/* Is it of the same run, but for the id? Else text names the first thing that differs. */
bool journal_head_same(const json_t *there, const json_t *here, char text[JOURNAL_DIFFERENCE_MAX]);
