/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c -- the rows of the options, their parsers, and what no single option can see. */
#include "options.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/failure.h"

/* Tests set it; --sysroot is for people. */
#define SYSROOT_VARIABLE "RPMA_SYSROOT"

enum group { GROUP_WHAT = 1, GROUP_EVIDENCE, GROUP_WHERE, GROUP_OUTPUT, GROUP_CHANGE };

#define STATE "/run/rpma-ddio-check.json" /* gone after a boot, as what was set is */

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

static error_t parse_ids(const char *option, const char *list, void *to)
{
	const char *rest = list, *word;
	size_t len;

	while ((word = next_word(&rest, &len)) != NULL) {
		if (!is_known(word, len))
			return cli_wrong_value(option, list,
					       "ids such as DDIO-04,PM-06 (rpma-ddio-check "
					       "--explain all lists them)");
	}
	return cli_text(option, list, to);
}

static error_t parse_explain(const char *option, const char *list, void *to)
{
	return strcmp(list, "all") == 0 ? cli_text(option, list, to) : parse_ids(option, list, to);
}

/* A value that goes into the result must be text. */
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

/* Records who states something, and when: a wrong statement loses data. */
static void sign(struct facts_claims *claims)
{
	const struct passwd *user = getpwuid(getuid());
	const char *sudo = getenv("SUDO_USER");
	const time_t now = time(NULL);
	struct tm utc;

	if (user != NULL)
		snprintf(claims->by, sizeof(claims->by), "%.20s%s%.16s", user->pw_name,
			 sudo != NULL ? ", as " : "", sudo != NULL ? sudo : "");
	else
		snprintf(claims->by, sizeof(claims->by), "uid %u", (unsigned)getuid());
	if (!is_text(claims->by))
		claims->by[0] = '\0';
	if (gmtime_r(&now, &utc) != NULL)
		strftime(claims->at, sizeof(claims->at), "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static error_t parse_pmem(const char *option, const char *arg, void *claims)
{
	struct facts_claims *c = claims;

	if (arg[strspn(arg, " ")] == '\0')
		return cli_wrong_value(option, arg,
				       "a reason, as 'NVDIMMs of host db7, checked there'");
	sign(c);
	return copy_reason(c->pmem_why, sizeof(c->pmem_why), option, arg, arg);
}

static error_t parse_ddio(const char *option, const char *arg, void *claims)
{
	struct facts_claims *c = claims;
	const char *colon = strchr(arg, ':');
	size_t len = colon != NULL ? (size_t)(colon - arg) : strlen(arg);
	const char *why = colon != NULL ? colon + 1 : "";
	bool off = len == 3 && strncmp(arg, "off", len) == 0;
	bool on = len == 2 && strncmp(arg, "on", len) == 0;

	if ((!on && !off) || (off && why[strspn(why, " ")] == '\0'))
		return cli_wrong_value(
			option, arg, "on, or off:WHY, as 'off:disabled in the BIOS of this host'");
	c->ddio_assumed = off ? KNOWN_NO : KNOWN_YES;
	sign(c);
	return copy_reason(c->why, sizeof(c->why), option, arg, why);
}

static error_t parse_device(const char *option, const char *arg, void *to)
{
	size_t len = strlen(arg);

	if (len == 0 || len >= DEVICE_NAME_MAX || strchr(arg, '/') != NULL || !is_text(arg))
		return cli_wrong_value(option, arg,
				       "auto, or the name of an RDMA device, as mlx5_0, its PCI "
				       "address, a network interface, or an IP address");
	return cli_text_or_auto(option, arg, to);
}

static error_t take_path(const char *option, const char *arg, size_t room, void *to)
{
	if (arg[0] == '\0' || strlen(arg) >= room)
		return cli_wrong_value(option, arg, "a path of reasonable length");
	return cli_text(option, arg, to);
}

static error_t parse_target(const char *option, const char *arg, void *to)
{
	return take_path(option, arg, FACTS_PATH_MAX, to);
}

const char *const options_set_words[] = {
	[SET_OFF] = "ddio=off", [SET_ON] = "ddio=on", [SET_RESTORE] = "ddio=restore"};

static error_t parse_set(const char *option, const char *arg, void *to)
{
	for (enum set_choice set = SET_OFF; set <= SET_RESTORE; set++) {
		if (strcmp(arg, options_set_words[set]) == 0) {
			*(enum set_choice *)to = set;
			return 0;
		}
	}
	return cli_wrong_value(option, arg, "ddio=off, ddio=on or ddio=restore");
}

static error_t parse_path(const char *option, const char *arg, void *to)
{
	return take_path(option, arg, PATH_MAX, to);
}

#define TO(member) offsetof(struct options, member)
_Static_assert(offsetof(struct options, cli) == 0, "rows count from the struct cli");

static const struct cli_row rows[] = {
	{"device", 0, "auto|NAME",
	 "RDMA device to look at, by its name, PCI address, network interface or IP address; "
	 "auto is the first that is hardware, else the first (auto)",
	 GROUP_WHAT, parse_device, TO(device), 0},
	{"target", 't', "PATH",
	 "Memory that is to be written remotely: a device DAX node, a file or directory on "
	 "fsdax, a PMem block device (none)",
	 GROUP_WHAT, parse_target, TO(target), 0},
	{"all", 0, NULL,
	 "Inspect every RDMA device with every persistent memory, and print a table of the "
	 "verdicts",
	 GROUP_WHAT, cli_flag, TO(all), 0},
	{"assume-ddio", 0, "on|off:WHY",
	 "Accept your statement about DDIO, for the reason WHY; the result records it",
	 GROUP_EVIDENCE, parse_ddio, TO(claims), 0},
	{"assume-pmem", 0, "WHY",
	 "Accept your statement that what a hypervisor shows as persistent memory is persistent "
	 "on its host, for the reason WHY; the result records it",
	 GROUP_EVIDENCE, parse_pmem, TO(claims), 0},
	{"probe", 0, NULL,
	 "Measure with traffic whether device writes reach memory: needs root and rpma-bench",
	 GROUP_EVIDENCE, cli_flag, TO(probe), 0},
	{"lenient", 0, NULL,
	 "Accept DDIO as off on what the registers show, even if that is not certain",
	 GROUP_EVIDENCE, cli_flag, TO(lenient), 0},
	{"sysroot", 0, "DIR", "Look at the tree of files below DIR, not this machine", GROUP_WHERE,
	 parse_path, TO(sysroot), 0},
	{"dump-facts", 0, "DIR",
	 "Copy all that was looked at to DIR, a new or empty directory, with names, serial "
	 "numbers and addresses hashed",
	 GROUP_WHERE, parse_path, TO(dump_facts), 0},
	{"only", 0, "ID[,...]", "Show these checks only; the verdict goes by all", GROUP_OUTPUT,
	 parse_ids, TO(only), 0},
	{"explain", 0, "ID[,...]|all", "Explain checks, and look at nothing", GROUP_OUTPUT,
	 parse_explain, TO(explain), 0},
	{"short", 0, NULL,
	 "Print the verdict, what stands in its way, and what to do in which order, with the "
	 "verdict that each step leads to",
	 GROUP_OUTPUT, cli_flag, TO(short_form), 0},
	{"why-not", 0, NULL, "The same as --short", GROUP_OUTPUT, cli_flag, TO(short_form), 0},
	CLI_ROW_JSON(GROUP_OUTPUT),
	{"set", 0, "ddio=off|on|restore",
	 "As root, switch allocation of device writes in the root ports of the device, and do "
	 "nothing else; Skylake-SP, Cascade Lake and Cooper Lake only",
	 GROUP_CHANGE, parse_set, TO(set), 0},
	{"dry-run", 0, NULL, "With --set: print what would be written", GROUP_CHANGE, cli_flag,
	 TO(dry_run), 0},
	{"state", 0, "FILE", "With --set: where former values are kept (" STATE ")", GROUP_CHANGE,
	 parse_path, TO(state), 0},
	{0},
};

/* A state given with --sysroot belongs neither to this machine nor to the tree. */
static int check_set(struct options *o)
{
	if (o->set == SET_NOTHING) {
		if (o->dry_run || o->state != NULL)
			return failure_usage("--dry-run and --state are for --set");
		return 0;
	}
	if (o->json || o->short_form || o->probe || o->explain != NULL || o->dump_facts != NULL ||
	    o->target != NULL)
		return failure_usage("--set does nothing else: expected no --json, --short, "
				     "--probe, --explain, --dump-facts or --target");
	if (o->state == NULL && o->sysroot != NULL && !o->dry_run)
		return failure_usage("--set with --sysroot: expected --state FILE");
	if (o->state == NULL)
		o->state = STATE;
	return 0;
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
		return failure_usage(
			"--target %s: expected a path from the root of --sysroot, as /dev/dax0.0",
			o->target);
	if (o->all &&
	    (o->device != NULL || o->target != NULL || o->set != SET_NOTHING || o->probe ||
	     o->short_form || o->only != NULL || o->explain != NULL || o->dump_facts != NULL))
		return failure_usage(
			"--all takes every device and target: expected no --device, --target, "
			"--set, --probe, --short, --only, --explain or --dump-facts");
	if (check_set(o) != 0)
		return -EINVAL;
	if (o->explain != NULL && o->json)
		return failure_usage("--explain and --json: an explanation is text");
	return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
	static const struct cli_row *const tables[] = {rows, NULL};
	static const struct cli_command command = {
		.name = "rpma-ddio-check",
		.text = "Is this machine ready for remote persistent memory? It only reads, except "
			"with --set.",
		.tables = tables,
	};
	int ret;

	*options = (struct options){.claims.ddio_assumed = KNOWN_NOT, .argc = argc, .argv = argv};
	ret = cli_parse(&command, argc, argv, &options->cli);
	if (ret || options->cli.done)
		return ret;
	return complete(options);
}
