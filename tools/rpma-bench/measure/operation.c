/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation.c -- the table of operations.
 */
#include "operation.h"

#include <stddef.h>

extern const struct operation operation_write;
extern const struct operation operation_write_apm;
extern const struct operation operation_write_native;
extern const struct operation operation_write_gpspm;
extern const struct operation operation_write_gpspm_rt;
extern const struct operation operation_write_append;
extern const struct operation operation_read;
extern const struct operation operation_send;
extern const struct operation operation_write_imm;
extern const struct operation operation_atomic_write;

static const struct operation *const operations[] = {
	&operation_write,	 &operation_write_apm,	    &operation_write_native,
	&operation_write_gpspm,	 &operation_write_gpspm_rt, &operation_write_append,
	&operation_read,	 &operation_send,	    &operation_write_imm,
	&operation_atomic_write,
};

const struct operation *operation_find(enum bench_op op, enum bench_persist persist)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (operations[i]->op == op && operations[i]->persist == persist)
			return operations[i];
	}
	return NULL;
}

int operation_post_next(struct lane *lane, struct access *access, uint32_t slot, int flags,
			operation_post_at *post_at)
{
	return post_at(lane, access_next(access), slot, flags);
}

int operation_arm(const struct operation *operation, struct lane *lane, uint32_t depth)
{
	int ret = 0;

	for (uint32_t slot = 0; operation->answered && slot < depth && ret == 0; slot++)
		ret = operation->arm(lane, slot);
	return ret;
}
