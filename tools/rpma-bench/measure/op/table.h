/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h -- the operations by their names. */
#pragma once

#include "tools/rpma-bench/measure/operation.h"

/* NULL: no such combination. */
const struct operation *operation_find(enum bench_op op, enum bench_persist persist);

/* The operation that test mix mixes in; else NULL. */
const struct operation *operation_of_reads(const struct params *params);

/*
 * The span of a latency of a test, a word of the schema. Only the completions tell how
 * a device flushed.
 */
const char *operation_latency_kind(enum bench_test test, const struct operation *operation,
				   bool native_flush);
