/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.c -- the rows of all options, in tables, and their parsers.
 *
 * Rows of axes and settings come from their own tables. Every value goes
 * through a typed parser and its range.
 */
#include "tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/host/topology.h"
#include "common/rdma/rows.h"
#include "common/rdma/target.h"
#include "options.h"
#include "slo.h"
#include "tools/rpma-bench/protocol/params.h"

/*
 * Operations, ways to persist a write, and the tests that take them.
 *
 * The rows are those of protocol/operations.h, and which test takes a row is asked of
 * the rule that a run and a server ask.
 */

struct row {
	const char *word;
	const char *text;
	const char *needs;
};

#define ROW(NAME, name, word, facts, text, needs) {word, text, needs},
static const struct row ops[] = {BENCH_OP_ROWS(ROW)};
static const struct row persists[] = {BENCH_PERSIST_ROWS(ROW)};

static const struct row without[BENCH_TESTS] = {
	[BENCH_CONNECT] = {"connect", "connections, made and ended", "a listener"},
	[BENCH_REGISTER] = {"register", "registrations of memory", "memory"},
};

#define LINE "%-15s %-15s %s\n%-15s %-15s needs %s\n"

static bool takes(enum bench_test test, enum bench_op op, enum bench_persist persist)
{
	struct params p = {.test = test, .op = op, .persist = persist, .size_bytes = 8};

	p.depth = p.threads = p.connections = p.batch = p.signal_every = 1;
	p.rate_per_s = test == BENCH_RATE;
	return params_has_operations(&p) && params_conflict(&p) == NULL;
}

static void print_row(enum bench_op op, enum bench_persist persist)
{
	const struct row *row = persist == BENCH_NONE ? &ops[op] : &persists[persist];
	char name[32], tests[64] = "";

	snprintf(name, sizeof(name), "%s%s", persist == BENCH_NONE ? "" : "  ", row->word);
	for (int test = 0; test < BENCH_TESTS; test++) {
		if (!takes((enum bench_test)test, op, persist))
			continue;
		if (tests[0] != '\0')
			strncat(tests, ",", sizeof(tests) - strlen(tests) - 1);
		strncat(tests, params_tests[test], sizeof(tests) - strlen(tests) - 1);
	}
	printf(LINE, name, tests, row->text, "", "", row->needs);
}

/* Prints it on standard output; -EIO where that fails. */
static int list_ops(void)
{
	printf(LINE, "--op", "--test", "what it is", "  --persist", "", "this of the server");
	for (int op = 0; op < BENCH_OPS; op++) {
		for (int persist = 0; persist < BENCH_PERSISTS; persist++) {
			if (persist == BENCH_NONE || op == BENCH_WRITE)
				print_row((enum bench_op)op, (enum bench_persist)persist);
		}
	}
	for (int test = 0; test < BENCH_TESTS; test++) {
		if (without[test].word != NULL)
			printf(LINE, "-", params_tests[test], without[test].text, "", "",
			       without[test].needs);
	}
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -EIO;
}

#define INTERVAL_MIN_NS 100000000ULL
#define INTERVAL_MAX_NS 3600000000000ULL

enum group { GROUP_WHERE = 1, GROUP_MEMORY, GROUP_WHAT, GROUP_WHEN, GROUP_HOW, GROUP_OUTPUT };

static error_t out_of_memory(void)
{
	failure_set(EXIT_INTERNAL, "options", "out of memory");
	return ENOMEM;
}

error_t option_add_target(struct options *o, const char *spec)
{
	if (o->targets_count == PARAMS_TARGETS_MAX)
		return cli_wrong_value("--target", spec, "16 targets at most");
	if (target_check(spec) != 0)
		return EINVAL;
	o->targets[o->targets_count] = strdup(spec);
	if (o->targets[o->targets_count] == NULL)
		return out_of_memory();
	o->targets_count++;
	return 0;
}

static error_t parse_targets(const char *option, const char *list, void *options)
{
	char *copy = strdup(list), *rest = copy;
	error_t ret = copy != NULL ? 0 : out_of_memory();

	(void)option;
	while (ret == 0 && rest != NULL)
		ret = option_add_target(options, strsep(&rest, ","));
	free(copy);
	return ret;
}

static bool is_auto_or_none(const char *arg)
{
	return strcmp(arg, "auto") == 0 || strcmp(arg, "none") == 0;
}

static error_t parse_pin(const char *option, const char *arg, void *to)
{
	if (!is_auto_or_none(arg) && !topology_list_valid(arg))
		return cli_wrong_value(option, arg, "auto, none, or CPUs such as 2,4-7");
	return cli_text(option, arg, to);
}

