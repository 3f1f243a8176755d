/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flush_policy.h -- which writes a flush follows, and what flushes reach.
 *
 * auto:  each run of writes of a batch whose ranges adjoin, in the order they
 *        were given, is flushed as one
 * each:  each write
 * batch: all writes of a batch complete with the last flush of it; where a
 *        flush has a range (native, gpspm) there is one for each extent that
 *        remains when their ranges are sorted and joined
 * fsync: nothing but what fsync and its like ask for
 * none:  nothing, fsync included
 */
#pragma once

enum flush_policy {
	FLUSH_AUTO = 1,
	FLUSH_EACH,
	FLUSH_BATCH,
	FLUSH_FSYNC,
	FLUSH_NONE,
	FLUSH_POLICIES
};

/* The reach of the flushes of a job; nothing: none has covered a write. */
enum reached { REACHED_NOTHING, REACHED_VISIBILITY, REACHED_PERSISTENCE };

/* "auto", "each" ... */
const char *flush_policy_name(enum flush_policy policy);
/* "none", "visibility", "persistent" */
const char *reached_name(enum reached reached);
