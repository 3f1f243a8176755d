/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unreachable.c -- the fault `unreachable`: connecting gets no answer.
 *
 * Asked by the connecting side before it sends anything.
 */
#include "ops.h"

static enum fault_connect silence(struct fault *fault, enum fault_connect verdict)
{
	return fault_hits(fault) && verdict == CONNECT_ALLOWED ? CONNECT_UNREACHABLE : verdict;
}

/*
 * Manual:
 * .It Cm unreachable Ns Op : Ns Ar WHEN
 * An attempt to connect gets no answer.
 */
const struct fault_ops unreachable_fault = {
	.name = "unreachable",
	.form = "unreachable, unreachable:at=2 or unreachable:every=3",
	.takes = FAULT_WHEN,
	.connect = silence,
};
