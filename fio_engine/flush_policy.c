/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flush_policy.c -- the names of the policies, as job files have them.
 */
#include "flush_policy.h"

const char *flush_policy_name(enum flush_policy policy)
{
	static const char *const names[FLUSH_POLICIES] = {
		[FLUSH_AUTO] = "auto",	 [FLUSH_EACH] = "each", [FLUSH_BATCH] = "batch",
		[FLUSH_FSYNC] = "fsync", [FLUSH_NONE] = "none",
	};

	return names[policy];
}
