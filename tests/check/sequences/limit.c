/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limit.c -- see sequence.h: limits of waits. When an emulated machine goes on after half a minute,
 * what its devices do at once may not be done yet, so the clock alone does not decide.
 */
#include "sequence.h"

#define MOMENT_MS 100

struct limit limit_of(int64_t limit_ms)
{
	return (struct limit){.seen_ms = now_ms(), .left_ms = limit_ms};
}

bool is_left(struct limit *limit)
{
	const int64_t at_ms = now_ms(), passed_ms = at_ms - limit->seen_ms;

	limit->seen_ms = at_ms;
	limit->left_ms -= passed_ms < MOMENT_MS ? passed_ms : MOMENT_MS;
	return limit->left_ms > 0;
}

bool becomes_readable(int fd, int64_t limit_ms)
{
	struct pollfd waiting = {.fd = fd, .events = POLLIN};
	struct limit limit = limit_of(limit_ms);
	int count;

	do
		count = poll(&waiting, 1, MOMENT_MS);
	while (count == 0 && is_left(&limit));
	return count == 1;
}
