/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * register.c -- the fault `register`: a registration of memory fails.
 *
 * Whichever of the registering calls a program makes; what it fails with is for instance ENOMEM
 * (locked memory) or EOPNOTSUPP (fsdax without on-demand paging).
 */
#include <errno.h>

#include "ops.h"
#include "soft_device/process/value.h"

struct registration {
	int error; /* 0: ENOMEM */
};

static bool parse_errno(struct fault *fault, const char *value)
{
	struct registration *registration = fault->own;

	return value_errno(value, &registration->error);
}

static const struct fault_key keys[] = {
	{"errno", parse_errno, "the name of an errno, as ENOMEM"},
	{NULL, NULL, NULL},
};

static int fail(struct fault *fault, int error)
{
	const struct registration *registration = fault->own;

	if (!fault_hits(fault) || error != 0)
		return error;
	return registration->error != 0 ? registration->error : ENOMEM;
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
	.own_bytes = sizeof(struct registration),
	.keys = keys,
	.reg_mr = fail,
};
