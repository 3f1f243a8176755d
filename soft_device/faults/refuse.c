/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * refuse.c -- the fault `refuse`: no server listens.
 *
 * Asked by the connecting side before it sends anything.
 */
#include "ops.h"

static enum fault_connect refuse(struct fault *fault, enum fault_connect verdict)
{
	return fault_hits(fault) && verdict == CONNECT_ALLOWED ? CONNECT_REFUSED : verdict;
}

/*
 * Manual:
 * .It Cm refuse Ns Op : Ns Ar WHEN
 * An attempt to connect is refused, as if no server listened.
 */
const struct fault_ops refuse_fault = {
	.name = "refuse",
	.form = "refuse, refuse:at=2 or refuse:every=3",
	.takes = FAULT_WHEN,
	.connect = refuse,
};
