/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * complete.c -- the fault `complete`: an operation is not executed but
 * completes with an error.
 *
 * It counts the operations of the kinds it names only, so that `op=write,at=5` is the
 * fifth write whatever stands between.
 */
#include "ops.h"
#include "soft_device/process/names.h"

static bool parse_status(const char *value, void *to)
{
	enum ibv_wc_status *status = to;

	*status = status_of_name(value);
	return *status != IBV_WC_SUCCESS;
}

static const struct fault_key keys[] = {
	{"status", parse_status, "the name of a failed completion's status, as REM_ACCESS_ERR", 0,
	 true},
	{.name = NULL},
};

static enum ibv_wc_status fail(struct fault *fault, enum soft_op op, enum ibv_wc_status status)
{
	const enum ibv_wc_status *wanted = fault->own;

	return fault_hits_op(fault, op) && status == IBV_WC_SUCCESS ? *wanted : status;
}

/*
 * Manual:
 * .It Cm complete : Ns Oo Cm op Ns = Ns Ar KIND , Oc Ns Oo Ar WHEN , Oc Ns Cm status Ns = Ns Ar S
 * An operation is not executed, and completes with the status
 * .Dv IBV_WC_ Ns Ar S ,
 * such as
 * .Li REM_ACCESS_ERR .
 * The queue pair enters the error state.
 */
const struct fault_ops complete_fault = {
	.name = "complete",
	.form = "complete:op=write,at=5,status=REM_ACCESS_ERR",
	.takes = FAULT_WHEN | FAULT_OP,
	.own_bytes = sizeof(enum ibv_wc_status),
	.keys = keys,
	.complete = fail,
};
