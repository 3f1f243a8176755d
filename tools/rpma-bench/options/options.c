/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c -- the three modes: which groups of options each takes, and what
 * no single option can see.
 */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/json/result.h"
#include "common/rdma/resolve.h"
#include "plan.h"
#include "slo.h"
#include "tables.h"

static int parse(struct options *o, const struct cli_command *command, int argc, char **argv)
{
	*o = (struct options){
		.listen = "127.0.0.1",
		.port = 7204,
		.warmup_ns = 1000000000ULL,
		.pin = "auto",
		.mem_node = "auto",
		.argc = argc,
		.argv = argv,
	};
	connection_knobs_init(&o->knobs);
	option_rows_make();
	if (target_selector_init(&o->selector) != 0)
		return -EIO;
	o->series = calloc(1, sizeof(*o->series));
	if (o->series == NULL)
		return failure_set(EXIT_INTERNAL, "options", "out of memory");
	o->series_count = 1;
	return cli_parse(command, argc, argv, &o->cli);
}

static int add_default_target(struct options *o)
{
	return o->targets_count > 0 ? 0 : -option_add_target(o, "dram:64M");
}

static void clear_series(struct options *o)
{
	for (size_t i = 0; i < o->series_count; i++)
		series_clear(&o->series[i]);
	free(o->series);
	o->series = NULL;
	o->series_count = 0;
}

static int load_plan(struct options *o)
{
	for (int axis = 0; axis < AXES; axis++) {
		if (o->series->values[axis].count > 0)
			return failure_usage("--%s and --plan: the plan decides what to measure",
					     axes[axis].name);
	}
	clear_series(o);
	return plan_file_load(o, o->plan);
}

/* The default: local measures all targets that it exports, a client the first. */
static int choose_targets(struct options *o)
{
	char words[PARAMS_TARGETS_MAX * 3 + 1] = "0", *end = words + 1;

	for (size_t i = 1; i < o->targets_count; i++)
		end += sprintf(end, ",%zu", i);
	for (size_t i = 0; i < o->series_count; i++) {
		if (o->series[i].values[AXIS_TARGET].count == 0 &&
		    target_selector_set(&o->selector, &o->series[i], words) != 0)
			return -EIO;
	}
	return 0;
}

static int check_verify(const struct plan *plan)
{
	for (size_t i = 0; i < plan->points_count; i++) {
		if (params_verifiable(&plan->points[i]))
			return 0;
	}
	return failure_usage(
		"--verify: nothing to compare: expected an operation that writes to the target, as "
		"--op write, of another test than connect and register, not with --pattern zipf");
}

static int check_endless(const struct options *o, const struct plan *plan)
{
	if (!o->endless)
		return 0;
	if (plan->points_count > 1)
		return failure_usage("--duration inf: expected one point, as with --size 4K: of "
				     "these %zu points the first would not end",
				     plan->points_count);
	if (!params_has_operations(&plan->points[0]))
		return failure_usage("--duration inf: expected a test of operations, as lat");
	return 0;
}

static int check_rpmem(const struct options *o, const struct plan *plan)
{
	bool wanted = false;

	for (size_t i = 0; i < plan->points_count; i++)
		wanted = wanted || params_rpmem(&plan->points[i]);
	if (wanted == (o->rpmem_set != NULL) && (wanted || o->rpmem_target == NULL))
		return 0;
	return failure_usage(
		wanted ? "--persist rpmem: expected --rpmem-set, a pool set on the target"
		       : "--rpmem-set and --rpmem-target need --persist rpmem or rpmem-relaxed");
}

/* A limit of a test that no point is of would always be kept. */
static int check_slos(const struct options *o, const struct plan *plan)
{
	for (size_t g = 0; g < o->slos_count; g++) {
		size_t i = 0;

		while (i < plan->points_count && !slo_applies(o->slos[g], plan->points[i].test))
			i++;
		if (i == plan->points_count)
			return failure_usage("--slo %s: this run has no point of that test, see "
					     "--test: its points are of test %s%s",
					     o->slos[g], params_tests[plan->points[0].test],
					     (plan->varying & 1U << AXIS_TEST) != 0 ? " and others"
										    : "");
	}
	return 0;
}

