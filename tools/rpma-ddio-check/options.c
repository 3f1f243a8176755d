/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c -- the rows of the options, their parsers, and what no single
 * option can see.
 */
#include "options.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/base/failure.h"

/* Tests set it; --sysroot is for people. */
#define SYSROOT_VARIABLE "RPMA_SYSROOT"

enum key {
	KEY_DEVICE = CLI_KEY_FIRST,
	KEY_JSON,
	KEY_ONLY,
	KEY_EXPLAIN,
	KEY_ASSUME,
	KEY_ASSUME_PMEM,
	KEY_LENIENT,
	KEY_PROBE,
	KEY_SYSROOT,
	KEY_DUMP,
	KEY_TARGET = 't',
};

enum group { GROUP_WHAT = 1, GROUP_EVIDENCE, GROUP_WHERE, GROUP_OUTPUT };

static const struct argp_option rows[] = {
	{"device", KEY_DEVICE, "auto|NAME", 0,
	 "RDMA device to look at; auto is the first that is hardware, else the first (auto)",
	 GROUP_WHAT},
	{"target", KEY_TARGET, "PATH", 0,
	 "Memory that is to be written remotely: a device DAX node, a file or directory on "
	 "fsdax, a PMem block device (none)",
	 GROUP_WHAT},
	{"assume-ddio", KEY_ASSUME, "on|off:WHY", 0,
	 "Accept your statement about DDIO, for the reason WHY; the result records it",
	 GROUP_EVIDENCE},
	{"assume-pmem", KEY_ASSUME_PMEM, "WHY", 0,
	 "Accept your statement that what a hypervisor shows as persistent memory is persistent "
	 "on its host, for the reason WHY; the result records it",
	 GROUP_EVIDENCE},
	{"probe", KEY_PROBE, NULL, 0,
	 "See by traffic whether device writes reach memory: needs root and rpma-bench",
	 GROUP_EVIDENCE},
	{"lenient", KEY_LENIENT, NULL, 0,
	 "Take DDIO for off where the registers show it so, but not beyond doubt", GROUP_EVIDENCE},
	{"sysroot", KEY_SYSROOT, "DIR", 0, "Look at the tree of files below DIR, not this machine",
	 GROUP_WHERE},
	{"dump-facts", KEY_DUMP, "DIR", 0,
	 "Copy all that was looked at to DIR, a new or empty directory, with names, serial "
	 "numbers and addresses hashed",
	 GROUP_WHERE},
	{"only", KEY_ONLY, "ID[,...]", 0, "Show these checks only; the verdict goes by all",
	 GROUP_OUTPUT},
	{"explain", KEY_EXPLAIN, "ID[,...]|all", 0, "Explain checks, and look at nothing",
	 GROUP_OUTPUT},
	{"json", KEY_JSON, NULL, 0, "Write the result, as JSON, to standard output", GROUP_OUTPUT},
	{0},
};

/* The word at *list, which moves on; NULL at the end. */
static const char *next_word(const char **list, size_t *len)
{
	const char *word = *list;

	if (word == NULL)
		return NULL;
	*len = strcspn(word, ",");
	*list = word[*len] == ',' ? word + *len + 1 : NULL;
	return word;
}

static bool is_id(const char *word, size_t len, const char *id)
{
	return strlen(id) == len && strncasecmp(word, id, len) == 0;
}

bool options_list_has(const char *list, const char *id)
{
	const char *word;
	size_t len;

	if (list == NULL || strcmp(list, "all") == 0)
		return true;
	while ((word = next_word(&list, &len)) != NULL) {
		if (is_id(word, len, id))
			return true;
	}
	return false;
}

static bool is_known(const char *word, size_t len)
{
	const struct readiness_check *check;

	for (size_t i = 0; (check = readiness_check_at(i)) != NULL; i++) {
		if (is_id(word, len, check->id))
			return true;
	}
	return false;
}

static error_t check_ids(const char *option, const char *list)
{
	const char *rest = list, *word;
	size_t len;

	while ((word = next_word(&rest, &len)) != NULL) {
		if (!is_known(word, len))
			return cli_wrong_value(option, list,
					       "ids such as DDIO-04,PM-06 (rpma-ddio-check "
					       "--explain all lists them)");
	}
	return 0;
}

/* What goes into the result must be text. */
static bool is_text(const char *text)
{
	json_t *value = json_string(text);

	json_decref(value);
	for (const char *c = text; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	}
	return value != NULL;
}

