/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rnr.c -- the fault `rnr`: the receive queue of the peer seems empty.
 *
 * Asked once for each operation that takes a receive. The requester then goes through its
 * RNR timer and retries as if the peer had answered RNR that number of times.
 */
#include "ops.h"
#include "soft_device/process/value.h"

/* Tries of one operation that find no receive. */
static bool parse_times(const char *value, void *to)
{
	return value_number(value, 1, UINT32_MAX, to);
}

static const struct fault_key keys[] = {
	{"times", parse_times, "a number from 1", 0, false},
	{.name = NULL},
};

static uint32_t find_none(struct fault *fault, uint32_t tries)
{
	const uint64_t *wanted = fault->own; /* 0: none was named */
	const uint64_t times = *wanted != 0 ? *wanted : 1;

	if (!fault_hits(fault))
		return tries;
	return times > UINT32_MAX - tries ? UINT32_MAX : tries + (uint32_t)times;
}

/*
 * Manual:
 * .It Cm rnr : Ns Oo Ar WHEN , Oc Ns Cm times Ns = Ns Ar M
 * An operation that needs a receive finds none
 * .Ar M
 * times (1 by default), as if the peer had not posted it in time.
 * If that exceeds the queue pair's
 * .Fa rnr_retry ,
 * the operation fails with
 * .Dv IBV_WC_RNR_RETRY_EXC_ERR .
 */
const struct fault_ops rnr_fault = {
	.name = "rnr",
	.form = "rnr:every=50,times=2 or rnr:at=7",
	.takes = FAULT_WHEN,
	.own_bytes = sizeof(uint64_t),
	.keys = keys,
	.rnr = find_none,
};
