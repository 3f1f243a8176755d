/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock.h -- time stamps for the measuring loop.
 *
 * The CPU's own counter where it can be trusted, calibrated against
 * CLOCK_MONOTONIC_RAW before and checked after the run; else clock_gettime,
 * with the reason kept. A stamp is a number of ticks; only differences of
 * stamps mean something, and clock_ns turns them into nanoseconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define CLOCK_CALIBRATION_NS 200000000ULL
#define CLOCK_DRIFT_PPM	     100.0

/* The sources of ticks and true time; tests bring their own. */
struct clock_sources {
	uint64_t (*ticks)(void *arg);
	uint64_t (*raw_ns)(void *arg);
	/* NULL, or why the counter cannot be trusted */
	const char *(*distrust)(void *arg);
	void *arg;
};

struct clock_pair {
	uint64_t ticks;
	uint64_t raw_ns;
};

struct clock {
	bool counter;		  /* else clock_gettime */
	const char *counter_name; /* "tsc" or "cntvct" */
	uint64_t ns_per_tick_32;  /* fixed point, 32 bits of fraction */
	double hz;
	double drift_ppm;
	double overhead_ns;
	double resolution_ns;
	char fallback_reason[96]; /* empty with the counter */
	struct clock_pair begin;
	struct clock_pair calibrated;
	struct clock_sources sources;
};

/* Calibrates (takes CLOCK_CALIBRATION_NS). sources NULL: this machine's. */
void clock_start(struct clock *clock, const struct clock_sources *sources);

/* Compares the rate over the whole run with the calibrated one: false if it drifted. */
bool clock_finish(struct clock *clock);

/* The name of the source in results: "tsc", "cntvct" or "clock_gettime". */
const char *clock_source_name(const struct clock *clock);

static inline uint64_t clock_raw_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* The barrier keeps the stamp from being taken before what it follows. */
static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
	uint64_t low, high; /* in each the upper half is cleared */

	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (high << 32) + low;
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	return ticks;
#else
	return clock_raw_ns();
#endif
}

static inline uint64_t clock_now(const struct clock *clock)
{
	return clock->counter ? clock_counter() : clock_raw_ns();
}

static inline uint64_t clock_ns(const struct clock *clock, uint64_t ticks)
{
	if (!clock->counter)
		return ticks;
	return (uint64_t)(((unsigned __int128)ticks * clock->ns_per_tick_32) >> 32);
}

/* The fewest ticks that clock_ns() takes for at least this time span. */
uint64_t clock_ticks(const struct clock *clock, uint64_t ns);
