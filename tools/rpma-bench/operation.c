/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation.c -- the table of operations.
 */
#include "operation.h"

#include <stddef.h>

static const struct operation *const operations[] = {
	&operation_write,
	&operation_write_flush,
	&operation_read,
};

const struct operation *operation_find(enum bench_op op, enum bench_persist persist)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (operations[i]->op == op && operations[i]->persist == persist)
			return operations[i];
	}
	return NULL;
}
