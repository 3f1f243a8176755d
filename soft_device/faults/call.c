/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.c -- the fault `call`: the Nth verbs or CM call fails.
 *
 * Asked at the top of every exported function, those of the device that call each
 * other included, as librdmacm calls libibverbs. With a name only that function counts.
 * In verbose mode it prints which call it was.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ops.h"

struct call {
	char name[64]; /* "": any */
	int error;     /* 0: ENOMEM */
};

static bool parse_name(const char *value, void *to)
{
	const char *known = "abcdefghijklmnopqrstuvwxyz0123456789_";
	struct call *call = to;

	if ((strncmp(value, "ibv_", 4) != 0 && strncmp(value, "rdma_", 5) != 0) ||
	    value[strspn(value, known)] != '\0' || strlen(value) >= sizeof(call->name))
		return false;
	memcpy(call->name, value, strlen(value) + 1);
	return true;
}

static const struct fault_key keys[] = {
	{"name", parse_name, "the name of a call, as ibv_reg_mr", 0, false},
	{"errno", fault_errno, "the name of an errno, as ENOMEM", offsetof(struct call, error),
	 false},
	{.name = NULL},
};

static int fail(struct fault *fault, const char *name, int error)
{
	const struct call *call = fault->own;

	if (call->name[0] != '\0' && strcmp(call->name, name) != 0)
		return error;
	if (!fault_hits(fault) || error != 0)
		return error;
	error = call->error != 0 ? call->error : ENOMEM;
	if (fault_verbose)
		fprintf(stderr, "rpma-soft: fault %s: %s fails with %s\n", fault->word, name,
			strerrorname_np(error));
	return error;
}

/*
 * Manual:
 * .It Cm call Ns Op : Ns Ar WHEN , Ns Cm name Ns = Ns Ar FUNCTION , Ns Cm errno Ns = Ns Ar E
 * A call of libibverbs or librdmacm, any or only
 * .Ar FUNCTION ,
 * fails with this errno
 * .Pq Dv ENOMEM No by default
 * and does nothing.
 * Calls that functions of librdmacm make count as well: for example,
 * .Fn rdma_create_qp
 * calls
 * .Fn ibv_create_qp .
 * .Fl v
 * prints each call that fails.
 */
const struct fault_ops call_fault = {
	.name = "call",
	.form = "call:at=17 or call:name=ibv_reg_mr,at=2,errno=ENOMEM",
	.takes = FAULT_WHEN,
	.own_bytes = sizeof(struct call),
	.keys = keys,
	.call = fail,
};
