/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * corrupt.c -- the fault `corrupt`: one byte of what an operation moves
 * arrives as its complement.
 *
 * No link of today lets that through, but memory and buses do: programs with checksums of
 * their own can show here that they are good for something.
 */
#include "ops.h"

static void flip(struct fault *fault, enum soft_op op, unsigned char *bytes, size_t length)
{
	if (fault_hits_op(fault, op))
		bytes[fault_random() % length] ^= 0xff;
}

/*
 * Manual:
 * .It Cm corrupt Ns Op : Ns Cm op Ns = Ns Ar KIND , Ns Ar WHEN
 * One byte that the operation moves arrives as its complement.
 */
const struct fault_ops corrupt_fault = {
	.name = "corrupt",
	.form = "corrupt:op=write,at=5",
	.takes = FAULT_WHEN | FAULT_OP,
	.corrupt = flip,
};
