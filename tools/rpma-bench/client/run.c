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

#include "control.h"
#include "point_check.h"
#include "progress.h"
#include "repeat_run.h"
#include "tools/common/host/open_files.h"
#include "tools/common/json/result.h"
#include "tools/common/rdma/listen.h"
#include "tools/rpma-bench/result/point.h"

#define RESOLVE_TIMEOUT_MS 10000

/* A run that goes on keeps its name and its seed: the seed gives the order. */
static int identify(struct run *run)
{
	const struct options *o = run->options;
	struct journal_run known = {0};
	int ret;

	if (o->resume) {
		ret = journal_resume(&run->journal, o, &known);
		memcpy(run->id, known.id, sizeof(run->id));
		/* another seed is another order: journal_start refuses it */
		run->seed = o->seed_given ? o->seed : known.seed;
		return ret;
	}
	run->seed = o->seed;
	ret = result_new_uuid(run->id);
	return ret == 0 && !o->seed_given ? plan_seed(&run->seed) : ret;
}

static int make_plan(struct run *run)
{
	const struct options *o = run->options;
	struct journal_run self = {.seed = run->seed};
	int ret = plan_make(&run->plan, o->series, o->series_count, o->repeats, run->seed);

	if (ret)
		return ret;
	run->repeats = calloc(run->plan.points_count, sizeof(*run->repeats));
	run->unsupported = calloc(run->plan.points_count, sizeof(*run->unsupported));
	for (size_t i = 0; run->repeats != NULL && i < run->plan.points_count; i++) {
		run->repeats[i] = json_array();
		if (run->repeats[i] == NULL)
			return failure_set(EXIT_INTERNAL, "plan", "out of memory");
	}
	if (run->repeats == NULL || run->unsupported == NULL)
		return failure_set(EXIT_INTERNAL, "plan", "out of memory");
	memcpy(self.id, run->id, sizeof(self.id));
	ret = journal_start(&run->journal, o, &self, &run->plan, run->repeats,
			    &run->repeats_resumed);
	run->repeats_done = run->repeats_resumed;
	return ret;
}

int run_open(struct run *run, const struct options *options)
{
	int ret;

	*run = (struct run){.options = options, .emulated_cpu = -1, .sysroot = {.fd = -1}};
	clock_gettime(CLOCK_REALTIME, &run->started);
	if ((ret = identify(run)) || (ret = make_plan(run)))
		return ret;
	if (sysroot_open(&run->sysroot, "/") != 0)
		return failure_set(EXIT_INTERNAL, "start", "cannot open /: %s", strerror(errno));
	run->emulated_cpu = environment_emulated_cpu(&run->sysroot);
	if (topology_load(&run->topology) != 0)
		return failure_set(EXIT_RUN_FAILED, "placement",
				   "hwloc cannot read the topology of this machine, or of "
				   "HWLOC_XMLFILE");
	return 0;
}

void run_close(struct run *run)
{
	struct failure kept = *failure_get();

	connection_close(&run->remote, false);
	rpma_peer_delete(&run->peer);
	for (size_t i = 0; run->repeats != NULL && i < run->plan.points_count; i++)
		json_decref(run->repeats[i]);
	for (size_t i = 0; run->unsupported != NULL && i < run->plan.points_count; i++)
		free(run->unsupported[i]);
	free(run->repeats);
	free(run->unsupported);
	plan_free(&run->plan);
	json_decref(run->remote.environment);
	json_decref(run->remote.readiness);
	journal_close(&run->journal, false);
	topology_free(&run->topology);
	sysroot_close(&run->sysroot);
	*failure_get() = kept;
}

static int find_device(struct run *run)
{
	const struct options *o = run->options;
	const struct endpoint_wish wish = {o->device, o->cli.quiet, o->argv};
	int ret =
		endpoint_route(&run->sysroot, &wish, run->remote.address, &run->peer, &run->device);

	run->device_known = run->device.name[0] != '\0';
	run->remote.device = run->device.name;
	return ret;
}

static int place(struct run *run)
{
	const struct options *o = run->options;
	const struct placement_wish wish = {
		.pin = o->pin,
		.mem_node = o->mem_node,
		.near = {run->device.name, -1},
		.threads = (uint32_t)plan_most(&run->plan, AXIS_THREADS),
		.skip = run->together != NULL ? run->together->cores_taken : 0,
		.lenient = run->together != NULL,
	};

	if (!topology_is_this_machine(run->topology) &&
	    (strcmp(o->pin, "none") != 0 || strcmp(o->mem_node, "none") != 0))
		return failure_set(
			EXIT_RUN_FAILED, "placement",
			"HWLOC_XMLFILE describes another machine: nothing can be bound by "
			"it (--pin none --mem-node none, or unset it)");
	return placement_choose(&run->placement, run->topology, &wish);
}

