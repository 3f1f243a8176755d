/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.c -- the course of a run: set up, one control connection, the trials in
 * their shuffled order, tear down.
 */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client.h"
#include "common/base/units.h"
#include "common/host/rlimits.h"
#include "common/json/result.h"
#include "control.h"
#include "progress.h"
#include "setup.h"
#include "tools/rpma-bench/result/output.h"
#include "tools/rpma-bench/result/point.h"

/*
 * Begins and ends each point on the server without measuring it.
 *
 * Checks that need no server come first: the size of the target and the flushes it takes.
 * Only a completion tells whether flushes are native: one operation for each target.
 */

enum native { NATIVE_UNKNOWN, NATIVE_YES, NATIVE_NO };

struct point_probe {
	struct run *run;
	enum native native[PARAMS_TARGETS_MAX]; /* by target of the server */
};

/* Keeps the error message as the reason why a point is not measured. As points_check(). */
static int point_set_unsupported(struct run *run, size_t point)
{
	if (run->barrier != NULL)
		return -EIO;
	run->record.unsupported[point] = strdup(failure_get()->text);
	if (run->record.unsupported[point] == NULL)
		return failure_set(EXIT_INTERNAL, "begin", "out of memory");
	return 0;
}

/* 0, or -EIO with the first reason as the error message: every point is unsupported. */
static int points_left(const struct run *run)
{
	for (size_t i = 0; i < run->record.plan.points_count; i++) {
		if (run->record.unsupported[i] == NULL)
			return 0;
	}
	return failure_set(EXIT_RUN_FAILED, "begin", "%s", run->record.unsupported[0]);
}

static int check_size(const struct run *run, const struct params *p)
{
	char size[UNITS_TEXT_BYTES], room[UNITS_TEXT_BYTES];
	uint64_t bytes = run->record.server.welcome.targets[p->target].bytes;
	uint64_t each = p->test == BENCH_REGISTER ? p->size_bytes : access_slice_min(p);

	if (p->test == BENCH_CONNECT || each <= bytes / params_qps(p))
		return 0;
	failure_set(EXIT_RUN_FAILED, "begin",
		    "--size %s on %u connection%s does not fit target %u of %s, which has %s: each "
		    "takes %" PRIu64 " bytes",
		    units_print_size(p->size_bytes, size), params_qps(p),
		    params_qps(p) == 1 ? "" : "s", p->target, run->control.dial.name,
		    units_print_size(bytes, room), each);
	return -ENOTSUP;
}

static int begin_and_end(struct repeat_setup *setup)
{
	json_t *report = NULL;
	int ret;

	ret = control_begin(setup->control, &setup->begin, &setup->ready);
	if (ret == 0)
		ret = control_end(setup->control, NULL, params_qps(&setup->begin.params), &report);
	json_decref(report);
	return ret;
}

/* One flush tells of all to this target. */
static int probe_native(struct point_probe *probe, struct repeat_setup *setup)
{
	enum native *native = &probe->native[setup->begin.params.target];
	int ret;

	if (*native == NATIVE_NO)
		return persisting_not_native(setup->control->dial.name);
	if (*native == NATIVE_YES)
		return begin_and_end(setup);
	ret = repeat_setup_open(setup);
	if (ret == 0)
		ret = repeat_setup_give_up(setup);
	else
		repeat_setup_close(setup);
	*native = ret == 0 ? NATIVE_YES : ret == -ENOTSUP ? NATIVE_NO : NATIVE_UNKNOWN;
	return ret;
}

/*
 * -ENOTSUP with the error message set: the server cannot serve the point. What needs the memory
 * of this side is checked when it is measured, and what --persist auto becomes is decided then.
 */
static int probe_point(struct point_probe *probe, size_t point)
{
	const struct plan_trial first = {.point = point};
	struct repeat_setup setup;
	int ret;

	repeat_setup_init(&setup, probe->run, &first, 0);
	ret = check_size(probe->run, &setup.begin.params);
	if (ret || setup.begin.params.persist == BENCH_AUTO)
		return ret;
	ret = persisting_check(&probe->run->record.server.welcome, setup.operation,
			       setup.begin.params.target, setup.control->dial.name);
	if (ret || setup.begin.params.bidirectional || setup.begin.params.test == BENCH_REGISTER)
		return ret;
	return setup.begin.params.persist == BENCH_NATIVE ? probe_native(probe, &setup)
							  : begin_and_end(&setup);
}

/*
 * Asks the server about every point; those that it cannot serve get the reason in
 * run->unsupported. -EIO with the error message set: the connection failed, no point is
 * left, or, of several clients that measure together, any point is unsupported.
 */
