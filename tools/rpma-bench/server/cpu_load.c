/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu_load.c -- threads that are busy for a part of each 10 ms.
 *
 * The load is measured: the threads' processor time over the time that passed. On
 * a core with other work it can be lower than the one asked for.
 */
#include "cpu_load.h"

#include <hwloc/linux.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "common/base/thread.h"
#include "common/host/clock.h"

#define PERIOD_NS 10000000

struct burner {
	pthread_t thread;
	const struct load *load;
	unsigned cpu;
	clockid_t clock; /* its processor time */
	uint64_t marked_ns;
};

struct load {
	struct burner *burners;
	unsigned count;
	uint32_t millionths;
	uint64_t marked_ns;
	atomic_int stop;
};

static uint64_t time_of(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* By its own processor time: a core that it shares is loaded as much. */
static void burn_until(uint64_t own_ns, uint64_t end_ns)
{
	while (time_of(CLOCK_THREAD_CPUTIME_ID) < own_ns && time_of(CLOCK_MONOTONIC) < end_ns)
		;
}

static void *burn(void *arg)
{
	const struct burner *b = arg;
	const uint64_t busy_ns = (uint64_t)b->load->millionths * (PERIOD_NS / 1000000);
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(b->cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (uint64_t begin = time_of(CLOCK_MONOTONIC); atomic_load(&b->load->stop) == 0;) {
		uint64_t next = begin + PERIOD_NS;
		const struct timespec until = timespec_of_ns(next);

		burn_until(time_of(CLOCK_THREAD_CPUTIME_ID) + busy_ns, next);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		/* what a busy core did not give stays missed: no longer burst makes up for it */
		begin = time_of(CLOCK_MONOTONIC) < next + PERIOD_NS ? next
								    : time_of(CLOCK_MONOTONIC);
	}
	return NULL;
}

/* The CPUs of the node that may be used here; all that may, if that is none. */
static void choose(int node, cpu_set_t *chosen)
{
	hwloc_bitmap_t of_node = hwloc_bitmap_alloc();
	cpu_set_t allowed;
	char path[64];

	CPU_ZERO(chosen);
	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpumap", node);
	if (of_node != NULL && node >= 0 && hwloc_linux_read_path_as_cpumask(path, of_node) == 0) {
		for (int cpu = hwloc_bitmap_first(of_node); cpu >= 0 && cpu < CPU_SETSIZE;
		     cpu = hwloc_bitmap_next(of_node, cpu))
			CPU_SET((size_t)cpu, chosen);
	}
	hwloc_bitmap_free(of_node);
	CPU_AND(chosen, chosen, &allowed);
	if (CPU_COUNT(chosen) == 0)
		*chosen = allowed;
}

static int start_one(struct load *load, unsigned cpu)
{
	struct burner *b = &load->burners[load->count];
	int ret;

	b->load = load;
	b->cpu = cpu;
	ret = thread_start(&b->thread, burn, b);
	if (ret)
		return failure_call("load", -ret, "start a thread");
	load->count++;
	pthread_getcpuclockid(b->thread, &b->clock);
	return 0;
}

int load_start(struct load **load, int node, uint32_t millionths)
{
	struct load *l = calloc(1, sizeof(*l));
	cpu_set_t cpus;
	int ret = 0;

	CPU_ZERO(&cpus);
	choose(node, &cpus);
	if (l != NULL)
		l->burners = calloc((size_t)CPU_COUNT(&cpus) + 1, sizeof(*l->burners));
	if (l == NULL || l->burners == NULL) {
		free(l);
		return failure_set(EXIT_INTERNAL, "load", "out of memory");
	}
	l->millionths = millionths;
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && ret == 0; cpu++) {
		if (CPU_ISSET(cpu, &cpus))
			ret = start_one(l, cpu);
	}
	if (ret) {
		load_stop(&l);
		return ret;
	}
	load_mark(l);
	*load = l;
	return 0;
}

void load_mark(struct load *load)
{
	load->marked_ns = clock_raw_ns();
	for (unsigned i = 0; i < load->count; i++)
		load->burners[i].marked_ns = time_of(load->burners[i].clock);
}

double load_measured(const struct load *load)
{
	uint64_t wall = (clock_raw_ns() - load->marked_ns) * load->count, burned = 0;

	for (unsigned i = 0; i < load->count; i++)
		burned += time_of(load->burners[i].clock) - load->burners[i].marked_ns;
	if (wall == 0)
		return 0;
	/* two clocks: at full load the quotient may be a little more than there is */
	return burned < wall ? (double)burned / (double)wall : 1;
}

void load_stop(struct load **load)
{
	struct load *l = *load;

	*load = NULL;
	if (l == NULL)
		return;
	atomic_store(&l->stop, 1);
	for (unsigned i = 0; i < l->count; i++)
		pthread_join(l->burners[i].thread, NULL);
	free(l->burners);
	free(l);
}
