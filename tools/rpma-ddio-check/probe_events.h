/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_events.h -- counters of the memory controllers and of the cache.
 *
 * They count the whole machine, each for the socket of its CPU. What they are
 * called and how they are programmed is in sysfs, below
 * sys/bus/event_source/devices.
 */
#ifndef PROBE_EVENTS_H
#define PROBE_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/host/sysroot.h"

enum probe_kind {
	PROBE_WRITE,	  /* bytes that memory controllers wrote */
	PROBE_CACHE_MISS, /* full lines that devices wrote, and the cache did not have */
	PROBE_CACHE_ALL,  /* all full lines that devices wrote */
	PROBE_KINDS,
};

struct probe_counter {
	enum probe_kind kind;
	int fd;
	double weight; /* a count's */
};

struct probe_events {
	struct probe_counter *counters; /* owned */
	size_t count;
	size_t of_kind[PROBE_KINDS];
	const char *source; /* what PROBE_WRITE counts: "uncore_imc cas_count_write" */
};

struct probe_sample {
	double sums[PROBE_KINDS];
};

/* The arguments of perf_event_open(). */
struct probe_config {
	uint32_t type;
	uint64_t config[3];
};

/*
 * "event=0x04,umask=0x0c" of a unit, laid into its formats; -ENOENT for a
 * format it does not have, -ERANGE for a value that does not fit into it.
 */
int probe_config_parse(const struct sysroot *root, const char *unit, const char *terms,
		       struct probe_config *config);

/* -errno where no memory controller can be counted: `why` names what is missing. */
int probe_events_open(struct probe_events *events, const struct sysroot *root, char *why,
		      size_t size);
int probe_events_read(const struct probe_events *events, struct probe_sample *sample);
void probe_events_close(struct probe_events *events);

#endif /* PROBE_EVENTS_H */
