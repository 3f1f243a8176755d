/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counting.h -- a call REPEAT times between two marks of callgrind, under a name that the scripts
 * read (instructions.py). With no valgrind usage, the marks are no-ops.
 */
#pragma once

#include <stdio.h>
#include <valgrind/callgrind.h>

#define REPEAT 1000

static inline int count(const char *name, int (*call)(void))
{
	int ret = call(); /* so that it is bound */

	CALLGRIND_ZERO_STATS;
	CALLGRIND_TOGGLE_COLLECT;
	for (unsigned i = 0; i < REPEAT; i++)
		ret |= call();
	CALLGRIND_TOGGLE_COLLECT;
	CALLGRIND_DUMP_STATS_AT(name);
	if (ret != 0)
		fprintf(stderr, "%s failed\n", name);
	return ret;
}
