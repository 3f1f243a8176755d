/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal_line.h -- is a line of a journal one that this very run could have
 * written? Asked by journal.c, of lines that --resume reads back.
 */
#ifndef BENCH_RESULT_JOURNAL_LINE_H
#define BENCH_RESULT_JOURNAL_LINE_H

#include <jansson.h>
#include <stdbool.h>

#include "common/json/json_schema.h"
#include "tools/rpma-bench/options/plan.h"

/* Its repeat can go into a result as it is; or `why` names where it differs. */
bool journal_line_good(const json_t *line, const struct plan *plan, char why[SCHEMA_WHY_MAX]);

#endif /* BENCH_RESULT_JOURNAL_LINE_H */
