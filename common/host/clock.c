/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock.c -- calibration of the CPU counter and the watch on its drift.
 *
 * The frequency is measured, never read from /proc/cpuinfo: that shows the
 * core's clock, which is not the counter's. Two halves of the calibration
 * must agree, else the counter is not used; the whole run must agree with the
 * calibration, else the result notes it.
 */
#include "clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sysroot.h"

#define PAIR_TRIES     32
#define OVERHEAD_READS 2000

static uint64_t machine_ticks(void *arg)
{
	(void)arg;
	return clock_counter();
}

static uint64_t machine_raw_ns(void *arg)
{
	(void)arg;
	return clock_raw_ns();
}

#if defined(__x86_64__)
#define COUNTER_NAME "tsc"

static const char *machine_distrust(void *arg)
{
	char flags[8192], source[64];

	(void)arg;
	if (!sysroot_file_field(&sysroot_machine, "proc/cpuinfo", "flags", flags, sizeof(flags)) ||
	    strstr(flags, " constant_tsc") == NULL || strstr(flags, " nonstop_tsc") == NULL)
		return "the CPU does not promise an invariant TSC";
	if (!sysroot_text(&sysroot_machine, source, SYSROOT_CLOCKSOURCE) ||
	    strstr(source, "tsc") == NULL)
		return "the kernel does not use the TSC as its clock source";
	return NULL;
}
#elif defined(__aarch64__)
#define COUNTER_NAME "cntvct"

static const char *machine_distrust(void *arg)
{
	(void)arg;
	return NULL;
}
#else
#define COUNTER_NAME "none"

static const char *machine_distrust(void *arg)
{
	(void)arg;
	return "no counter is known for this CPU";
}
#endif

/* Ticks and time read together: the try with the narrowest bracket wins. */
static struct clock_pair read_pair(const struct clock_sources *s)
{
	struct clock_pair best = {0, 0};
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < PAIR_TRIES; i++) {
		uint64_t before = s->raw_ns(s->arg);
		uint64_t ticks = s->ticks(s->arg);
		uint64_t width = s->raw_ns(s->arg) - before;

		if (width < best_width) {
			best_width = width;
			best = (struct clock_pair){ticks, before + width / 2};
		}
	}
	return best;
}

/* A time that a test made up moves by being read. */
static void wait_until(const struct clock_sources *s, uint64_t raw_ns)
{
	uint64_t now;

	while ((now = s->raw_ns(s->arg)) < raw_ns) {
		struct timespec left = {0, (long)(raw_ns - now)};

		if (s->raw_ns == machine_raw_ns)
			nanosleep(&left, NULL);
	}
}

static double rate_hz(struct clock_pair from, struct clock_pair to)
{
	return (double)(to.ticks - from.ticks) * 1e9 / (double)(to.raw_ns - from.raw_ns);
}

static double ppm(double rate, double reference)
{
	return (rate / reference - 1) * 1e6;
}

static void fall_back(struct clock *clock, const char *reason)
{
	clock->counter = false;
	clock->hz = 0;
	clock->drift_ppm = 0;
	snprintf(clock->fallback_reason, sizeof(clock->fallback_reason), "%s", reason);
}

static void calibrate(struct clock *clock)
{
	const struct clock_sources *s = &clock->sources;
	struct clock_pair middle;
	double halves_ppm;
	char reason[96];

	clock->begin = read_pair(s);
	wait_until(s, clock->begin.raw_ns + CLOCK_CALIBRATION_NS / 2);
	middle = read_pair(s);
	wait_until(s, clock->begin.raw_ns + CLOCK_CALIBRATION_NS);
	clock->calibrated = read_pair(s);
	halves_ppm = ppm(rate_hz(middle, clock->calibrated), rate_hz(clock->begin, middle));
	/* also refuses a counter that stands still: the quotient is no number */
	if (!(fabs(halves_ppm) <= CLOCK_DRIFT_PPM)) {
		snprintf(reason, sizeof(reason), "the counter changed its rate by %.0f ppm",
			 halves_ppm);
		fall_back(clock, reason);
		return;
	}
	clock->counter = true;
	clock->hz = rate_hz(clock->begin, clock->calibrated);
	clock->ns_per_tick_32 = (uint64_t)llround(1e9 / clock->hz * 4294967296.0);
}

static void measure_cost(struct clock *clock)
{
	uint64_t first = clock_now(clock), last = first, step = UINT64_MAX;

	for (int i = 0; i < OVERHEAD_READS; i++) {
		uint64_t now = clock_now(clock);

		if (now != last && now - last < step)
			step = now - last;
		last = now;
	}
	clock->overhead_ns = (double)clock_ns(clock, last - first) / OVERHEAD_READS;
	clock->resolution_ns = clock->counter ? 1e9 / clock->hz : (double)step;
}

void clock_start(struct clock *clock, const struct clock_sources *sources)
{
	static const struct clock_sources machine = {machine_ticks, machine_raw_ns,
						     machine_distrust, NULL};
	const char *reason;

	memset(clock, 0, sizeof(*clock));
	clock->counter_name = COUNTER_NAME;
	clock->sources = sources != NULL ? *sources : machine;
	reason = clock->sources.distrust(clock->sources.arg);
	if (reason != NULL)
		fall_back(clock, reason);
	else
		calibrate(clock);
	measure_cost(clock);
}

bool clock_finish(struct clock *clock)
{
	const struct clock_sources *s = &clock->sources;
	struct clock_pair end;

	if (!clock->counter)
		return true;
	/* over less time the two readings would be too uncertain */
	wait_until(s, clock->calibrated.raw_ns + CLOCK_CALIBRATION_NS);
	end = read_pair(s);
	clock->drift_ppm = ppm(rate_hz(clock->calibrated, end), clock->hz);
	return fabs(clock->drift_ppm) <= CLOCK_DRIFT_PPM;
}

const char *clock_source_name(const struct clock *clock)
{
	return clock->counter ? clock->counter_name : "clock_gettime";
}

uint64_t clock_ticks(const struct clock *clock, uint64_t ns)
{
	const unsigned __int128 span = (unsigned __int128)ns << 32;

	if (!clock->counter)
		return ns;
	return (uint64_t)((span + clock->ns_per_tick_32 - 1) / clock->ns_per_tick_32);
}
