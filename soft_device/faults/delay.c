/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delay.c -- the fault `delay`: an operation may be executed this much later.
 *
 * Delays add up, in the order of the user, also with a rate: what a rate serialises is what the
 * faults before it let through. Operations in flight overlap in a delay, as on a wire.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ops.h"
#include "soft_device/process/value.h"

#define SIGMA_MAX 10

struct delay {
	uint64_t low_ns; /* fixed is low == high, uniform is low < high */
	uint64_t high_ns;
	uint64_t median_ns; /* lognormal, if not 0 */
	double sigma;	    /* deviation of the logarithm */
	bool has_time;
	bool has_sigma;
};

static bool parse_time(const char *value, void *to)
{
	struct delay *delay = to;
	char copy[SOFT_WORD_MAX], *dots;

	snprintf(copy, sizeof(copy), "%s", value);
	dots = strstr(copy, "..");
	if (dots != NULL)
		*dots = '\0';
	if (!value_time_ns(copy, &delay->low_ns))
		return false;
	delay->has_time = true;
	delay->high_ns = delay->low_ns;
	return dots == NULL ||
	       (value_time_ns(dots + 2, &delay->high_ns) && delay->high_ns >= delay->low_ns);
}

static bool parse_sigma(const char *value, void *to)
{
	struct delay *delay = to;

	delay->has_sigma = true;
	return value_decimal(value, SIGMA_MAX, &delay->sigma);
}

static const struct fault_key keys[] = {
	{"time", parse_time, "a time up to 1 hour, as 2us, or two of them, as 1us..3us", 0, false},
	{"median", fault_time, "a time up to 1 hour, as 2us", offsetof(struct delay, median_ns),
	 false},
	{"sigma", parse_sigma, "a number from 0 to 10, as 0.5", 0, false},
	{.name = NULL},
};

static bool is_whole(const struct fault *fault)
{
	const struct delay *delay = fault->own;
	const bool has_median = delay->median_ns != 0;

	return delay->has_time != has_median && delay->has_sigma == has_median;
}

static uint64_t draw_ns(const struct delay *delay)
{
	double ns;

	if (delay->median_ns != 0) {
		ns = (double)delay->median_ns * exp(delay->sigma * fault_normal());
		return (uint64_t)fmin(ns, VALUE_TIME_MAX_NS);
	}
	if (delay->low_ns == delay->high_ns)
		return delay->low_ns;
	return delay->low_ns + fault_random() % (delay->high_ns - delay->low_ns + 1);
}

static uint64_t due_ns(struct fault *fault, enum soft_op op, uint32_t bytes, uint64_t due_ns)
{
	(void)bytes;
	return fault_hits_op(fault, op) ? due_ns + draw_ns(fault->own) : due_ns;
}

/*
 * Manual:
 * .It Cm delay : Ns Oo Cm op Ns = Ns Ar KIND , Oc Ns Oo Ar WHEN , Oc Ns Cm time Ns = Ns Ar TIME
 * Delay an operation by this time.
 * Operations in flight overlap, as on a wire, but those of a queue pair stay in
 * order: a delayed operation also delays those behind it.
 * If a program has just polled, and then neither polls nor waits for an event
 * of the completion queue, the delay may be up to a millisecond longer.
 * .Cm time Ns = Ns Ar LOW.. Ns Ar HIGH
 * is uniform between two times;
 * .Cm median Ns = Ns Ar TIME , Ns Cm sigma Ns = Ns Ar X
 * is lognormal.
 * Several delays add up, so two of them make a distribution with a slow mode.
 */
const struct fault_ops delay_fault = {
	.name = "delay",
	.form = "delay:time=2us, delay:time=1us..3us or delay:median=2us,sigma=0.5, each with "
		"op=write+read or without, and with at=7, every=100 or neither",
	.takes = FAULT_WHEN | FAULT_OP,
	.own_bytes = sizeof(struct delay),
	.keys = keys,
	.is_whole = is_whole,
	.due_ns = due_ns,
};
