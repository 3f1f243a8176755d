/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation.c -- what is the same of all operations.
 */
#include "operation.h"

int operation_post_next(struct lane *lane, struct access *access, uint32_t slot, int flags,
			operation_post_at *post_at)
{
	if (lane->sizes != NULL) {
		lane->size_bytes = lane->sizes[lane->next_size];
		lane->next_size = lane->next_size + 1 == SIZE_MIX_DRAWS ? 0 : lane->next_size + 1;
		lane->bytes += lane->size_bytes;
	}
	return post_at(lane, access_next(access), slot, flags);
}

int operation_arm(const struct operation *operation, struct lane *lane, uint32_t depth)
{
	int ret = 0;

	for (uint32_t slot = 0; operation->answered && slot < depth && ret == 0; slot++)
		ret = operation->arm(lane, slot);
	return ret;
}
