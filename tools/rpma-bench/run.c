/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.c -- the course of a run: set up, one control connection, the items in
 * their shuffled order, tear down.
 */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "../common/soft.h"
#include "exchange.h"

#define BUFFER_MAX	   (64ULL << 20)
#define CACHE_LINE	   64
#define RESOLVE_TIMEOUT_MS 10000

struct repeat *run_repeat(const struct run *run, size_t point, uint32_t repeat)
{
	return &run->repeats[point * run->options->repeats + repeat];
}

/* Only the completions tell how the device flushed. */
const char *run_latency_kind(const struct run *run, const struct repeat *repeat)
{
	return repeat->measured.native_flush ? "write_flush_native" : run->operation->latency_kind;
}

uint64_t run_stride(uint64_t size_bytes)
{
	return (size_bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static uint32_t max_depth(const struct run *run)
{
	uint32_t depth = 1;

	for (size_t i = 0; i < run->plan.points_count; i++) {
		if (run->plan.points[i].depth > depth)
			depth = run->plan.points[i].depth;
	}
	return depth;
}

/* Room for all slots of each point, or for one where that is too much. */
static size_t buffer_size(const struct run *run)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < run->plan.points_count; i++) {
		uint64_t one = run_stride(run->plan.points[i].size_bytes);
		uint64_t all = one * run->plan.points[i].depth;
		uint64_t wanted = all <= BUFFER_MAX ? all : one;

		if (wanted > bytes)
			bytes = wanted;
	}
	return (size_t)bytes;
}

static int make_buffer(struct run *run)
{
	char size[UNITS_TEXT_BYTES];
	void *memory;

	run->buffer_bytes = buffer_size(run);
	memory = mmap(NULL, run->buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	run->posted = calloc(max_depth(run), sizeof(*run->posted));
	if (memory == MAP_FAILED || run->posted == NULL)
		return failure_set(EXIT_RUN_FAILED, "memory", "cannot map a buffer of %s: %s",
				   units_print_size(run->buffer_bytes, size), strerror(errno));
	run->buffer = memory;
	/* touched by the thread that measures, after it was bound; and not all zeros */
	for (size_t i = 0; i < run->buffer_bytes; i++)
		((unsigned char *)run->buffer)[i] = (unsigned char)(i * 131 + 7);
	return 0;
}

static int make_plan(struct run *run)
{
	const struct options *o = run->options;

	if (o->seed_given)
		run->seed = o->seed;
	else if (getrandom(&run->seed, sizeof(run->seed), 0) != sizeof(run->seed))
		return failure_set(EXIT_INTERNAL, "start", "the kernel gave no random bytes");
	/* JSON readers keep 63 bits at most, doubles 53 */
	if (!o->seed_given)
		run->seed &= (1ULL << 53) - 1;
	if (plan_make(&run->plan, &o->sizes, &o->depths, o->repeats, run->seed) != 0)
		return failure_set(EXIT_INTERNAL, "plan", "out of memory");
	run->repeats = calloc(run->plan.items_count, sizeof(*run->repeats));
	return run->repeats != NULL ? 0 : failure_set(EXIT_INTERNAL, "plan", "out of memory");
}

int run_open(struct run *run, const struct options *options)
{
	int ret;

	*run = (struct run){.options = options, .emulated_cpu = -1, .sysroot = {.fd = -1}};
	clock_gettime(CLOCK_REALTIME, &run->started);
	run->operation = operation_find(options->op, options->persist);
	if (run->operation == NULL)
		return failure_set(EXIT_INTERNAL, "start", "no such operation");
	if ((ret = result_new_uuid(run->id)) || (ret = make_plan(run)))
		return ret;
	if (sysroot_open(&run->sysroot, "/") != 0)
		return failure_set(EXIT_INTERNAL, "start", "cannot open /: %s", strerror(errno));
	run->emulated_cpu = environment_emulated_cpu(&run->sysroot);
	if (topology_load(&run->topology) != 0)
		return failure_set(EXIT_RUN_FAILED, "placement",
				   "hwloc cannot read the topology of this machine");
	return 0;
}

void run_close(struct run *run)
{
	struct failure kept = *failure_get();

	link_close(&run->control);
	rpma_mr_dereg(&run->buffer_mr);
	rpma_peer_delete(&run->peer);
	if (run->buffer != NULL)
		munmap(run->buffer, run->buffer_bytes);
	free(run->posted);
	for (size_t i = 0; run->repeats != NULL && i < run->plan.items_count; i++)
		free(run->repeats[i].latency);
	free(run->repeats);
	plan_free(&run->plan);
	json_decref(run->server_environment);
	topology_free(&run->topology);
	sysroot_close(&run->sysroot);
	*failure_get() = kept;
}

static int find_device(struct run *run)
{
	const struct options *o = run->options;
	struct device *list = NULL, any;
	char name[64] = "";
	size_t count = 0;
	int ret = soft_enter(&run->sysroot, o->device, o->cli.quiet, o->argv);

	if (ret)
		return ret;

	/* without any device this stores the sentence that says what to do */
	if (device_list(&run->sysroot, &list, &count) != 0 || count == 0)
		return device_choose(&run->sysroot, NULL, &any);
	free(list);
	ret = link_open_device(run->address, RPMA_UTIL_IBV_CONTEXT_REMOTE, &run->peer, name);
	if (ret)
		return ret;
	if (device_find(&run->sysroot, name, &run->device) != 0)
		return failure_set(EXIT_RUN_FAILED, "device", "nothing is known of the device %s",
				   name);
	run->device_known = true;
	if (!device_is(&run->device, o->device))
		return failure_set(EXIT_NO_DEVICE, "device",
				   "the route to %s leads over the RDMA device %s, not over %s",
				   run->address, name, o->device);
	return 0;
}

/* Not being allowed to bind is worth a warning; a wrong list is worth stopping. */
static int place_thread(struct run *run)
{
	const char *policy = run->options->pin;
	int cpu, ret;

	if (strcmp(policy, "none") == 0)
		return 0;
	if (!topology_is_this_machine(run->topology))
		return failure_set(EXIT_RUN_FAILED, "placement",
				   "HWLOC_XMLFILE describes another machine: threads cannot be "
				   "bound by it (--pin none, or unset it)");
	ret = topology_choose(run->topology, policy, run->device.name, &cpu, 1);
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "placement",
				   "--pin %s: none of these CPUs may be used here", policy);
	ret = topology_bind_thread(run->topology, cpu);
	if (ret)
		snprintf(run->pin_warning, sizeof(run->pin_warning),
			 "the measuring thread could not be bound to CPU %d: %s", cpu,
			 strerror(-ret));
	return 0;
}

