/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * powerfail.c -- the fault `powerfail`: the power of this process fails at an incoming operation.
 *
 * Its peers execute the operations, so they find its state in the segment of this process:
 * soft_device/powerfail/ has it and the hooks.
 */
#include <string.h>

#include "ops.h"

static bool parse_domain(const char *value, void *to)
{
	bool *eadr = to;

	*eadr = strcmp(value, "eadr") == 0;
	return *eadr || strcmp(value, "adr") == 0;
}

static bool parse_ddio(const char *value, void *to)
{
	bool *no_ddio = to;

	*no_ddio = strcmp(value, "off") == 0;
	return *no_ddio || strcmp(value, "on") == 0;
}

static const struct fault_key keys[] = {
	{"domain", parse_domain, "adr or eadr", offsetof(struct fault_power, eadr), false},
	{"ddio", parse_ddio, "on or off", offsetof(struct fault_power, no_ddio), false},
	{.name = NULL},
};

static bool is_whole(const struct fault *fault)
{
	return fault->when.at != 0;
}

static void describe(const struct fault *fault, struct fault_power *power)
{
	*power = *(const struct fault_power *)fault->own;
	power->at = fault->when.at;
}

/*
 * Manual:
 * .It Cm powerfail : Ns Cm at Ns = Ns Ar N , Ns Xo
 * .Cm domain Ns = Ns Ar adr|eadr , Ns Cm ddio Ns = Ns Ar on|off
 * .Xc
 * The power of this process fails at the Nth incoming operation, see
 * .Sx POWER FAILURE .
 */
const struct fault_ops powerfail_fault = {
	.name = "powerfail",
	.form = "powerfail:at=1000,domain=adr,ddio=on",
	.takes = FAULT_AT,
	.is_single = true,
	.own_bytes = sizeof(struct fault_power),
	.keys = keys,
	.is_whole = is_whole,
	.power = describe,
};
