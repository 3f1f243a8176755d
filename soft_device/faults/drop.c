/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drop.c -- the filter `drop`: each connection breaks after its first
 * operations.
 *
 * The operation that finds its connection broken ends as one whose peer has vanished;
 * the caller knows how many the connection had before it.
 */
#include "filter.h"

bool fault_drop(uint64_t operations)
{
	struct fault_filter *filter = NULL;
	bool drop = false;

	while ((filter = fault_next(FAULT_KIND(SOFT_DROP), filter)) != NULL) {
		bool hit = operations >= filter->fault->after;

		fault_count(filter, hit);
		drop = drop || hit;
	}
	return drop;
}