static int prepare(struct run *run)
{
	const struct options *o = run->options;
	int ret = resolve_host(o->host, RESOLVE_TIMEOUT_MS, run->address);

	if (ret)
		return ret;
	/* an address of IPv6 needs its brackets before a port */
	snprintf(run->server_name, sizeof(run->server_name),
		 strchr(run->address, ':') != NULL ? "server [%s]:%u" : "server %s:%u",
		 run->address, o->port);
	if ((ret = find_device(run)) || (ret = place_thread(run)))
		return ret;
	clock_start(&run->clock, NULL);
	run->clock_started = true;
	if ((ret = connection_control(run)) || (ret = make_buffer(run)))
		return ret;
	ret = rpma_mr_reg(run->peer, run->buffer, run->buffer_bytes, run->operation->local_usage,
			  &run->buffer_mr);
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "register",
				   "cannot register a buffer of %zu bytes: %s (ulimit -l limits "
				   "what may be locked)",
				   run->buffer_bytes, link_cause(ret));
	return 0;
}

static void show_progress(const struct run *run, size_t order, uint64_t begin_ns)
{
	const struct plan_item *item = &run->plan.items[order];
	const struct plan_point *point = &run->plan.points[item->point];
	char line[160], size[UNITS_TEXT_BYTES];
	uint64_t left_s = 0;

	if (order > 0)
		left_s = (clock_raw_ns() - begin_ns) / order * (run->plan.items_count - order) /
			 1000000000ULL;
	else
		left_s = run->plan.items_count *
			 ((run->options->warmup_ns + run->options->duration_ns) / 1000000 + 50) /
			 1000;
	snprintf(line, sizeof(line), "%zu/%zu: %s, depth %u, repeat %u; %" PRIu64 " s left",
		 order + 1, run->plan.items_count, units_print_size(point->size_bytes, size),
		 point->depth, item->repeat + 1, left_s);
	cli_progress(&run->options->cli, line);
}

static int measure_items(struct run *run)
{
	uint64_t begin_ns = clock_raw_ns();
	int ret = 0;

	for (size_t order = 0; order < run->plan.items_count && ret == 0; order++) {
		show_progress(run, order, begin_ns);
		ret = cli_signal != 0 ? -ECANCELED : item_measure(run, order);
		if (ret == 0 && !link_alive(run->control, 0))
			ret = -EIO;
	}
	cli_progress(&run->options->cli, NULL);
	return ret;
}

int run_measure(struct run *run)
{
	struct message bye = {.type = MESSAGE_BYE};
	int ret = prepare(run);

	if (ret == 0)
		ret = measure_items(run);
	if (ret == 0)
		exchange_send(run->control, &bye);
	link_close(&run->control);
	if (run->clock_started)
		run->clock_drifted = !clock_finish(&run->clock);
	clock_gettime(CLOCK_REALTIME, &run->ended);
	return ret;
}
