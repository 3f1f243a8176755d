/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_lane.h -- lanes without a connection: they count their calls and return what
 * the test has set.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "librpmem/src/lane.h"

struct fake_lanes {
	/* set by the test */
	int most_result[3]; /* by transport */
	unsigned most;
	int open_result;
	int result;	  /* what each call on a lane returns */
	bool is_blocking; /* a persist waits for the end of the session */

	/* what came */
	unsigned opened;
	unsigned closed;
	unsigned calls;
	unsigned blocked; /* atomic: persists that wait */
	struct lanes_cfg cfg;
	char host[64];
	struct control_pool_reply daemon;
	const char *name; /* which call was the last */
	unsigned lane;
	size_t offset;
	size_t length;
	bool relaxed;
};

extern struct fake_lanes fake_lanes;
