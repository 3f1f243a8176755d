/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * step.c -- the names of the steps, and the stop watch.
 */
#include "step.h"

#include "common/base/monotonic.h"

const char *step_name(enum step step)
{
	static const char *const names[STEPS] = {
		"parse",    "resolve", "device", "request", "connect", "hello",	     "region",
		"register", "write",   "flush",	 "read",    "compare", "disconnect",
	};

	return names[step];
}

void steps_init(struct steps *steps)
{
	for (int i = 0; i < STEPS; i++)
		steps->ns[i] = -1;
	steps_begin(steps, STEP_PARSE);
}

void steps_begin(struct steps *steps, enum step step)
{
	steps->current = step;
	steps->begun_ns = monotonic_ns();
}

void steps_done(struct steps *steps)
{
	steps->ns[steps->current] = (int64_t)(monotonic_ns() - steps->begun_ns);
}
