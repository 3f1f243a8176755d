/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect.c -- the filters `refuse` and `unreachable`: no listener, or no answer.
 *
 * Asked by the connecting side before it sends anything. Every filter counts every
 * attempt; of those that hit the first in the user's order decides.
 */
#include "filter.h"

#define KINDS (FAULT_KIND(SOFT_REFUSE) | FAULT_KIND(SOFT_UNREACHABLE))

enum fault_connect fault_connect(void)
{
	struct fault_filter *filter = NULL;
	enum fault_connect verdict = CONNECT_ALLOWED;

	while ((filter = fault_next(KINDS, filter)) != NULL) {
		if (fault_hits(filter) && verdict == CONNECT_ALLOWED)
			verdict = filter->fault->kind == SOFT_REFUSE ? CONNECT_REFUSED
								     : CONNECT_UNREACHABLE;
	}
	return verdict;
}
