/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c -- the option tables of the three modes.
 *
 * Two groups of rows, where to be found and what to measure, and a mode is a
 * choice of groups. Every value goes through a typed parser and its range.
 */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../common/failure.h"
#include "../common/target.h"
#include "../common/topology.h"
#include "operation.h"

enum key {
	KEY_LISTEN = CLI_KEY_FIRST,
	KEY_PORT = 'p',
	KEY_TARGET = 't',
	KEY_FORCE = KEY_LISTEN + 1,
	KEY_DIRECT_WRITE,
	KEY_ONCE,
	KEY_TEST,
	KEY_OP,
	KEY_PERSIST,
	KEY_COMPLETION,
	KEY_DEPTH,
	KEY_REPEATS,
	KEY_WARMUP,
	KEY_SEED,
	KEY_PIN,
	KEY_DEVICE,
	KEY_JSON,
	KEY_SIZE = 's',
	KEY_DURATION = 'd',
	KEY_OUTPUT = 'o',
};

const char *const options_tests[] = {"lat", "bw", NULL};
const char *const options_ops[] = {"write", "read", NULL};
const char *const options_persists[] = {"none", "apm", NULL};
const char *const options_completions[] = {"poll", NULL};

static const struct argp_option port_rows[] = {
	{"port", KEY_PORT, "N", 0, "Port of the server (7204); a server takes 0 for any free one",
	 1},
	{0},
};

static const struct argp_option listen_rows[] = {
	{"listen", KEY_LISTEN, "ADDR", 0, "Address to listen on (127.0.0.1)", 1},
	{"once", KEY_ONCE, NULL, 0, "Serve one client, then end", 1},
	{0},
};

static const struct argp_option target_rows[] = {
	{"target", KEY_TARGET, "TARGET", 0,
	 "Memory to offer: dram:SIZE (dram:64M), PATH:SIZE for a new file, PATH of a file or "
	 "device "
	 "DAX node",
	 2},
	{"force", KEY_FORCE, NULL, 0, "Let the content of an existing PATH be overwritten", 2},
	{"direct-write-to-pmem", KEY_DIRECT_WRITE, NULL, 0,
	 "State that writes of the RDMA device reach the persistence domain", 2},
	{0},
};

static const struct argp_option measure_rows[] = {
	{"test", KEY_TEST, "lat|bw", 0, "Latency, one operation at a time (lat), or bandwidth (bw)",
	 3},
	{"op", KEY_OP, "write|read", 0, "The operation (write)", 3},
	{"persist", KEY_PERSIST, "none|apm", 0, "Make each write persistent: apm flushes it (none)",
	 3},
	{"size", KEY_SIZE, "SIZES", 0, "Bytes per operation: 64,4K or 64:1M:*2", 3},
	{"depth", KEY_DEPTH, "DEPTHS", 0, "Operations in flight (1 for lat, 32 for bw)", 3},
	{"completion", KEY_COMPLETION, "poll", 0, "How completions are awaited (poll)", 3},
	{"duration", KEY_DURATION, "TIME", 0, "Time of one repeat (10s)", 4},
	{"warmup", KEY_WARMUP, "TIME", 0, "Unmeasured time before each repeat (1s)", 4},
	{"repeats", KEY_REPEATS, "N", 0, "Repeats of each point (5)", 4},
	{"seed", KEY_SEED, "N", 0, "Seed of the shuffled order (random)", 4},
	{"pin", KEY_PIN, "auto|none|CPUS", 0, "Core of the measuring thread (auto)", 5},
	{"output", KEY_OUTPUT, "FILE", 0, "Write the result, as JSON, to FILE", 6},
	{"json", KEY_JSON, NULL, 0, "Write the result to standard output", 6},
	{0},
};

static const struct argp_option device_rows[] = {
	{"device", KEY_DEVICE, "auto|soft|NAME", 0,
	 "RDMA device to use; soft is the software one, which auto takes where there is no other "
	 "(auto)",
	 1},
	{0},
};

static int word(const char *option, const char *value, const char *const *words,
		const char *expected, int *index)
{
	for (*index = 0; words[*index] != NULL; ++*index) {
		if (strcmp(words[*index], value) == 0)
			return 0;
	}
	return cli_wrong_value(option, value, expected);
}

static int number(const char *option, const char *value, uint64_t low, uint64_t high,
		  const char *expected, uint64_t *out)
{
	if (units_parse_number(value, out) || *out < low || *out > high)
		return cli_wrong_value(option, value, expected);
	return 0;
}