static bool is_stdout(const char *file)
{
	return file != NULL && strcmp(file, "-") == 0;
}

/* "-" names standard output, which takes one document. */
static int choose_stdout(struct options *o)
{
	if (is_stdout(o->output) && o->resume)
		return failure_usage(
			"--resume -: expected the file of the interrupted run's result");
	if (is_stdout(o->output)) {
		o->json = true;
		o->output = NULL;
	}
	if (is_stdout(o->csv) && o->json)
		return failure_usage(
			"--csv -: expected a file, as the result on standard output is JSON");
	if (is_stdout(o->csv)) {
		o->csv_to_stdout = true;
		o->csv = NULL;
	}
	if (o->csv != NULL && o->output != NULL && result_is_same_file(o->csv, o->output))
		return failure_usage("--csv %s: expected another file than that of the result",
				     o->csv);
	return 0;
}

static int search_conflict(const struct options *o)
{
	const char *with = o->ops > 0	       ? "--ops"
			   : o->ci > 0	       ? "--ci"
			   : o->slos_count > 0 ? "--slo"
			   : o->endless	       ? "--duration inf"
			   : o->resume	       ? "--resume"
					       : NULL;

	if (!slo_fits(o->find_rate, BENCH_RATE))
		return failure_usage("--find-rate %s: test rate has no reads and no other "
				     "direction: expected another metric, as response.p99.9",
				     o->find_rate);
	if (strstr(o->find_rate, "verify.") != NULL && !o->verify)
		return failure_usage("--find-rate %s: expected --verify, which compares the memory",
				     o->find_rate);
	if (with == NULL)
		return 0;
	return failure_usage("--find-rate and %s: expected one of them: trials of a search have a "
			     "fixed time, the limit of --find-rate, and are not resumed",
			     with);
}

/* One series: its rates become the lowest of the search, or one that stands for all. */
static int prepare_rates(struct options *o, struct series *series, bool first)
{
	struct units_list *rates = &series->values[AXIS_RATE];
	const struct units_list *tests = &series->values[AXIS_TEST];
	uint64_t low = series->rate_bracket ? rates->values[0] : 0;
	uint64_t high = series->rate_bracket ? rates->values[1] : 0;

	if (tests->count != 1 || tests->values[0] != BENCH_RATE)
		return failure_usage("--find-rate: expected --test rate, and no other test");
	if ((rates->count > 0 && !series->rate_bracket) ||
	    (!first && (low != o->rate_low || high != o->rate_high)))
		return failure_usage("--find-rate: expected --rate LOW:HIGH, as 1k:100k, the same "
				     "for all series, or none");
	o->rate_low = low;
	o->rate_high = high;
	series->rate_bracket = false;
	if (rates->count == 0)
		return series_set(series, AXIS_RATE, "1");
	rates->count = 1;
	return 0;
}

static int prepare_search(struct options *o)
{
	int ret = o->find_rate != NULL ? search_conflict(o) : 0;

	for (size_t i = 0; i < o->series_count && ret == 0; i++) {
		if (o->find_rate != NULL)
			ret = prepare_rates(o, &o->series[i], i == 0);
		else if (o->series[i].rate_bracket)
			ret = failure_usage("--rate LOW:HIGH: expected a step, as 1k:100k:x2, or "
					    "--find-rate, which searches between the two");
	}
	return ret;
}

/* Checks what no single row can see; the plan is tried here so that it fails as wrong usage. */
static int complete(struct options *o)
{
	struct plan plan = {0};
	int ret;

	if ((o->plan != NULL && (ret = load_plan(o))) || (ret = choose_targets(o)) ||
	    (ret = settings_complete(o)) || (ret = prepare_search(o)) || (ret = choose_stdout(o)))
		return ret;
	ret = plan_make(&plan, o->series, o->series_count, o->repeats, o->seed);
	if (ret == 0 && o->verify)
		ret = check_verify(&plan);
	if (ret == 0)
		ret = check_endless(o, &plan);
	if (ret == 0)
		ret = check_rpmem(o, &plan);
	if (ret == 0)
		ret = check_slos(o, &plan);
	o->cores_taken = (uint32_t)plan_most(&plan, AXIS_THREADS);
	plan_free(&plan);
	return ret;
}

