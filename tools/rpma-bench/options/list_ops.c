/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * list_ops.c -- operations, ways to persist a write, and the tests that take them.
 *
 * The rows are those of protocol/operations.h, and which test takes a row is asked of
 * the rule that a run and a server ask.
 */
#include "list_ops.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/rpma-bench/protocol/params.h"

struct row {
	const char *word;
	const char *text;
	const char *needs;
};

#define ROW(NAME, name, word, facts, text, needs) {word, text, needs},
static const struct row ops[] = {BENCH_OP_ROWS(ROW)};
static const struct row persists[] = {BENCH_PERSIST_ROWS(ROW)};

static const struct row without[BENCH_TESTS] = {
	[BENCH_CONNECT] = {"connect", "connections, made and ended", "a listener"},
	[BENCH_REGISTER] = {"register", "registrations of memory", "memory"},
};

#define LINE "%-15s %-15s %s\n%-15s %-15s needs %s\n"

static bool takes(enum bench_test test, enum bench_op op, enum bench_persist persist)
{
	struct params p = {.test = test, .op = op, .persist = persist, .size_bytes = 8};

	p.depth = p.threads = p.connections = p.batch = p.signal_every = 1;
	p.rate_per_s = test == BENCH_RATE;
	return params_has_operations(&p) && params_conflict(&p) == NULL;
}

static void print_row(enum bench_op op, enum bench_persist persist)
{
	const struct row *row = persist == BENCH_NONE ? &ops[op] : &persists[persist];
	char name[32], tests[64] = "";

	snprintf(name, sizeof(name), "%s%s", persist == BENCH_NONE ? "" : "  ", row->word);
	for (int test = 0; test < BENCH_TESTS; test++) {
		if (!takes((enum bench_test)test, op, persist))
			continue;
		if (tests[0] != '\0')
			strncat(tests, ",", sizeof(tests) - strlen(tests) - 1);
		strncat(tests, params_tests[test], sizeof(tests) - strlen(tests) - 1);
	}
	printf(LINE, name, tests, row->text, "", "", row->needs);
}

int list_ops(void)
{
	printf(LINE, "--op", "--test", "what it is", "  --persist", "", "this of the server");
	for (int op = 0; op < BENCH_OPS; op++) {
		for (int persist = 0; persist < BENCH_PERSISTS; persist++) {
			if (persist == BENCH_NONE || op == BENCH_WRITE)
				print_row((enum bench_op)op, (enum bench_persist)persist);
		}
	}
	for (int test = 0; test < BENCH_TESTS; test++) {
		if (without[test].word != NULL)
			printf(LINE, "-", params_tests[test], without[test].text, "", "",
			       without[test].needs);
	}
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -EIO;
}
