/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe.c -- counts what the machine writes to memory while rpma-bench runs.
 *
 * Writes without that traffic are counted before and after each phase, and
 * subtracted. If there are many, or the window is not next to the device, the probe
 * gives no answer: one that errs towards "off" would cost data.
 */
#include "probe.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/base/cli.h"
#include "common/base/monotonic.h"
#include "readiness/ddio.h"

#define IDLE_MS		 400 /* at least; up to twice as long */
#define SPEEDS_RATIO_MIN 2.0
#define MOST_IDLE	 0.05 /* as a share of the traffic */

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
static int stand_idle(const struct probe_events *events, struct moment moments[2], int idle_ms)
{
	struct pollfd stop = {cli_stop_fd(), POLLIN, 0};
	int ret = note(events, &moments[0]);

	if (ret == 0 && poll(&stop, 1, idle_ms) != 0)
		return -ECANCELED;
	return ret ? ret : note(events, &moments[1]);
}

static double idle_rate(const struct moment moments[2])
{
	return between(&moments[0], &moments[1], PROBE_WRITE) /
	       (moments[1].seconds - moments[0].seconds);
}

static double idle_bytes(const struct probe_figures *f)
{
	const double *rates = f->idle_bytes_per_s;

	return (rates[0] > rates[1] ? rates[0] : rates[1]) * f->seconds;
}

static double share_of(const struct probe_figures *f)
{
	double written = f->written_bytes - idle_bytes(f);

	return written > 0 ? written / f->rdma_bytes : 0;
}

/* A phase that shows nothing is told of; true. */
static bool is_disturbed(const struct probe_figures *f, struct answers_probe *probe)
{
	if (f->rdma_bytes < DDIO_PROBE_BYTES_MIN)
		snprintf(probe->why, sizeof(probe->why),
			 "only %.0f MB were written remotely, too little to be seen: at least %.0f "
			 "MB are needed",
			 f->rdma_bytes / 1e6, DDIO_PROBE_BYTES_MIN / 1e6);
	else if (idle_bytes(f) > MOST_IDLE * f->rdma_bytes)
		snprintf(probe->why, sizeof(probe->why),
			 "the machine writes %.0f MB/s to memory by itself, beside %.0f MB/s of "
			 "traffic: try again when it is idle",
			 idle_bytes(f) / f->seconds / 1e6, f->rdma_bytes / f->seconds / 1e6);
	else if (share_of(f) > DDIO_PROBE_RATIO_MAX)
		snprintf(probe->why, sizeof(probe->why),
			 "%.1f times the traffic was written to memory, so others wrote too: try "
			 "again when the machine is idle",
			 share_of(f));
	else
		return false;
	return true;
}

/*
 * A writer that works whenever there is traffic adds the same to slow and to fast phases:
 * in both its share can be between 0.8 and 1.5 only where their speeds are within 1.9.
 */
static bool speeds_differ(const struct probe_figures *figures, size_t count)
{
	double least = 0, most = 0;

	for (size_t i = 0; i < count; i++) {
		double speed = figures[i].rdma_bytes / figures[i].seconds;

		if (i == 0 || speed < least)
			least = speed;
		if (speed > most)
			most = speed;
	}
	return most > SPEEDS_RATIO_MIN * least;
}

/* Student's t for 95 % and count - 1 degrees of freedom: tables of any textbook. */
static double student(size_t count)
{
	static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365};

	return t[count - 2 < sizeof(t) / sizeof(t[0]) ? count - 2 : sizeof(t) / sizeof(t[0]) - 1];
}

static void set_interval(const struct probe_figures *figures, size_t count,
			 struct answers_probe *probe)
{
	double mean = 0, squares = 0, half;

	for (size_t i = 0; i < count; i++)
		mean += share_of(&figures[i]) / (double)count;
	for (size_t i = 0; i < count; i++) {
		double from_mean = share_of(&figures[i]) - mean;

		squares += from_mean * from_mean;
	}
	half = student(count) * sqrt(squares / (double)(count - 1) / (double)count);
	probe->share_low_ppm = mean > half ? (int64_t)((mean - half) * 1e6) : 0;
	probe->share_high_ppm = (int64_t)((mean + half) * 1e6);
}

