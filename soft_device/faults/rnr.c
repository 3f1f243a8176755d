/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rnr.c -- the filter `rnr`: the receive queue of the peer seems empty.
 *
 * Asked once for each operation that takes a receive. The requester then goes through its
 * RNR timer and retries as if the peer had answered RNR that number of times.
 */
#include "filter.h"

uint32_t fault_rnr(void)
{
	struct fault_filter *filter = NULL;
	uint32_t tries = 0;

	while ((filter = fault_next(FAULT_KIND(SOFT_RNR), filter)) != NULL) {
		if (fault_hits(filter) &&
		    __builtin_add_overflow(tries, filter->fault->times, &tries))
			tries = UINT32_MAX;
	}
	return tries;
}
