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

struct drop {
	uint64_t after; /* operations that a connection lives */
	bool has_after;
};

static bool parse_after(struct fault *fault, const char *value)
{
	struct drop *drop = fault->own;

	drop->has_after = true;
	return value_number(value, 0, INT64_MAX, &drop->after);
}

static const struct fault_key keys[] = {
	{"after", parse_after, "a number"},
	{NULL, NULL, NULL},
};

static bool is_whole(const struct fault *fault)
{
	const struct drop *drop = fault->own;

	return drop->has_after;
}

static bool breaks(struct fault *fault, uint64_t operations, bool dropped)
{
	const struct drop *drop = fault->own;
	bool hit = operations >= drop->after;

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
	.own_bytes = sizeof(struct drop),
	.keys = keys,
	.is_whole = is_whole,
	.drop = breaks,
};
