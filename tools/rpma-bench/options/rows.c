/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.c -- the rows of all options, in groups, and their parsers.
 *
 * Those of axes and settings come from their own tables. Every value goes
 * through a typed parser and its range.
 */
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "slo.h"
#include "tools/common/base/failure.h"
#include "tools/common/host/topology.h"
#include "tools/common/rdma/target.h"

enum key {
	KEY_LISTEN = CLI_KEY_FIRST,
	KEY_ONCE,
	KEY_ALLOW,
	KEY_DEVICE,
	KEY_ANONYMOUS,
	KEY_FORCE,
	KEY_DIRECT_WRITE,
	KEY_PLAN,
	KEY_DRY_RUN,
	KEY_PIN,
	KEY_MEM_NODE,
	KEY_VERIFY,
	KEY_JSON,
	KEY_CSV,
	KEY_RESUME,
	KEY_SLO,
	KEY_AXIS,
	KEY_SETTING = KEY_AXIS + AXES,
	KEY_PORT = 'p',
	KEY_TARGET = 't',
	KEY_SIZE = 's',
	KEY_DURATION = 'd',
	KEY_OUTPUT = 'o',
};

enum group { GROUP_WHERE = 1, GROUP_MEMORY, GROUP_WHAT, GROUP_WHEN, GROUP_HOW, GROUP_OUTPUT };

static const struct argp_option port_rows[] = {
	{"port", KEY_PORT, "N", 0, "Port of the server (7204); a server takes 0 for any free one",
	 GROUP_WHERE},
	{0},
};

static const struct argp_option listen_rows[] = {
	{"listen", KEY_LISTEN, "ADDR", 0, "Address to listen on (127.0.0.1)", GROUP_WHERE},
	{"allow", KEY_ALLOW, "ADDR[/LEN]", 0,
	 "Take clients from here only; may be repeated (from everywhere)", GROUP_WHERE},
	{"once", KEY_ONCE, NULL, 0, "Serve one client, then end", GROUP_WHERE},
	{0},
};

static const struct argp_option device_rows[] = {
	{"device", KEY_DEVICE, "auto|soft|NAME", 0,
	 "RDMA device to use; soft is the software one, which auto takes where there is no other "
	 "(auto)",
	 GROUP_WHERE},
	{"anonymous", KEY_ANONYMOUS, NULL, 0,
	 "Leave the name of this host and the GUID of its device out of the result", GROUP_OUTPUT},
	{0},
};

static const struct argp_option memory_rows[] = {
	{"target", KEY_TARGET, "TARGET[,...]", 0,
	 "Memory to offer: dram:SIZE (dram:64M), hugepages:SIZE, PATH:SIZE for a new file, PATH of "
	 "a file or device DAX node; may be repeated",
	 GROUP_MEMORY},
	{"force", KEY_FORCE, NULL, 0, "Let the content of an existing PATH be overwritten",
	 GROUP_MEMORY},
	{"direct-write-to-pmem", KEY_DIRECT_WRITE, NULL, 0,
	 "State that writes of the RDMA device reach the persistence domain", GROUP_MEMORY},
	{0},
};

static const struct argp_option placement_rows[] = {
	{"pin", KEY_PIN, "auto|none|CPUS", 0,
	 "Cores of the threads: auto is one each, next to the device (auto)", GROUP_HOW},
	{"mem-node", KEY_MEM_NODE, "auto|none|N", 0,
	 "NUMA node of the buffers: auto is next to the device (auto)", GROUP_HOW},
	{0},
};

static const struct argp_option run_rows[] = {
	{"plan", KEY_PLAN, "FILE", 0, "Take what to measure from FILE, in JSON", GROUP_WHAT},
	{"dry-run", KEY_DRY_RUN, NULL, 0, "Print the plan, its time and placement, and end",
	 GROUP_WHAT},
	{"verify", KEY_VERIFY, NULL, 0, "The server checks that it holds what was written",
	 GROUP_HOW},
	{"output", KEY_OUTPUT, "FILE", 0, "Write the result, as JSON, to FILE", GROUP_OUTPUT},
	{"resume", KEY_RESUME, "FILE", 0,
	 "Continue the interrupted run whose result was to be FILE, with the same options",
	 GROUP_OUTPUT},
	{"json", KEY_JSON, NULL, 0, "Write the result to standard output", GROUP_OUTPUT},
	{"csv", KEY_CSV, "FILE", 0, "Write a table, one line a repeat, to FILE", GROUP_OUTPUT},
	{"slo", KEY_SLO, "GATE", 0,
	 "Exit with 1 where a point misses it, as 'lat.p99.9_ns<5000'; may be repeated",
	 GROUP_OUTPUT},
	{0},
};

/* Rows of the tables of axes and settings; the target axis is in those of a client alone. */
static struct argp_option axis_rows[AXES + 1];
static struct argp_option target_rows[2];
static struct argp_option setting_rows[SETTINGS + 1];

void option_groups_make(void)
{
	static char helps[AXES][AXIS_TEXT_MAX];
	size_t n = 0;

	for (int i = 0; i < AXES; i++) {
		const struct axis *axis = &axes[i];
		const char *help = axis_help((enum axis_id)i, helps[i]);
		struct argp_option row = {axis->name,	  i == AXIS_SIZE ? KEY_SIZE : KEY_AXIS + i,
					  axis->argument, axis->flag ? OPTION_ARG_OPTIONAL : 0,
					  help,		  GROUP_WHAT};

		if (i == AXIS_TARGET) {
			row.key = KEY_TARGET;
			target_rows[0] = row;
		} else {
			axis_rows[n++] = row;
		}
	}
	for (int i = 0; i < SETTINGS; i++)
		setting_rows[i] =
			(struct argp_option){settings[i].name,
					     i == SETTING_DURATION ? KEY_DURATION : KEY_SETTING + i,
					     settings[i].argument,
					     0,
					     settings[i].help,
					     i == SETTING_LABEL ? GROUP_OUTPUT : GROUP_WHEN};
}

