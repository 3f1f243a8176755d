/* SPDX-License-Identifier: BSD-3-Clause */
/* operation.c -- what is the same of all operations. */
#include "operation.h"

int operation_post_next(struct qp *qp, struct access *access, uint32_t slot, int flags,
			operation_post_at *post_at)
{
	if (qp->sizes != NULL) {
		qp->size_bytes = qp->sizes[qp->next_size];
		qp->next_size = qp->next_size + 1 == SIZE_MIX_DRAWS ? 0 : qp->next_size + 1;
		qp->bytes += qp->size_bytes;
	}
	return post_at(qp, access_next(access), slot, flags);
}

int operation_arm(const struct operation *operation, struct qp *qp, uint32_t depth)
{
	int ret = 0;

	for (uint32_t slot = 0; operation->answered && slot < depth && ret == 0; slot++)
		ret = operation->arm(qp, slot);
	return ret;
}
