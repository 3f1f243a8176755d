/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plain_counts.h -- counts of a repeat that need nothing but a name, and how several
 * become one: those of threads, ranks or repeats are summed, or the most counts.
 *
 * A row makes the field of struct measured and of struct repeat, the key of JSON with its
 * check, the figure of a summary, the column of CSV, and the metric of --slo. The loops
 * count it. Its last word tells which repeats have it, a condition of add_figures() in
 * result/repeat.c: it is null in all others.
 */
#pragma once

/*
 * late_ops: begun more than a period after their plan; unbegun_ops: planned, and not begun
 * when the limit ended it; max_lag_ns: the longest time behind the plan.
 */
#define PLAIN_COUNT_ROWS(ROW, AND)                                                                 \
	ROW(late_ops, sum, open_loop) AND ROW(unbegun_ops, sum, open_loop)                         \
	AND ROW(max_lag_ns, most, open_loop)

#define PLAIN_COUNT_COMMA	     ,
#define PLAIN_COUNT_FIELD(name, ...) name

/* The members of a structure, of uint64_t. */
#define PLAIN_COUNT_FIELDS PLAIN_COUNT_ROWS(PLAIN_COUNT_FIELD, PLAIN_COUNT_COMMA)
