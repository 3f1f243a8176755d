/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drop.c -- the fault `drop`: each connection breaks after its first
 * operations.
 *
 * The operation that finds its connection broken ends as one whose peer has vanished;
 * the caller knows how many the connection had before it.
 */
#include "ops.h"
#include "soft_device/process/value.h"

/* Operations that a connection lives. */
static bool parse_after(const char *value, void *to)
{
	return value_number(value, 0, INT64_MAX, to);
}

static const struct fault_key keys[] = {
	{"after", parse_after, "a number", 0, true},
	{.name = NULL},
};

static bool breaks(struct fault *fault, uint64_t operations, bool dropped)
{
	const uint64_t *after = fault->own;
	bool hit = operations >= *after;

	fault_count(fault, hit);
	return dropped || hit;
}

/*
 * Manual:
 * .It Cm drop : Ns Cm after Ns = Ns Ar N
 * Each connection breaks after its first
 * .Ar N
 * operations, as if the peer had vanished.
 * Of a UC or UD queue pair all messages after those are lost.
 */
const struct fault_ops drop_fault = {
	.name = "drop",
	.form = "drop:after=1000",
	.own_bytes = sizeof(uint64_t),
	.keys = keys,
	.drop = breaks,
};
