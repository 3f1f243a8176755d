/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * corrupt.c -- the filter `corrupt`: one byte of what an operation moves
 * arrives as its complement.
 *
 * No link of today lets that through, but memory and buses do: programs with checksums of
 * their own can show here that they are good for something. An operation that moves
 * nothing is not counted.
 */
#include "filter.h"

bool fault_corrupt_wanted(void)
{
	return fault_next(FAULT_KIND(SOFT_CORRUPT), NULL) != NULL;
}

void fault_corrupt(enum soft_op op, void *bytes, size_t length)
{
	struct fault_filter *filter = NULL;

	if (length == 0)
		return;
	while ((filter = fault_next(FAULT_KIND(SOFT_CORRUPT), filter)) != NULL) {
		if ((filter->fault->ops & op) && fault_hits(filter))
			((unsigned char *)bytes)[fault_random() % length] ^= 0xff;
	}
}
