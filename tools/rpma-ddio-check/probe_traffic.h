/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_traffic.h -- RDMA writes into a small window, by rpma-bench.
 */
#ifndef PROBE_TRAFFIC_H
#define PROBE_TRAFFIC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif /* PROBE_TRAFFIC_H */
