/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * register.c -- the filter `register`: a registration of memory fails.
 *
 * Whichever of the registering calls a program makes; what it fails with is for instance ENOMEM
 * (locked memory) or EOPNOTSUPP (fsdax without on-demand paging).
 */
#include "filter.h"

int fault_register(void)
{
	struct fault_filter *filter = NULL;
	int error = 0;

	while ((filter = fault_next(FAULT_KIND(SOFT_REGISTER), filter)) != NULL) {
		if (fault_hits(filter) && error == 0)
			error = filter->fault->error;
	}
	return error;
}
