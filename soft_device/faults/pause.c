/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pause.c -- the fault `pause`: the network stands still for a while, again and again.
 *
 * A pause begins at each multiple of the period of CLOCK_MONOTONIC, so that all processes of a host
 * have it at the same time. Operations that are due within it are executed at its end.
 */
#include "ops.h"

struct pause {
	uint64_t time_ns;
	uint64_t period_ns;
};

static const struct fault_key keys[] = {
	{"time", fault_time, "a time from 1 ns up to 1 hour, as 10ms",
	 offsetof(struct pause, time_ns), true},
	{"period", fault_time, "a time from 1 ns up to 1 hour, as 100ms",
	 offsetof(struct pause, period_ns), true},
	{.name = NULL},
};

static bool is_whole(const struct fault *fault)
{
	const struct pause *pause = fault->own;

	return pause->time_ns < pause->period_ns;
}

static uint64_t end_ns(struct fault *fault, enum soft_op op, uint32_t bytes, uint64_t due_ns)
{
	const struct pause *pause = fault->own;
	const uint64_t since_ns = due_ns % pause->period_ns;
	const bool hit = since_ns < pause->time_ns;

	(void)op;
	(void)bytes;
	fault_count(fault, hit);
	return hit ? due_ns - since_ns + pause->time_ns : due_ns;
}

/*
 * Manual:
 * .It Cm pause : Ns Cm time Ns = Ns Ar TIME , Ns Cm period Ns = Ns Ar PERIOD
 * The network stands still for
 * .Ar TIME
 * at the begin of each
 * .Ar PERIOD ,
 * which is longer, and for all processes of a host at the same time:
 * operations of this process that are due then are executed when it ends.
 */
const struct fault_ops pause_fault = {
	.name = "pause",
	.form = "pause:time=10ms,period=100ms, the period longer than the time",
	.own_bytes = sizeof(struct pause),
	.keys = keys,
	.is_whole = is_whole,
	.due_ns = end_ns,
};