static int points_check(struct run *run)
{
	struct point_probe probe = {.run = run};

	for (size_t i = 0; i < run->record.plan.points_count; i++) {
		int ret = cli_signal != 0 ? -ECANCELED : probe_point(&probe, i);

		if (ret == -ENOTSUP)
			ret = point_set_unsupported(run, i);
		if (ret)
			return ret;
	}
	return points_left(run);
}

/* A run that goes on keeps its name and its seed: the seed gives the order. */
static int identify(struct record *record)
{
	const struct options *o = record->options;
	struct journal_run known = {0};
	int ret;

	if (o->resume) {
		ret = journal_resume(&record->journal, o, &known);
		memcpy(record->id, known.id, sizeof(record->id));
		/* another seed is another order: journal_start refuses it */
		record->seed = o->seed_given ? o->seed : known.seed;
		return ret;
	}
	record->seed = o->seed;
	ret = result_new_uuid(record->id);
	return ret == 0 && !o->seed_given ? plan_seed(&record->seed) : ret;
}

static int make_plan(struct record *record)
{
	const struct options *o = record->options;
	struct journal_run self = {.seed = record->seed};
	int ret = plan_make(&record->plan, o->series, o->series_count, o->repeats, record->seed);

	if (ret)
		return ret;
	record->repeats = calloc(record->plan.points_count, sizeof(*record->repeats));
	record->unsupported = calloc(record->plan.points_count, sizeof(*record->unsupported));
	for (size_t i = 0; record->repeats != NULL && i < record->plan.points_count; i++) {
		record->repeats[i] = json_array();
		if (record->repeats[i] == NULL)
			return failure_set(EXIT_INTERNAL, "plan", "out of memory");
	}
	if (record->repeats == NULL || record->unsupported == NULL)
		return failure_set(EXIT_INTERNAL, "plan", "out of memory");
	if (o->find_rate != NULL)
		return 0; /* the plan is made as it goes */
	memcpy(self.id, record->id, sizeof(self.id));
	ret = journal_start(&record->journal, o, &self, &record->plan, record->repeats,
			    &record->repeats_resumed);
	record->repeats_done = record->repeats_resumed;
	return ret;
}

int run_open(struct run *run, const struct options *options)
{
	int ret;

	*run = (struct run){
		.record = {.options = options, .emulated_cpu = -1, .sysroot = sysroot_machine}};
	clock_gettime(CLOCK_REALTIME, &run->record.started);
	if ((ret = identify(&run->record)) || (ret = make_plan(&run->record)))
		return ret;
	run->record.emulated_cpu = environment_emulated_cpu(&run->record.sysroot);
	if (topology_load(&run->record.topology) != 0)
		return failure_set(EXIT_RUN_FAILED, "placement",
				   "hwloc cannot read the topology of this machine, or of "
				   "HWLOC_XMLFILE");
	return 0;
}

static void clear(struct record *record)
{
	for (size_t i = 0; record->repeats != NULL && i < record->plan.points_count; i++)
		json_decref(record->repeats[i]);
	for (size_t i = 0; record->unsupported != NULL && i < record->plan.points_count; i++)
		free(record->unsupported[i]);
	free(record->repeats);
	free(record->unsupported);
	for (size_t i = 0; i < record->searches_count; i++)
		free(record->searches[i].name);
	free(record->searches);
	plan_free(&record->plan);
	json_decref(record->server.environment);
	json_decref(record->server.readiness);
	journal_close(&record->journal, false);
	topology_free(&record->topology);
}

void run_close(struct run *run)
{
	struct failure kept = *failure_get();

	control_close(&run->control, false);
	rpma_peer_delete(&run->control.dial.peer);
	clear(&run->record);
	*failure_get() = kept;
}

static int find_device(struct run *run)
{
	const struct options *o = run->record.options;
	const struct endpoint_options options = {o->device, o->cli.quiet, o->argv};
	int ret = dial_route(&run->control.dial, &options);

	run->record.device = run->control.dial.device;
	run->record.device_known = run->record.device.name[0] != '\0';
	return ret;
}

static int choose_cpus(struct run *run)
{
	const struct options *o = run->record.options;
	const struct placement_request request = {
		.pin = o->pin,
		.mem_node = o->mem_node,
		.near = {run->record.device.name, -1},
		.threads = (uint32_t)plan_most(&run->record.plan, AXIS_THREADS),
		.skip = run->barrier != NULL ? run->barrier->cores_taken : 0,
		.lenient = run->barrier != NULL,
	};

	if (!topology_is_this_machine(run->record.topology) &&
	    (strcmp(o->pin, "none") != 0 || strcmp(o->mem_node, "none") != 0))
		return failure_set(
			EXIT_RUN_FAILED, "placement",
			"HWLOC_XMLFILE describes another machine: nothing can be bound by "
			"it (--pin none --mem-node none, or unset it)");
	return placement_choose(&run->record.placement, run->record.topology, &request);
}