int options_parse_server(struct options *options, int argc, char **argv)
{
	static const struct cli_row *const tables[] = {port_rows,   listen_rows,    device_rows,
						       memory_rows, placement_rows, NULL};
	static const struct cli_command command = {
		.name = "rpma-bench server",
		.text = "Export memory to clients, which set all parameters of a run.",
		.tables = tables,
	};
	int ret = parse(options, &command, argc, argv);

	return ret || options->cli.done ? ret : add_default_target(options);
}

static int check_host(const char *host, const char *command)
{
	if (host == NULL)
		return failure_usage("the host of the server is missing: %s HOST", command);
	if (resolve_has_port(host))
		return failure_usage(
			"HOST %s: expected a name or an address alone, the port goes into --port",
			host);
	return 0;
}

/* A client alone, and the ranks of rpma-bench-mpi that measure one server. */
static int parse_client(struct options *options, const char *command, int argc, char **argv)
{
	static const struct cli_row *const tables[] = {port_rows,   device_rows,  axis_rows,
						       target_rows, setting_rows, placement_rows,
						       knob_rows,   run_rows,	  NULL};
	const struct cli_command client = {
		.name = command,
		.text = "Measure the memory of the server on HOST.",
		.tables = tables,
		.operand = "HOST",
		.operand_to = offsetof(struct options, host),
	};
	int ret = parse(options, &client, argc, argv);

	if (ret || options->cli.done || (ret = check_host(options->host, command)))
		return ret;
	if (options->port == 0)
		return failure_usage("--port 0: expected the port that the server printed");
	return complete(options);
}

int options_parse_client(struct options *options, int argc, char **argv)
{
	return parse_client(options, "rpma-bench client", argc, argv);
}

/* Ranks have one plan with one end, and as many standard errors as there are of them. */
static int check_ranks(const struct options *o, int ret)
{
	const char *option = o->find_rate != NULL ? "--find-rate"
			     : o->endless	  ? "--duration inf"
			     : o->interval_ns > 0 ? "--interval"
						  : NULL;

	if (ret || option == NULL)
		return ret;
	return failure_usage("%s: expected rpma-bench, as rpma-bench-mpi has no such option",
			     option);
}

int options_parse_ranks(struct options *options, int argc, char **argv)
{
	return check_ranks(options, parse_client(options, "rpma-bench-mpi client", argc, argv));
}

/* Commands that serve and measure: local, and the ranks of rpma-bench-mpi. */
static int parse_both(struct options *options, const char *command, const char *text, int argc,
		      char **argv)
{
	static const struct cli_row *const tables[] = {
		device_rows,	memory_rows, axis_rows, setting_rows,
		placement_rows, knob_rows,   run_rows,	NULL};
	const struct cli_command both = {.name = command, .text = text, .tables = tables};
	int ret = parse(options, &both, argc, argv);

	if (ret || options->cli.done || (ret = add_default_target(options)))
		return ret;
	return complete(options);
}

int options_parse_local(struct options *options, int argc, char **argv)
{
	return parse_both(options, "rpma-bench local",
			  "Measure this machine's RDMA device with a server and a client on it.",
			  argc, argv);
}

int options_parse_pairs(struct options *options, int argc, char **argv)
{
	int ret = parse_both(options, "rpma-bench-mpi pairs",
			     "Ranks of odd number serve, each to the one before it.", argc, argv);

	return check_ranks(options, ret);
}

int options_parse_all_to_all(struct options *options, int argc, char **argv)
{
	int ret = parse_both(options, "rpma-bench-mpi all-to-all",
			     "Every rank serves, and measures all others at the same time.", argc,
			     argv);

	return check_ranks(options, ret);
}

void options_free(struct options *options)
{
	clear_series(options);
	target_selector_clear(&options->selector);
	for (size_t i = 0; i < options->targets_count; i++)
		free(options->targets[i]);
	free(options->label);
	free(options->find_rate);
}
