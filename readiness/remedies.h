/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remedies.h -- for each check that can be mended, how the facts are afterwards.
 *
 * For advice.c, which tries them on a copy of the facts. What is unknown stays so.
 */
#ifndef READINESS_REMEDIES_H
#define READINESS_REMEDIES_H

#include "advice.h"

#define REMEDIES   18
#define DDIO_STATE "DDIO-04" /* remedies of what the verdict reports of DDIO */

struct remedy {
	const char *check;
	/* The step has the words of the check, which it may replace. False: it cannot help. */
	bool (*change)(struct readiness *r, struct advice_step *step);
	bool of_unknown; /* what is unknown can be stated */
};

/* In the order in which they are tried. */
extern const struct remedy remedies[REMEDIES];

#endif /* READINESS_REMEDIES_H */
