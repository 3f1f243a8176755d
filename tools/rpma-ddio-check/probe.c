/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe.c -- counts what the machine writes to memory while rpma-bench runs.
 *
 * What it writes without that traffic is counted before and after, and taken
 * off. Where that is much, or the window is not next to the device, nothing is
 * said: a probe that errs towards "off" would cost data.
 */
#include "probe.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "probe_events.h"
#include "probe_traffic.h"
#include "tools/common/base/cli.h"
#include "tools/readiness/ddio.h"

#define IDLE_MS	  500
#define MOST_IDLE 0.05 /* as a share of the traffic */

struct moment {
	struct probe_sample sample;
	double seconds;
};

static int note(const struct probe_events *events, struct moment *moment)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	moment->seconds = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
	return probe_events_read(events, &moment->sample);
}

static double between(const struct moment *from, const struct moment *to, enum probe_kind kind)
{
	return to->sample.sums[kind] - from->sample.sums[kind];
}

/* From moments[0] to moments[1] nothing of ours runs. */
static int stand_idle(const struct probe_events *events, struct moment moments[2])
{
	struct pollfd stop = {cli_stop_fd(), POLLIN, 0};
	int ret = note(events, &moments[0]);

	if (ret == 0 && poll(&stop, 1, IDLE_MS) != 0)
		return -ECANCELED;
	return ret ? ret : note(events, &moments[1]);
}

static double idle_rate(const struct moment moments[2])
{
	return between(&moments[0], &moments[1], PROBE_WRITE) /
	       (moments[1].seconds - moments[0].seconds);
}

void probe_judge(const struct probe_figures *f, struct answers_probe *probe)
{
	double rate = f->idle_bytes_per_s[0] > f->idle_bytes_per_s[1] ? f->idle_bytes_per_s[0]
								      : f->idle_bytes_per_s[1];
	double idle = rate * f->seconds, written = f->written_bytes - idle;

	if (f->rdma_bytes < DDIO_PROBE_BYTES_MIN)
		snprintf(probe->why, sizeof(probe->why),
			 "only %.0f MB were written remotely, too little to be seen: at least %.0f "
			 "MB are needed",
			 f->rdma_bytes / 1e6, DDIO_PROBE_BYTES_MIN / 1e6);
	else if (idle > MOST_IDLE * f->rdma_bytes)
		snprintf(probe->why, sizeof(probe->why),
			 "the machine writes %.0f MB/s to memory by itself, beside %.0f MB/s of "
			 "traffic: try again when it is idle",
			 rate / 1e6, f->rdma_bytes / f->seconds / 1e6);
	else if (written > DDIO_PROBE_RATIO_MAX * f->rdma_bytes)
		snprintf(probe->why, sizeof(probe->why),
			 "%.1f times the traffic was written to memory, so others wrote too: try "
			 "again when the machine is idle",
			 written / f->rdma_bytes);
	else
		*probe = (struct answers_probe){.done = true,
						.rdma_bytes = (int64_t)f->rdma_bytes,
						.memory_write_bytes =
							written > 0 ? (int64_t)written : 0,
						.window_bytes = PROBE_WINDOW_BYTES};
}

static void say_events(const struct probe_events *events, const struct moment *before,
		       const struct moment *after, struct answers_probe *probe)
{
	double all = between(before, after, PROBE_CACHE_ALL);
	size_t len;

	snprintf(probe->events, sizeof(probe->events), "%zu x %s", events->of_kind[PROBE_WRITE],
		 events->source);
	len = strlen(probe->events);
	if (all > 0)
		snprintf(probe->events + len, sizeof(probe->events) - len,
			 ", cha io_miss_itom/io_itom %.2f",
			 between(before, after, PROBE_CACHE_MISS) / all);
}

static int count_nodes(const struct sysroot *root)
{
	int nodes = 0;

	while (sysroot_exists(root, "sys/devices/system/node/node%d", nodes))
		nodes++;
	return nodes;
}

/* Writes to the memory of another socket go past the cache of this one. */
static bool is_local(const struct sysroot *root, const struct facts_device *device,
		     const struct probe_traffic *traffic, struct answers_probe *probe)
{
	if (count_nodes(root) <= 1 ||
	    (device->numa_node >= 0 && traffic->numa_node == device->numa_node))
		return true;
	snprintf(probe->why, sizeof(probe->why),
		 "the window was on NUMA node %d and the device is on %d (-1: unknown): only next "
		 "to the device it can be told",
		 traffic->numa_node, device->numa_node);
	return false;
}

static int count(const struct probe_events *events, const struct sysroot *root,
		 const struct facts_device *device, const char *bench, struct answers_probe *probe)
{
	struct moment idle[2][2], before, after;
	struct probe_traffic traffic;
	int ret = stand_idle(events, idle[0]);

	if (ret == 0)
		ret = note(events, &before);
	if (ret == 0 && (ret = probe_traffic_run(bench, device->name, &traffic, probe->why,
						 sizeof(probe->why))) != 0)
		return ret;
	if (ret == 0)
		ret = note(events, &after);
	if (ret == 0)
		ret = stand_idle(events, idle[1]);
	if (ret != 0) {
		snprintf(probe->why, sizeof(probe->why), "cannot read the counters: %s",
			 strerror(-ret));
		return ret;
	}
	if (!is_local(root, device, &traffic, probe))
		return 0;
	probe_judge(&(struct probe_figures){.rdma_bytes = (double)traffic.bytes,
					    .written_bytes = between(&before, &after, PROBE_WRITE),
					    .seconds = after.seconds - before.seconds,
					    .idle_bytes_per_s = {idle_rate(idle[0]),
								 idle_rate(idle[1])}},
		    probe);
	say_events(events, &before, &after, probe);
	return 0;
}

int probe_run(const struct sysroot *root, const struct facts_device *device,
	      struct answers_probe *probe)
{
	struct probe_events events;
	char bench[PATH_MAX];
	int ret;

	*probe = (struct answers_probe){0};
	if (!probe_find_bench(bench)) {
		snprintf(probe->why, sizeof(probe->why),
			 "rpma-bench, which sends the traffic, is neither beside this program nor "
			 "in PATH");
		return 0;
	}
	if (probe_events_open(&events, root, probe->why, sizeof(probe->why)) != 0)
		return 0;
	ret = count(&events, root, device, bench, probe);
	probe_events_close(&events);
	return ret == -ECANCELED ? ret : 0;
}
