/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.c -- the filter `call`: the Nth verbs or CM call fails.
 *
 * Asked at the top of every exported function, those of the device that call each
 * other included, as librdmacm calls libibverbs. With a name only that function counts.
 * In verbose mode it prints which call it was.
 */
#include <stdio.h>
#include <string.h>

#include "filter.h"

int fault_call_slow(const char *name)
{
	struct fault_filter *filter = NULL;
	int error = 0;

	while ((filter = fault_next(FAULT_KIND(SOFT_CALL), filter)) != NULL) {
		const char *wanted = filter->fault->name;

		if (wanted[0] != '\0' && strcmp(wanted, name) != 0)
			continue;
		if (!fault_hits(filter) || error != 0)
			continue;
		error = filter->fault->error;
		if (fault_verbose)
			fprintf(stderr, "rpma-soft: fault %s: %s fails with %s\n",
				filter->fault->word, name, strerrorname_np(error));
	}
	return error;
}
