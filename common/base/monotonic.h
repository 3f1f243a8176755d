/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * monotonic.h -- CLOCK_MONOTONIC, for deadlines and the steps of rpma-ping.
 * The samples of rpma-bench have a clock of their own, clock.h.
 */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Signed: what is left until a deadline may be less than nothing. */
static inline int64_t monotonic_ms(void)
{
	return (int64_t)(monotonic_ns() / 1000000);
}

/* A span, or a time of this clock, as calls of the kernel take it. */
static inline struct timespec timespec_of_ns(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}
