/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mr_remote.c -- a region of the other side, made from its descriptor.
 */
#include "log.h"
#include "mr.h"

#include <inttypes.h>
#include <stdlib.h>

int rpma_mr_remote_from_descriptor(const void *desc, size_t desc_size,
				   struct rpma_mr_remote **mr_ptr)
{
	struct rpma_mr_remote decoded;

	if (desc == NULL || mr_ptr == NULL)
		return RPMA_FAIL_NULL(desc, mr_ptr);

	int ret = rpma_mr_desc_decode(desc, desc_size, &decoded);
	if (ret)
		return ret;

	struct rpma_mr_remote *mr = malloc(sizeof(*mr));
	if (mr == NULL)
		return RPMA_FAIL_NOMEM(sizeof(*mr));
	*mr = decoded;
	*mr_ptr = mr;

	RPMA_LOG_DEBUG("remote region: address 0x%" PRIx64 ", length %" PRIu64 ", rkey 0x%" PRIx32
		       ", usage 0x%x, flush %s",
		       mr->addr, mr->size, mr->rkey, mr->usage,
		       mr->native_flush ? "native or read" : "read");
	return 0;
}

int rpma_mr_remote_get_size(const struct rpma_mr_remote *mr, size_t *size)
{
	if (mr == NULL || size == NULL)
		return RPMA_FAIL_NULL(mr, size);

	*size = mr->size;
	return 0;
}

int rpma_mr_remote_get_flush_type(const struct rpma_mr_remote *mr, int *flush_type)
{
	if (mr == NULL || flush_type == NULL)
		return RPMA_FAIL_NULL(mr, flush_type);

	*flush_type = mr->usage &
		      (RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);
	return 0;
}

int rpma_mr_remote_delete(struct rpma_mr_remote **mr_ptr)
{
	if (mr_ptr == NULL)
		return RPMA_FAIL_NULL(mr_ptr);

	free(*mr_ptr);
	*mr_ptr = NULL;
	return 0;
}