static error_t parse_where(int key, char *arg, struct options *o)
{
	switch (key) {
	case KEY_PORT:
		return cli_port("--port", arg, &o->port);
	case KEY_LISTEN:
		o->listen = arg;
		return 0;
	case KEY_ALLOW:
		return allow_option(&o->allow, arg);
	case KEY_ONCE:
		o->once = true;
		return 0;
	case KEY_DEVICE:
		o->device = strcmp(arg, "auto") == 0 ? NULL : arg;
		return 0;
	case KEY_ANONYMOUS:
		o->anonymous = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t out_of_memory(void)
{
	failure_set(EXIT_INTERNAL, "options", "out of memory");
	return ENOMEM;
}

error_t option_offer_target(struct options *o, const char *spec)
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

static error_t offer_targets(struct options *o, const char *list)
{
	char *copy = strdup(list), *rest = copy;
	error_t ret = copy != NULL ? 0 : out_of_memory();

	while (ret == 0 && rest != NULL)
		ret = option_offer_target(o, strsep(&rest, ","));
	free(copy);
	return ret;
}

static error_t parse_memory(int key, char *arg, struct options *o)
{
	switch (key) {
	case KEY_TARGET:
		return offer_targets(o, arg);
	case KEY_FORCE:
		o->force = true;
		return 0;
	case KEY_DIRECT_WRITE:
		o->direct_write_to_pmem = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_placement(int key, char *arg, struct options *o)
{
	bool word = arg != NULL && (strcmp(arg, "auto") == 0 || strcmp(arg, "none") == 0);
	uint64_t node;

	switch (key) {
	case KEY_PIN:
		if (!word && !topology_list_valid(arg))
			return cli_wrong_value("--pin", arg, "auto, none, or CPUs such as 2,4-7");
		o->pin = arg;
		return 0;
	case KEY_MEM_NODE:
		if (!word && (units_parse_number(arg, &node) || node >= TOPOLOGY_NODES_MAX))
			return cli_wrong_value("--mem-node", arg,
					       "auto, none, or the number of a NUMA node");
		o->mem_node = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t add_gate(struct options *o, const char *text)
{
	if (o->gates_count == OPTIONS_GATES_MAX)
		return cli_wrong_value("--slo", text, "64 gates at most");
	if (gate_check(text) != 0)
		return EINVAL;
	o->gates[o->gates_count++] = text;
	return 0;
}

/* -o and --resume both name the result; they may agree. */
static error_t set_output(struct options *o, const char *option, const char *path)
{
	if (o->output != NULL && strcmp(o->output, path) != 0)
		return cli_wrong_value(option, path,
				       "one file for the result, the same in -o and --resume");
	o->output = path;
	return 0;
}

static error_t parse_run(int key, char *arg, struct options *o)
{
	switch (key) {
	case KEY_PLAN:
		o->plan = arg;
		return 0;
	case KEY_DRY_RUN:
		o->dry_run = true;
		return 0;
	case KEY_VERIFY:
		o->verify = true;
		return 0;
	case KEY_OUTPUT:
		return set_output(o, "--output", arg);
	case KEY_RESUME:
		o->resume = true;
		return set_output(o, "--resume", arg);
	case KEY_JSON:
		o->json = true;
		return 0;
	case KEY_CSV:
		o->csv = arg;
		return 0;
	case KEY_SLO:
		return add_gate(o, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The series of the command line; with --plan there is no place for it. */
static error_t parse_axis(int key, char *arg, struct options *o)
{
	int axis = key == KEY_SIZE ? AXIS_SIZE : key - KEY_AXIS;

	if (axis < 0 || axis >= AXES)
		return ARGP_ERR_UNKNOWN;
	return -series_set(o->series, (enum axis_id)axis, arg != NULL ? arg : "yes");
}

static error_t parse_choice(int key, char *arg, struct options *o)
{
	if (key != KEY_TARGET)
		return ARGP_ERR_UNKNOWN;
	return -choices_set(&o->choices, o->series, arg);
}

static error_t parse_setting(int key, char *arg, struct options *o)
{
	int setting = key == KEY_DURATION ? SETTING_DURATION : key - KEY_SETTING;

	if (setting < 0 || setting >= SETTINGS)
		return ARGP_ERR_UNKNOWN;
	return -settings_set(o, (enum setting_id)setting, arg);
}

#define PARSER(subject)                                                                            \
	static error_t argp_##subject(int key, char *arg, struct argp_state *state)                \
	{                                                                                          \
		return parse_##subject(key, arg, state->input);                                    \
	}
PARSER(where)
PARSER(memory)
PARSER(placement)
PARSER(run)
PARSER(axis)
PARSER(choice)
PARSER(setting)

#define ARGP(rows, subject)                                                                        \
	{                                                                                          \
		rows, argp_##subject, NULL, NULL, NULL, NULL, NULL                                 \
	}
const struct argp option_group_port = ARGP(port_rows, where);
const struct argp option_group_listen = ARGP(listen_rows, where);
const struct argp option_group_device = ARGP(device_rows, where);
const struct argp option_group_memory = ARGP(memory_rows, memory);
const struct argp option_group_placement = ARGP(placement_rows, placement);
const struct argp option_group_run = ARGP(run_rows, run);
const struct argp option_group_axis = ARGP(axis_rows, axis);
const struct argp option_group_choice = ARGP(target_rows, choice);
const struct argp option_group_setting = ARGP(setting_rows, setting);
