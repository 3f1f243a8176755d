/* SPDX-License-Identifier: BSD-3-Clause */
/* rate.c -- the fault `rate`: the bytes of operations leave one after the other. */
#include "ops.h"
#include "soft_device/process/value.h"

#define NS_PER_S   1e9
#define BYTES_MOST 1e15 /* a second */

struct rate {
	uint64_t bytes_per_s;
	_Atomic uint64_t busy_until_ns; /* when the last byte has left */
};

static bool parse_rate(const char *value, void *to)
{
	static const struct value_unit units[] = {
		{"bit", 0.125}, {"kbit", 125}, {"Mbit", 125e3}, {"Gbit", 125e6}, {"B", 1},
		{"kB", 1e3},	{"MB", 1e6},   {"GB", 1e9},	{NULL, 0},
	};
	uint64_t *bytes_per_s = to;

	return value_scaled(value, units, BYTES_MOST, bytes_per_s) && *bytes_per_s > 0;
}

static const struct fault_key keys[] = {
	{"", parse_rate, "a rate in bit, kbit, Mbit, Gbit, B, kB, MB or GB, as 100Gbit",
	 offsetof(struct rate, bytes_per_s), true},
	{.name = NULL},
};

/* The end of these bytes, which begin when those before them have left. */
static uint64_t end_ns(struct fault *fault, enum soft_op op, uint32_t bytes, uint64_t due_ns)
{
	struct rate *rate = fault->own;
	double ns = (double)bytes * NS_PER_S / (double)rate->bytes_per_s;
	uint64_t busy = atomic_load(&rate->busy_until_ns);
	uint64_t end;

	(void)op;
	do {
		end = (busy > due_ns ? busy : due_ns) + (uint64_t)(ns + 0.5);
	} while (!atomic_compare_exchange_weak(&rate->busy_until_ns, &busy, end));
	fault_count(fault, true);
	return end;
}

/*
 * Manual:
 * .It Cm rate : Ns Ar RATE
 * Limit the bytes of operations to this rate, one operation after the other, over
 * all connections of the process.
 * The unit is
 * .Li bit , kbit , Mbit , Gbit
 * per second or
 * .Li B , kB , MB , GB
 * per second, in powers of ten:
 * .Li rate:100Gbit
 * and
 * .Li rate:12.5GB
 * are equal.
 */
const struct fault_ops rate_fault = {
	.name = "rate",
	.form = "rate:100Gbit or rate:10GB",
	.own_bytes = sizeof(struct rate),
	.keys = keys,
	.due_ns = end_ns,
};
