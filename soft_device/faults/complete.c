/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * complete.c -- the filter `complete`: an operation is not executed but
 * completes with an error.
 *
 * A filter counts the operations of the kinds it names only, so that `op=write,at=5` is the
 * fifth write whatever stands between. Of those that hit the first decides.
 */
#include "filter.h"

enum ibv_wc_status fault_complete(enum soft_op op)
{
	struct fault_filter *filter = NULL;
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	while ((filter = fault_next(FAULT_KIND(SOFT_COMPLETE), filter)) != NULL) {
		if ((filter->fault->ops & op) && fault_hits(filter) && status == IBV_WC_SUCCESS)
			status = (enum ibv_wc_status)filter->fault->status;
	}
	return status;
}
