/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe.h -- do writes of the RDMA device reach memory? Seen, not deduced.
 *
 * A window that is smaller than the cache is written again and again. Where
 * the cache takes these writes, the memory controllers see few of them. Another
 * program's writes must not pass for ours: traffic alternates with silence, and its
 * speed changes, which what is written to memory has to follow.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/host/sysroot.h"
#include "readiness/facts.h"

#define PROBE_PHASES 6 /* phases of traffic: three at full speed, three slow ones */

/* One phase of traffic; bytes per second of the idle machine, before and after. */
struct probe_figures {
	double rdma_bytes;
	double written_bytes;
	double seconds;
	double idle_bytes_per_s[2];
};

/* The device is hardware. 0, also where the probe cannot tell and reports why; -ECANCELED. */
int probe_run(const struct sysroot *root, const struct facts_device *device,
	      struct answers_probe *probe);

/* Notes the figures of all phases if they allow a statement, else why they do not. */
void probe_judge(const struct probe_figures *figures, size_t count, struct answers_probe *probe);

/*
 * Counters of the memory controllers and of the cache: they count the whole machine, each for the
 * socket of its CPU. Sysfs has their names and programs, below sys/bus/event_source/devices.
 */
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

#define PROBE_WINDOW_BYTES (1 << 20)

/* Large writes, 16 at a time, or small ones one by one: at a few times less speed. */
enum probe_load { PROBE_FULL, PROBE_SLOW };

struct probe_traffic {
	int64_t bytes; /* all that were written, those of the warm-up too */
	int numa_node; /* the window's; -1: unknown */
};

/* Beside this program, in its build tree, or in PATH; false: nowhere. */
bool probe_find_bench(char path[PATH_MAX]);

/*
 * Runs it on the device for about one second, a minute at most, and waits
 * for its end. -errno where it gave no result, with `why`; -ECANCELED after a
 * signal.
 */
int probe_traffic_run(const char *bench, const char *device, enum probe_load load,
		      struct probe_traffic *traffic, char *why, size_t size);

/* The figures of its result, for tests too; -EINVAL if it is not one. */
int probe_traffic_read(const char *text, size_t len, struct probe_traffic *traffic);