static error_t parse_mem_node(const char *option, const char *arg, void *to)
{
	uint64_t node;

	if (!is_auto_or_none(arg) && (units_parse_number(arg, &node) || node >= TOPOLOGY_NODES_MAX))
		return cli_wrong_value(option, arg, "auto, none, or the number of a NUMA node");
	return cli_text(option, arg, to);
}

static error_t parse_interval(const char *option, const char *arg, void *to)
{
	uint64_t ns = 0;

	if (units_parse_duration(arg, &ns) || ns < INTERVAL_MIN_NS || ns > INTERVAL_MAX_NS)
		return cli_wrong_value(option, arg, "a time from 100ms to 1h, as 1s");
	*(uint64_t *)to = ns;
	return 0;
}

static error_t parse_slo(const char *option, const char *text, void *options)
{
	struct options *o = options;

	if (o->slos_count == OPTIONS_SLOS_MAX)
		return cli_wrong_value(option, text, "at most 64 SLOs");
	if (slo_check(text) != 0)
		return EINVAL;
	o->slos[o->slos_count++] = text;
	return 0;
}

/* -o and --resume both name the result; they may agree. */
static error_t parse_output(const char *option, const char *path, void *options)
{
	struct options *o = options;

	if (path[0] == '\0')
		return cli_wrong_value(option, "''", "the name of a file");
	if (o->output != NULL && strcmp(o->output, path) != 0)
		return cli_wrong_value(option, path,
				       "one file for the result, the same in -o and --resume");
	o->output = path;
	return 0;
}

static error_t parse_resume(const char *option, const char *path, void *options)
{
	((struct options *)options)->resume = true;
	return parse_output(option, path, options);
}

/* The series of the command line; with --plan there is no place for it. */
static error_t parse_axis(const char *option, const char *arg, void *options)
{
	struct options *o = options;
	int axis = 0;

	while (strcmp(axes[axis].name, option + 2) != 0)
		axis++;
	return -series_set(o->series, (enum axis_id)axis, arg != NULL ? arg : "yes");
}

static error_t parse_choice(const char *option, const char *arg, void *options)
{
	struct options *o = options;

	(void)option;
	return -target_selector_set(&o->selector, o->series, arg);
}

static error_t parse_setting(const char *option, const char *arg, void *options)
{
	int setting = 0;

	while (strcmp(settings[setting].name, option + 2) != 0)
		setting++;
	return -settings_set(options, (enum setting_id)setting, arg);
}

static error_t parse_buffers(const char *option, const char *arg, void *huge)
{
	static const char *const words[] = {"normal", "hugepages", NULL};
	const char *near = cli_nearest(arg, strlen(arg), words);

	if (strcmp(arg, words[0]) != 0 && strcmp(arg, words[1]) != 0) {
		failure_usage("%s %s: expected normal or hugepages%s%s%s", option, arg,
			      near != NULL ? " (did you mean " : "", near != NULL ? near : "",
			      near != NULL ? "?)" : "");
		return EINVAL;
	}
	*(bool *)huge = strcmp(arg, words[1]) == 0;
	return 0;
}

/* Acts like --help: nothing else is done then, and nothing else must be right. */
static error_t print_ops(const char *option, const char *arg, void *done)
{
	(void)option;
	(void)arg;
	*(bool *)done = true;
	if (list_ops() == 0)
		return 0;
	failure_set(EXIT_RUN_FAILED, "options", "cannot write to standard output");
	return EIO;
}

#define TO(member) offsetof(struct options, member)
_Static_assert(offsetof(struct options, cli) == 0, "rows count from the struct cli");

const struct cli_row port_rows[] = {ROW_PORT("7204", GROUP_WHERE), {0}};

const struct cli_row listen_rows[] = {
	{"listen", 0, "ADDR", "Address to listen on; 0.0.0.0 or :: for all (127.0.0.1)",
	 GROUP_WHERE, cli_text, TO(listen), 0},
	ROW_ALLOW(GROUP_WHERE),
	{"once", 0, NULL, "Serve one client that begins a run, then end", GROUP_WHERE, cli_flag,
	 TO(once), 0},
	{0},
};

const struct cli_row device_rows[] = {
	ROW_DEVICE(GROUP_WHERE),
	{"anonymous", 0, NULL,
	 "Leave the name of this host and the GUID of its device out of the result", GROUP_OUTPUT,
	 cli_flag, TO(anonymous), 0},
	{0},
};

const struct cli_row memory_rows[] = {
	{"target", 't', "TARGET[,...]",
	 "Memory to offer: dram:SIZE (dram:64M), hugepages:SIZE, PATH:SIZE for a new file, PATH of "
	 "a file or device DAX node; may be repeated",
	 GROUP_MEMORY, parse_targets, 0, 0},
	ROW_FORCE(GROUP_MEMORY),
	ROW_DIRECT_WRITE(GROUP_MEMORY),
	{0},
};