void probe_judge(const struct probe_figures *figures, size_t count, struct answers_probe *probe)
{
	*probe = (struct answers_probe){.window_bytes = PROBE_WINDOW_BYTES};
	for (size_t i = 0; i < count; i++) {
		if (is_disturbed(&figures[i], probe))
			return;
		probe->rdma_bytes += (int64_t)figures[i].rdma_bytes;
		probe->memory_write_bytes +=
			(int64_t)(share_of(&figures[i]) * figures[i].rdma_bytes);
	}
	if (count < DDIO_PROBE_PHASES_MIN || !speeds_differ(figures, count)) {
		snprintf(
			probe->why, sizeof(probe->why),
			"the traffic did not change its speed by a factor of %.1f, so that another "
			"writer could pass for it",
			SPEEDS_RATIO_MIN);
		return;
	}
	probe->phases = (int64_t)count;
	set_interval(figures, count, probe);
	probe->done = true;
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

/* An order and lengths that nothing else on the machine keeps step with. */
static uint32_t any_number(void)
{
	uint32_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (uint32_t)monotonic_ns();
	return number;
}

/* Silence, then traffic. */
static int run_phase(const struct probe_events *events, const char *bench, const char *device,
		     enum probe_load load, struct moment moments[3], struct probe_traffic *traffic,
		     struct answers_probe *probe)
{
	int ret = stand_idle(events, moments, IDLE_MS + (int)(any_number() % IDLE_MS));

	if (ret == 0)
		ret = probe_traffic_run(bench, device, load, traffic, probe->why,
					sizeof(probe->why));
	return ret ? ret : note(events, &moments[2]);
}

/* Three of each load, in any order. */
static void shuffle(enum probe_load loads[PROBE_PHASES])
{
	for (size_t i = 0; i < PROBE_PHASES; i++)
		loads[i] = i % 2 == 0 ? PROBE_FULL : PROBE_SLOW;
	for (size_t i = PROBE_PHASES - 1; i > 0; i--) {
		size_t other = any_number() % (i + 1);
		enum probe_load load = loads[i];

		loads[i] = loads[other];
		loads[other] = load;
	}
}

static int run_phases(const struct probe_events *events, const struct sysroot *root,
		      const struct facts_device *device, const char *bench,
		      struct probe_figures figures[PROBE_PHASES], struct moment ends[2],
		      struct answers_probe *probe)
{
	enum probe_load loads[PROBE_PHASES];
	struct moment moments[3] = {{.seconds = 0}};
	struct probe_traffic traffic;
	int ret = 0;

	shuffle(loads);
	for (size_t i = 0; i < PROBE_PHASES && ret == 0; i++) {
		ret = run_phase(events, bench, device->name, loads[i], moments, &traffic, probe);
		if (ret != 0)
			break;
		if (i == 0)
			ends[0] = moments[0];
		else
			figures[i - 1].idle_bytes_per_s[1] = idle_rate(moments);
		if (!is_local(root, device, &traffic, probe))
			return -ENOTSUP;
		figures[i] = (struct probe_figures){
			.rdma_bytes = (double)traffic.bytes,
			.written_bytes = between(&moments[1], &moments[2], PROBE_WRITE),
			.seconds = moments[2].seconds - moments[1].seconds,
			.idle_bytes_per_s = {idle_rate(moments), 0}};
	}
	ends[1] = moments[2];
	if (ret == 0)
		ret = stand_idle(events, moments, IDLE_MS);
	if (ret == 0)
		figures[PROBE_PHASES - 1].idle_bytes_per_s[1] = idle_rate(moments);
	return ret;
}

static int count(const struct probe_events *events, const struct sysroot *root,
		 const struct facts_device *device, const char *bench, struct answers_probe *probe)
{
	struct probe_figures figures[PROBE_PHASES];
	struct moment ends[2];
	int ret = run_phases(events, root, device, bench, figures, ends, probe);

	if (ret != 0) {
		if (probe->why[0] == '\0')
			snprintf(probe->why, sizeof(probe->why), "cannot read the counters: %s",
				 strerror(-ret));
		return ret;
	}
	probe_judge(figures, PROBE_PHASES, probe);
	say_events(events, &ends[0], &ends[1], probe);
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
