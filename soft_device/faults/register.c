/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * register.c -- the fault `register`: a registration of memory fails.
 *
 * Whichever of the registering calls a program makes; what it fails with is for instance ENOMEM
 * (locked memory) or EOPNOTSUPP (fsdax without on-demand paging).
 */
#include <errno.h>

#include "ops.h"

static const struct fault_key keys[] = {
	{"errno", fault_errno, "the name of an errno, as ENOMEM", 0, false},
	{.name = NULL},
};

static int fail(struct fault *fault, int error)
{
	const int *wanted = fault->own; /* 0: none was named */

	if (!fault_hits(fault) || error != 0)
		return error;
	return *wanted != 0 ? *wanted : ENOMEM;
}

/*
 * Manual:
 * .It Cm register Ns Op : Ns Ar WHEN , Ns Cm errno Ns = Ns Ar E
 * A memory registration fails with this errno
 * .Pq Dv ENOMEM No by default .
 */
const struct fault_ops register_fault = {
	.name = "register",
	.form = "register:at=2,errno=ENOMEM or register:every=3",
	.takes = FAULT_WHEN,
	.own_bytes = sizeof(int),
	.keys = keys,
	.reg_mr = fail,
};
