/* SPDX-License-Identifier: BSD-3-Clause */
/* flush_policy.c -- the names of policies, as job files have them, and of what is reached. */
#include "flush_policy.h"

const char *flush_policy_name(enum flush_policy policy)
{
	static const char *const names[FLUSH_POLICIES] = {
		[FLUSH_AUTO] = "auto",	 [FLUSH_EACH] = "each", [FLUSH_BATCH] = "batch",
		[FLUSH_FSYNC] = "fsync", [FLUSH_NONE] = "none",
	};

	return names[policy];
}

const char *reached_name(enum reached reached)
{
	static const char *const names[] = {[REACHED_NOTHING] = "none",
					    [REACHED_VISIBILITY] = "visibility",
					    [REACHED_PERSISTENCE] = "persistent"};

	return names[reached];
}
