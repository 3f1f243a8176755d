/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advice.h -- what would make a host ready: steps in an order that works.
 *
 * Each step is tried on a copy of the facts, which are then checked and judged like
 * those of a machine. A step is advised only if it gets further, so advice never leads
 * in a circle, and each has the verdict that it leads to. Pure.
 */
#pragma once

#include "readiness.h"

#define ADVICE_STEPS_MAX 16

struct advice_step {
	char checks[48]; /* "PM-08", or several: "PCI-04, DDIO-04" */
	char text[384];	 /* what to do */
	bool finds_out;	 /* it only shows how things are: the verdict holds if they are good */
	const struct verdict_row *row; /* after it and all before it */
};

struct advice {
	struct advice_step steps[ADVICE_STEPS_MAX];
	size_t count;
	const struct verdict_row *row; /* after all of them */
	char open[1024];	       /* what none of them solves; empty: it is ready then */
};

/* -ENOMEM without a message. */
int advice_make(const struct readiness *readiness, struct advice *advice);

/* {"steps": [...], "verdict": ..., "open": ...} */
json_t *advice_json(const struct advice *advice);