static int find_server(struct run *run)
{
	const struct options *o = run->options;
	struct remote *remote = &run->remote;
	int ret = resolve_host(o->host, RESOLVE_TIMEOUT_MS, remote->address);

	if (ret)
		return ret;
	remote->port = o->port;
	/* an address of IPv6 needs its brackets before a port */
	snprintf(remote->name, sizeof(remote->name),
		 strchr(remote->address, ':') != NULL ? "server [%s]:%u" : "server %s:%u",
		 remote->address, o->port);
	return 0;
}

static int prepare(struct run *run)
{
	int ret;

	open_files_raise();
	if ((ret = find_server(run)) || (ret = find_device(run)) || (ret = place(run)))
		return ret;
	clock_start(&run->clock, NULL);
	run->clock_started = true;
	ret = connection_open(&run->remote, run->peer, run->id);
	if (ret == 0)
		ret = choices_resolve(&run->options->choices, &run->remote.offer, run->remote.name,
				      run->targets);
	return ret ? ret : points_check(run);
}

/* A point that was there before, or whose mean is known well enough, needs no more. */
static bool is_done(const struct run *run, const struct plan_item *item)
{
	const json_t *repeats = run->repeats[item->point], *repeat;
	double ci = run->options->ci;
	size_t i;

	if (run->unsupported[item->point] != NULL)
		return true;
	json_array_foreach(repeats, i, repeat)
	{
		if (json_integer_value(json_object_get(repeat, "index")) == item->repeat)
			return true;
	}
	return ci > 0 && point_is_narrow(repeats, run->plan.points[item->point].test, ci);
}

static int measure_item(struct run *run, size_t order)
{
	const struct plan_item *item = &run->plan.items[order];
	json_t *repeat = NULL;
	int ret = item_measure(run, order, &repeat), kept;

	if (ret == -ENOTSUP)
		return point_set_unsupported(run, item->point);
	if (repeat == NULL)
		return ret;
	kept = journal_add(run->journal, item->point, repeat);
	if (json_array_append_new(run->repeats[item->point], repeat) != 0)
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	run->repeats_done++;
	return ret ? ret : kept;
}

static size_t count_left(const struct run *run)
{
	size_t left = 0;

	for (size_t i = 0; i < run->plan.items_count; i++)
		left += !is_done(run, &run->plan.items[i]);
	return left;
}

static int measure_items(struct run *run)
{
	struct progress progress = {
		.left = count_left(run),
		.begin_ns = clock_raw_ns(),
		.repeat_ns = progress_repeat_ns(run->options),
	};
	int ret = 0;

	for (size_t order = 0; order < run->plan.items_count && ret == 0; order++) {
		if (is_done(run, &run->plan.items[order]))
			continue;
		progress_show(&progress, run->options, &run->plan, order, clock_raw_ns());
		ret = cli_signal != 0 ? -ECANCELED : measure_item(run, order);
		if (ret == 0 && !link_alive(run->remote.control, 0))
			ret = -EIO;
		progress.left--;
		progress.measured++;
	}
	cli_progress(&run->options->cli, NULL);
	return ret == 0 && run->repeats_done == 0 ? points_left(run) : ret;
}

int run_measure(struct run *run)
{
	int ret = prepare(run);

	if (ret == 0)
		ret = measure_items(run);
	connection_close(&run->remote, ret == 0);
	if (run->clock_started)
		run->clock_drifted = !clock_finish(&run->clock);
	clock_gettime(CLOCK_REALTIME, &run->ended);
	return ret;
}

void run_judge(struct run *run, int ret)
{
	if (ret == 0) {
		run->status = RUN_COMPLETE;
		run->exit_code = EXIT_GOOD;
	} else if (cli_signal != 0) {
		/* whatever failed then: a server beside it had the signal too */
		run->status = RUN_INTERRUPTED;
		run->exit_code = 128 + cli_signal;
	} else {
		run->status = RUN_FAILED;
		run->failure = *failure_get();
		run->exit_code = (int)run->failure.code;
	}
}