const struct cli_row placement_rows[] = {
	{"pin", 0, "auto|none|CPUS",
	 "Cores of the threads: auto is one each, next to the device (auto)", GROUP_HOW, parse_pin,
	 TO(pin), 0},
	{"mem-node", 0, "auto|none|N",
	 "NUMA node of the buffers: auto is next to the device (auto)", GROUP_HOW, parse_mem_node,
	 TO(mem_node), 0},
	{0},
};

#define ROW_KNOB(name, argument, help)                                                             \
	{                                                                                          \
		name, 0, argument, help, GROUP_HOW, connection_knob_option, TO(knobs), 0           \
	}

const struct cli_row knob_rows[] = {
	ROW_KNOB("inline", "BYTES",
		 "Post writes and messages of up to BYTES inline, copied by the CPU (0)"),
	ROW_KNOB("traffic-class", "N",
		 "Traffic class of the packets, both ways (the host's choice)"),
	ROW_ACK_TIMEOUT(GROUP_HOW),
	ROW_RETRIES(GROUP_HOW),
	ROW_KNOB("rnr-retries", "N",
		 "Resend what finds no receive up to N times, 0 to 6; 7 without end (7)"),
	ROW_KNOB("comp-vector", "N", "Completion vector of the client's queues (0)"),
	{"buffers", 0, "normal|hugepages", "Pages of the client's buffers (normal)", GROUP_HOW,
	 parse_buffers, TO(huge_buffers), 0},
	{0},
};

const struct cli_row run_rows[] = {
	{"plan", 0, "FILE", "Take what to measure from FILE, in JSON; - is standard input",
	 GROUP_WHAT, cli_text, TO(plan), 0},
	{"rpmem-set", 0, "NAME", "Pool set that --persist rpmem creates and removes a pool of",
	 GROUP_WHAT, cli_text, TO(rpmem_set), 0},
	{"rpmem-target", 0, "[USER@]HOST[:PORT]",
	 "Where that pool set is, for ssh (the host of the server)", GROUP_WHAT, cli_text,
	 TO(rpmem_target), 0},
	{"dry-run", 0, NULL, "Print the plan, its time and placement, and end", GROUP_WHAT,
	 cli_flag, TO(dry_run), 0},
	{"list-ops", 0, NULL, "Print operations, tests and what they need, and end", GROUP_WHAT,
	 print_ops, TO(cli.done), 0},
	{"verify", 0, NULL, "The server checks that it holds what was written", GROUP_HOW, cli_flag,
	 TO(verify), 0},
	{"output", 'o', "FILE",
	 "Write the result, as JSON, to FILE, compressed if it is named *.gz; - is standard output",
	 GROUP_OUTPUT, parse_output, 0, 0},
	{"resume", 0, "FILE",
	 "Continue the interrupted run whose result was to be FILE, with the same options",
	 GROUP_OUTPUT, parse_resume, 0, 0},
	CLI_ROW_JSON(GROUP_OUTPUT),
	{"interval", 0, "TIME",
	 "Print a line on standard error every TIME while a repeat is measured, as 1s",
	 GROUP_OUTPUT, parse_interval, TO(interval_ns), 0},
	{"csv", 0, "FILE", "Write a table, one line a repeat, to FILE; - is standard output",
	 GROUP_OUTPUT, cli_text, TO(csv), 0},
	{"slo", 0, "[TEST:]SLO",
	 "Exit with 1 where a point misses it, as 'lat.p99.9<5us' or, of one test, "
	 "'bw:bytes_per_s>1G'; may be repeated",
	 GROUP_OUTPUT, parse_slo, 0, 0},
	{0},
};

struct cli_row axis_rows[AXES + 1];
struct cli_row target_rows[2];
struct cli_row setting_rows[SETTINGS + 1];

void option_rows_make(void)
{
	static char helps[AXES][AXIS_TEXT_MAX];
	size_t n = 0;

	for (int i = 0; i < AXES; i++) {
		const struct axis *axis = &axes[i];
		struct cli_row *row = i == AXIS_TARGET ? target_rows : &axis_rows[n++];

		*row = (struct cli_row){axis->name,
					i == AXIS_SIZE	   ? 's'
					: i == AXIS_TARGET ? 't'
							   : 0,
					axis->argument,
					axis_help((enum axis_id)i, helps[i]),
					GROUP_WHAT,
					i == AXIS_TARGET ? parse_choice : parse_axis,
					0,
					axis->flag ? OPTION_ARG_OPTIONAL : 0};
	}
	for (int i = 0; i < SETTINGS; i++)
		setting_rows[i] = (struct cli_row){settings[i].name,
						   i == SETTING_DURATION ? 'd' : 0,
						   settings[i].argument,
						   settings[i].help,
						   i == SETTING_LABEL ? GROUP_OUTPUT : GROUP_WHEN,
						   parse_setting,
						   0,
						   0};
}