static int duration(const char *option, const char *value, uint64_t low, const char *expected,
		    uint64_t *out)
{
	if (units_parse_duration(value, out) || *out < low || *out > OPTIONS_DURATION_MAX)
		return cli_wrong_value(option, value, expected);
	return 0;
}

/* A value twice would be the same point twice. */
static int list(const char *option, const char *value, uint64_t high, const char *expected,
		struct units_list *out)
{
	struct units_list parsed = {0, NULL};
	int ret = units_parse_sizes(value, &parsed);

	for (size_t i = 0; ret == 0 && i < parsed.count; i++) {
		if (parsed.values[i] == 0 || parsed.values[i] > high)
			ret = -ERANGE;
		for (size_t k = 0; ret == 0 && k < i; k++)
			ret = parsed.values[k] == parsed.values[i] ? -EINVAL : 0;
	}
	if (ret) {
		units_list_free(&parsed);
		return cli_wrong_value(option, value, expected);
	}
	units_list_free(out);
	*out = parsed;
	return 0;
}

static error_t parse_place(int key, char *arg, struct options *o)
{
	uint64_t value = 0;
	int ret = 0;

	switch (key) {
	case KEY_PORT:
		ret = number("--port", arg, 0, UINT16_MAX, "a port from 0 to 65535", &value);
		o->port = (uint16_t)value;
		return ret;
	case KEY_LISTEN:
		o->listen = arg;
		return 0;
	case KEY_TARGET:
		o->target = arg;
		return target_check(arg) == 0 ? 0 : EINVAL;
	case KEY_FORCE:
		o->force = true;
		return 0;
	case KEY_DIRECT_WRITE:
		o->direct_write_to_pmem = true;
		return 0;
	case KEY_ONCE:
		o->once = true;
		return 0;
	case KEY_DEVICE:
		o->device = strcmp(arg, "auto") == 0 ? NULL : arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_words(int key, char *arg, struct options *o)
{
	int index = 0, ret;

	switch (key) {
	case KEY_TEST:
		ret = word("--test", arg, options_tests, "lat or bw", &index);
		o->test = (enum bench_test)index;
		return ret;
	case KEY_OP:
		ret = word("--op", arg, options_ops, "write or read", &index);
		o->op = (enum bench_op)index;
		return ret;
	case KEY_PERSIST:
		ret = word("--persist", arg, options_persists, "none or apm", &index);
		o->persist = (enum bench_persist)index;
		return ret;
	case KEY_COMPLETION:
		ret = word("--completion", arg, options_completions, "poll", &index);
		o->completion = (enum bench_completion)index;
		return ret;
	case KEY_PIN:
		if (strcmp(arg, "auto") != 0 && strcmp(arg, "none") != 0 &&
		    !topology_list_valid(arg))
			return cli_wrong_value("--pin", arg, "auto, none, or CPUs such as 2,4-7");
		o->pin = arg;
		return 0;
	case KEY_OUTPUT:
		o->output = arg;
		return 0;
	case KEY_JSON:
		o->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_amounts(int key, char *arg, struct options *o)
{
	uint64_t value = 0;
	int ret;

	switch (key) {
	case KEY_SIZE:
		return list("--size", arg, OPTIONS_SIZE_MAX,
			    "sizes from 1 to 1G, each once, as 64,4K or 64:1M:*2", &o->sizes);
	case KEY_DEPTH:
		return list("--depth", arg, OPTIONS_DEPTH_MAX,
			    "depths from 1 to 4096, each once, as 1,8 or 1:64:*2", &o->depths);
	case KEY_DURATION:
		return duration("--duration", arg, 1000000, "a time from 1ms to 24h, as 10s",
				&o->duration_ns);
	case KEY_WARMUP:
		return duration("--warmup", arg, 0, "a time from 0 to 24h, as 1s", &o->warmup_ns);
	case KEY_REPEATS:
		ret = number("--repeats", arg, 1, OPTIONS_REPEATS_MAX, "a number from 1 to 1000",
			     &value);
		o->repeats = (uint32_t)value;
		return ret;
	case KEY_SEED:
		o->seed_given = true;
		return number("--seed", arg, 0, INT64_MAX, "a number from 0 to 2^63-1", &o->seed);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_row(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	error_t ret = parse_place(key, arg, o);

	if (ret == ARGP_ERR_UNKNOWN)
		ret = parse_words(key, arg, o);
	return ret == ARGP_ERR_UNKNOWN ? parse_amounts(key, arg, o) : ret;
}

/* What no single row can see. */
static int check(struct options *o)
{
	if (o->op != BENCH_WRITE && o->persist != BENCH_NONE) {
		failure_set(EXIT_WRONG_USAGE, "options",
			    "--persist %s: only --op write has something to persist",
			    options_persists[o->persist]);
		return EINVAL;
	}
	if (o->sizes.count == 0)
		units_parse_sizes("64,256,1K,4K,16K,64K,256K,1M", &o->sizes);
	if (o->depths.count == 0)
		units_parse_sizes(o->test == BENCH_LAT ? "1" : "32", &o->depths);
	if (o->sizes.count == 0 || o->depths.count == 0) {
		failure_set(EXIT_INTERNAL, "options", "out of memory");
		return ENOMEM;
	}
	return 0;
}

static const struct argp port_group = {port_rows, parse_row, NULL, NULL, NULL, NULL, NULL};
static const struct argp listen_group = {listen_rows, parse_row, NULL, NULL, NULL, NULL, NULL};
static const struct argp target_group = {target_rows, parse_row, NULL, NULL, NULL, NULL, NULL};
static const struct argp device_group = {device_rows, parse_row, NULL, NULL, NULL, NULL, NULL};
static const struct argp measure_group = {measure_rows, parse_row, NULL, NULL, NULL, NULL, NULL};

/* Children of every mode: the rows of all tools first, then groups of ours. */
static error_t parse_mode(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	const struct argp_child *child = state->root_argp->children->argp->children;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->cli;
		for (size_t i = 1; child[i].argp != NULL; i++)
			state->child_inputs[i] = o;
		return 0;
	case ARGP_KEY_ARG:
		if (o->host != NULL) {
			failure_set(EXIT_WRONG_USAGE, "options", "unexpected argument %s", arg);
			return EINVAL;
		}
		o->host = arg;
		return 0;
	case ARGP_KEY_END:
		return o->cli.done ? 0 : check(o);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int parse(struct options *o, const struct argp *argp, const char *command, int argc,
		 char **argv)
{
	*o = (struct options){
		.listen = "127.0.0.1",
		.port = 7204,
		.target = "dram:64M",
		.duration_ns = 10000000000ULL,
		.warmup_ns = 1000000000ULL,
		.repeats = 5,
		.pin = "auto",
		.argc = argc,
		.argv = argv,
	};
	return cli_parse(argp, command, argc, argv, o);
}

static int no_host_expected(const struct options *o)
{
	if (o->host == NULL)
		return 0;
	return failure_set(EXIT_WRONG_USAGE, "options", "unexpected argument %s", o->host);
}

int options_parse_server(struct options *options, int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&cli_argp, 0, NULL, 0},     {&port_group, 0, NULL, 0},
		{&listen_group, 0, NULL, 0}, {&device_group, 0, NULL, 0},
		{&target_group, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		NULL,	  parse_mode,
		"",	  "Offer memory to clients. All else is the client's to say.",
		children, NULL,
		NULL};
	int ret = parse(options, &argp, "rpma-bench server", argc, argv);

	return ret ? ret : no_host_expected(options);
}

int options_parse_client(struct options *options, int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_argp, 0, NULL, 0},
						     {&port_group, 0, NULL, 0},
						     {&device_group, 0, NULL, 0},
						     {&measure_group, 0, NULL, 0},
						     {0}};
	static const struct argp argp = {
		NULL,	  parse_mode, "HOST", "Measure the memory of the server on HOST.",
		children, NULL,	      NULL};
	int ret = parse(options, &argp, "rpma-bench client", argc, argv);

	if (ret || options->cli.done)
		return ret;
	if (options->host == NULL)
		return failure_set(EXIT_WRONG_USAGE, "options",
				   "the host of the server is missing: rpma-bench client HOST");
	if (options->port == 0)
		return failure_set(EXIT_WRONG_USAGE, "options",
				   "--port 0: the port that the server printed was expected");
	return 0;
}

int options_parse_local(struct options *options, int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_argp, 0, NULL, 0},
						     {&device_group, 0, NULL, 0},
						     {&target_group, 0, NULL, 0},
						     {&measure_group, 0, NULL, 0},
						     {0}};
	static const struct argp argp = {
		NULL,	  parse_mode,
		"",	  "Measure this machine's RDMA device with a server and a client on it.",
		children, NULL,
		NULL};
	int ret = parse(options, &argp, "rpma-bench local", argc, argv);

	return ret ? ret : no_host_expected(options);
}

void options_free(struct options *options)
{
	units_list_free(&options->sizes);
	units_list_free(&options->depths);
}
