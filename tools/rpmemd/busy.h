/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * busy.h -- waits for a pool that another daemon is about to unlock.
 *
 * The client of that one was killed a moment ago, and the next one is already here. Not every
 * client tries again: `pmempool sync` deletes a replica that it cannot open.
 */
#ifndef RPMEMD_BUSY_H
#define RPMEMD_BUSY_H

#include <errno.h>
#include <stdbool.h>

#include "common/base/monotonic.h"

#define BUSY_WAIT_MS 8000

struct busy {
	int64_t end_ms;
	int pause_ms; /* before the next try */
};

static inline struct busy busy_begin(int wait_ms)
{
	return (struct busy){monotonic_ms() + wait_ms, 20};
}

/* True if a call that returned `ret` is worth another try; pauses first. */
static inline bool busy_wait(struct busy *busy, int ret)
{
	struct timespec pause = {.tv_nsec = busy->pause_ms * 1000000L};

	if (ret != -EBUSY || monotonic_ms() + busy->pause_ms > busy->end_ms)
		return false;
	nanosleep(&pause, NULL);
	if (busy->pause_ms < 320)
		busy->pause_ms *= 2;
	return true;
}

#endif /* RPMEMD_BUSY_H */
