/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c -- the operations of this folder, by the rows of protocol/operations.h. */
#include "table.h"

#include <stddef.h>

#define DECLARE(NAME, name, word, facts, text, needs)                                              \
	extern const struct operation operation_##name;
#define ADDRESS(NAME, name, word, facts, text, needs) &operation_##name,

BENCH_OP_ROWS(DECLARE)
BENCH_PERSIST_ROWS(DECLARE)

static const struct operation *const by_op[] = {BENCH_OP_ROWS(ADDRESS)};
static const struct operation *const by_persist[] = {BENCH_PERSIST_ROWS(ADDRESS)};

const struct operation *operation_find(enum bench_op op, enum bench_persist persist)
{
	if (persist == BENCH_NONE)
		return by_op[op];
	return op == BENCH_WRITE && persist < BENCH_PERSISTS ? by_persist[persist] : NULL;
}

const struct operation *operation_of_reads(const struct params *params)
{
	return params->test == BENCH_MIX ? by_op[BENCH_READ] : NULL;
}

const char *operation_latency_kind(enum bench_test test, const struct operation *operation,
				   bool native_flush)
{
	if (test == BENCH_CONNECT)
		return "connect";
	if (test == BENCH_REGISTER)
		return "mr_reg";
	if (operation->persist == BENCH_APM && native_flush)
		return operation_write_native.latency_kind;
	return operation->latency_kind;
}