static int prepare(struct run *run)
{
	const struct options *o = run->record.options;
	int ret;

	open_files_raise();
	run->control.knobs = &o->knobs;
	if ((ret = dial_resolve(&run->control.dial, o->host, o->port)) ||
	    (ret = find_device(run)) || (ret = choose_cpus(run)))
		return ret;
	clock_start(&run->record.clock, NULL);
	run->record.clock_started = true;
	ret = control_open(&run->control, run->record.id, &run->record.server);
	/* another address of the name may have answered, over another device */
	if (ret == 0 && strcmp(run->record.device.name, run->control.dial.device.name) != 0) {
		run->record.device = run->control.dial.device;
		ret = choose_cpus(run);
	}
	if (ret == 0)
		ret = target_selector_resolve(&o->selector, &run->record.server.welcome,
					      run->control.dial.name, run->record.targets);
	return ret ? ret : points_check(run);
}

/* A point that was there before, or whose mean is known well enough, needs no more. */
static bool is_done(const struct record *record, const struct plan_trial *trial)
{
	const json_t *repeats = record->repeats[trial->point], *repeat;
	double ci = record->options->ci;
	size_t i;

	if (record->unsupported[trial->point] != NULL)
		return true;
	json_array_foreach(repeats, i, repeat) {
		if (json_integer_value(json_object_get(repeat, "index")) == trial->repeat)
			return true;
	}
	return ci > 0 && point_is_narrow(repeats, record->plan.points[trial->point].test, ci);
}

int run_measure_trial(struct run *run, size_t order)
{
	const struct plan_trial *trial = &run->record.plan.trials[order];
	json_t *repeat = NULL;
	int ret = trial_measure(run, order, &repeat), kept;

	if (ret == -ENOTSUP)
		return point_set_unsupported(run, trial->point);
	if (repeat == NULL)
		return ret;
	kept = journal_add(run->record.journal, trial->point, repeat);
	if (json_array_append_new(run->record.repeats[trial->point], repeat) != 0)
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	run->record.repeats_done++;
	run->record.repeats_cut += !json_is_true(json_object_get(repeat, "complete"));
	return ret ? ret : kept;
}

static size_t count_left(const struct record *record)
{
	size_t left = 0;

	for (size_t i = 0; i < record->plan.trials_count; i++)
		left += !is_done(record, &record->plan.trials[i]);
	return left;
}

static int measure_trials(struct run *run)
{
	struct progress progress = {
		.left = count_left(&run->record),
		.begin_ns = clock_raw_ns(),
		.repeat_ns = progress_repeat_ns(run->record.options),
	};
	int ret = 0;

	for (size_t order = 0; order < run->record.plan.trials_count && ret == 0; order++) {
		if (is_done(&run->record, &run->record.plan.trials[order]))
			continue;
		progress_show(&progress, run->record.options, &run->record.plan, order,
			      clock_raw_ns());
		ret = cli_signal != 0 ? -ECANCELED : run_measure_trial(run, order);
		if (ret == 0 && !connection_alive(run->control.connection, 0))
			ret = -EIO;
		progress.left--;
		progress.measured++;
	}
	cli_progress(&run->record.options->cli, NULL);
	return ret == 0 && run->record.repeats_done == 0 ? points_left(run) : ret;
}

int run_measure(struct run *run)
{
	int ret = prepare(run);

	if (ret == 0)
		ret = run->record.options->find_rate != NULL ? rate_search_run(run)
							     : measure_trials(run);
	control_close(&run->control, ret == 0);
	if (run->record.clock_started)
		run->record.clock_drifted = !clock_finish(&run->record.clock);
	clock_gettime(CLOCK_REALTIME, &run->record.ended);
	return ret;
}

void run_judge(struct run *run, int ret)
{
	struct record *r = &run->record;

	if (ret == 0) {
		r->status = RUN_COMPLETE;
		r->exit_code = EXIT_GOOD;
	} else if (cli_signal != 0) {
		/* whatever failed then: a server beside it had the signal too */
		r->status = RUN_INTERRUPTED;
		r->exit_code = 128 + cli_signal;
	} else {
		r->status = RUN_FAILED;
		r->failure = *failure_get();
		r->exit_code = (int)r->failure.code;
	}
}

#define TOOL "rpma-bench"

int client_run(const struct options *options)
{
	json_t *document;
	struct run run;
	int ret, code;

	if (publish_check(options) != 0)
		return cli_report_failure(TOOL);
	ret = run_open(&run, options);
	if (ret == 0)
		ret = run_measure(&run);
	else
		clock_gettime(CLOCK_REALTIME, &run.record.ended);
	run_judge(&run, ret);
	document = document_make(&run.record);
	code = publish(&run.record, document);
	json_decref(document);
	run_close(&run);
	return code;
}
