/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dry_run.c -- what a run would do, without doing it.
 *
 * The plan and the placement are made by the code that a run uses; only the
 * RDMA device is a guess where none is named: the first of the machine.
 */
#include "client.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/json/result.h"
#include "progress.h"
#include "tools/rpma-bench/measure/placement.h"
#include "tools/rpma-bench/options/plan.h"
#include "tools/rpma-bench/result/point.h"

#define TOOL "rpma-bench"

struct dry_run {
	const struct options *options;
	uint64_t seed;
	struct plan plan;
	struct topology *topology;
	const char *device; /* NULL: none known */
	struct placement placement;
	uint64_t estimate_s; /* UINT64_MAX: unknown */
};

static const char *find_device(const struct dry_run *o)
{
	const char *asked = o->options->device;

	if (asked != NULL && strcmp(asked, "soft") == 0)
		return NULL;
	return asked != NULL ? asked : topology_first_device(o->topology);
}

static int gather(struct dry_run *o, const struct options *options)
{
	struct placement_request request = {.pin = options->pin, .mem_node = options->mem_node};
	struct progress progress = {.repeat_ns = progress_repeat_ns(options)};
	int ret;

	*o = (struct dry_run){.options = options, .seed = options->seed};
	if (!options->seed_given && (ret = plan_seed(&o->seed)))
		return ret;
	ret = plan_make(&o->plan, options->series, options->series_count, options->repeats,
			o->seed);
	if (ret)
		return ret;
	if (topology_load(&o->topology) != 0)
		return failure_set(EXIT_RUN_FAILED, "placement",
				   "hwloc cannot read the topology of this machine, or of "
				   "HWLOC_XMLFILE");
	o->device = find_device(o);
	request.near = (struct topology_near){o->device, -1};
	request.threads = (uint32_t)plan_most(&o->plan, AXIS_THREADS);
	progress.left = o->plan.trials_count;
	o->estimate_s = options->find_rate != NULL ? UINT64_MAX : progress_left_s(&progress, 0);
	return placement_choose(&o->placement, o->topology, &request);
}

static json_t *points_json(const struct dry_run *o)
{
	json_t *points = json_array();

	for (size_t i = 0; i < o->plan.points_count; i++) {
		json_t *params = plan_point_json(&o->plan, i, &o->options->selector);

		/* not known before the search */
		if (o->options->find_rate != NULL)
			json_object_set_new(params, axes[AXIS_RATE].name, json_null());
		json_array_append_new(
			points,
			json_pack("{s:o, s:o}", "id", json_sprintf("p%04zu", i), "params", params));
	}
	return points;
}

static json_t *order_json(const struct dry_run *o)
{
	json_t *order = json_array();

	for (size_t i = 0; i < o->plan.trials_count; i++)
		json_array_append_new(order,
				      json_pack("{s:o, s:i}", "point",
						json_sprintf("p%04zu", o->plan.trials[i].point),
						"repeat", (int)o->plan.trials[i].repeat));
	return order;
}

static int print_json(const struct dry_run *o)
{
	json_t *placement = placement_json(&o->placement), *document;
	int ret;

	json_object_set_new(placement, "device", result_text(o->device));
	json_object_set_new(placement, "this_machine",
			    json_boolean(topology_is_this_machine(o->topology)));
	document = json_pack(
		"{s:s, s:I, s:i, s:o, s:o, s:o, s:o}", "schema", "rpma-bench-dry-run/1", "seed",
		(json_int_t)o->seed, "repeats", (int)o->options->repeats, "estimate_s",
		o->estimate_s == UINT64_MAX ? json_null() : json_integer((json_int_t)o->estimate_s),
		"placement", placement, "points", points_json(o), "order", order_json(o));
	ret = result_write(NULL, document);
	json_decref(document);
	return ret;
}

static void print_time(const struct dry_run *o)
{
	const struct options *options = o->options;
	char text[UNITS_TEXT_BYTES], least[UNITS_TEXT_BYTES];

	printf("%zu points, %u repeats each, %zu in all; seed %" PRIu64 "\n", o->plan.points_count,
	       options->repeats, o->plan.trials_count, o->seed);
	if (options->find_rate != NULL)
		printf("time: unknown, as the search decides how many rates each point is "
		       "measured at\n");
	else if (options->endless)
		printf("time: until SIGINT or SIGTERM\n");
	else if (o->estimate_s == UINT64_MAX)
		printf("time: unknown, as repeats end after %" PRIu64 " operations\n",
		       options->ops);
	else if (options->ci > 0)
		printf("time: from %s to %s\n",
		       units_print_span(o->estimate_s * POINT_CI_REPEATS_MIN / options->repeats,
					least),
		       units_print_span(o->estimate_s, text));
	else
		printf("time: about %s\n", units_print_span(o->estimate_s, text));
}

static void print_placement(const struct dry_run *o)
{
	const struct placement *p = &o->placement;

	printf("placement%s, next to %s:",
	       topology_is_this_machine(o->topology) ? "" : " on the machine of HWLOC_XMLFILE",
	       o->device != NULL ? o->device : "no known device");
	for (uint32_t i = 0; i < p->threads; i++) {
		if (p->cpus[i] < 0)
			printf(" thread %u unbound,", i);
		else
			printf(" thread %u on CPU %d,", i, p->cpus[i]);
	}
	if (p->node < 0)
		printf(" memory left to the kernel\n");
	else
		printf(" memory on NUMA node %d\n", p->node);
	if (p->shared_warning[0] != '\0')
		printf("%s\n", p->shared_warning);
}

/* Each round has every point once; a line a round. */
static void print_order(const struct dry_run *o)
{
	for (size_t i = 0; i < o->plan.trials_count; i++) {
		const struct plan_trial *trial = &o->plan.trials[i];

		if (i == 0 || trial->repeat != trial[-1].repeat)
			printf("%sround %u:", i > 0 ? "\n" : "", trial->repeat + 1);
		printf(" p%04zu", trial->point);
	}
	printf("\n");
}

static int print_text(const struct dry_run *o)
{
	char text[PLAN_DESCRIPTION_MAX];

	print_time(o);
	print_placement(o);
	for (size_t i = 0; i < o->plan.points_count; i++)
		printf("p%04zu %s\n", i, plan_describe(&o->plan, i, &o->options->selector, text));
	print_order(o);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return failure_set(EXIT_RUN_FAILED, "output", "cannot write to standard output");
}

int dry_run(const struct options *options)
{
	struct dry_run o;
	int ret = gather(&o, options);

	if (ret == 0)
		ret = options->json ? print_json(&o) : print_text(&o);
	plan_free(&o.plan);
	topology_free(&o.topology);
	return ret == 0 ? EXIT_GOOD : cli_report_failure(TOOL);
}