static error_t copy_reason(char *to, size_t room, const char *option, const char *arg,
			   const char *why)
{
	if (strlen(why) >= room || !is_text(why))
		return cli_wrong_value(option, arg, "a reason of 127 bytes of text at most");
	snprintf(to, room, "%s", why);
	return 0;
}

static error_t assume_pmem(struct options *o, const char *arg)
{
	if (arg[strspn(arg, " ")] == '\0')
		return cli_wrong_value("--assume-pmem", arg,
				       "a reason, as 'NVDIMMs of host db7, checked there'");
	return copy_reason(o->claims.pmem_why, sizeof(o->claims.pmem_why), "--assume-pmem", arg,
			   arg);
}

static error_t assume(struct options *o, const char *arg)
{
	const char *colon = strchr(arg, ':');
	size_t len = colon != NULL ? (size_t)(colon - arg) : strlen(arg);
	const char *why = colon != NULL ? colon + 1 : "";
	bool off = len == 3 && strncmp(arg, "off", len) == 0;
	bool on = len == 2 && strncmp(arg, "on", len) == 0;

	if ((!on && !off) || (off && why[strspn(why, " ")] == '\0'))
		return cli_wrong_value(
			"--assume-ddio", arg,
			"on, or off:WHY, as 'off:disabled in the BIOS of this host'");
	o->claims.ddio_assumed = off ? KNOWN_NO : KNOWN_YES;
	return copy_reason(o->claims.why, sizeof(o->claims.why), "--assume-ddio", arg, why);
}

static error_t set_device(struct options *o, const char *arg)
{
	size_t len = strlen(arg);

	if (len == 0 || len >= DEVICE_NAME_MAX || strchr(arg, '/') != NULL || !is_text(arg))
		return cli_wrong_value("--device", arg,
				       "auto, or the name of an RDMA device, as mlx5_0");
	o->device = strcmp(arg, "auto") == 0 ? NULL : arg;
	return 0;
}

static error_t set_path(const char **path, size_t room, const char *option, const char *arg)
{
	if (arg[0] == '\0' || strlen(arg) >= room)
		return cli_wrong_value(option, arg, "a path of reasonable length");
	*path = arg;
	return 0;
}

static error_t parse_row(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->cli;
		return 0;
	case ARGP_KEY_ARG:
		failure_set(EXIT_WRONG_USAGE, "options", "unexpected argument %s", arg);
		return EINVAL;
	case KEY_DEVICE:
		return set_device(o, arg);
	case KEY_TARGET:
		return set_path(&o->target, FACTS_PATH_MAX, "--target", arg);
	case KEY_ASSUME:
		return assume(o, arg);
	case KEY_ASSUME_PMEM:
		return assume_pmem(o, arg);
	case KEY_PROBE:
		o->probe = true;
		return 0;
	case KEY_LENIENT:
		o->lenient = true;
		return 0;
	case KEY_SYSROOT:
		return set_path(&o->sysroot, PATH_MAX, "--sysroot", arg);
	case KEY_DUMP:
		return set_path(&o->dump_facts, PATH_MAX, "--dump-facts", arg);
	case KEY_ONLY:
		o->only = arg;
		return check_ids("--only", arg);
	case KEY_EXPLAIN:
		o->explain = arg;
		return strcmp(arg, "all") == 0 ? 0 : check_ids("--explain", arg);
	case KEY_JSON:
		o->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int complete(struct options *o)
{
	const char *root = getenv(SYSROOT_VARIABLE);

	if (o->sysroot == NULL && root != NULL && root[0] != '\0')
		o->sysroot = root;
	if (o->sysroot != NULL && strcmp(o->sysroot, "/") == 0)
		o->sysroot = NULL;
	if (o->sysroot != NULL && o->target != NULL && o->target[0] != '/' &&
	    strncmp(o->target, "dram:", 5) != 0 && strncmp(o->target, "hugepages:", 10) != 0)
		return failure_set(EXIT_WRONG_USAGE, "options",
				   "--target %s: expected a path from the root of --sysroot, "
				   "as /dev/dax0.0",
				   o->target);
	if (o->explain != NULL && o->json)
		return failure_set(EXIT_WRONG_USAGE, "options",
				   "--explain and --json: an explanation is text");
	return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		rows,	  parse_row,
		"",	  "Is this machine ready for remote persistent memory? It only reads.",
		children, NULL,
		NULL};
	int ret;

	*options = (struct options){.claims.ddio_assumed = KNOWN_NOT, .argc = argc, .argv = argv};
	ret = cli_parse(&argp, "rpma-ddio-check", argc, argv, options);
	if (ret || options->cli.done)
		return ret;
	return complete(options);
}
