/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c -- rpma-ddio-check: explains checks, or opens the root, probes where asked to, has all
 * inspected, and prints what was found.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/failure.h"
#include "common/base/text_writer.h"
#include "common/host/sysroot.h"
#include "common/json/result.h"
#include "device_query.h"
#include "document.h"
#include "options.h"
#include "pairs.h"
#include "probe.h"
#include "readiness/advice.h"
#include "readiness/answers.h"
#include "readiness/gather.h"
#include "set_ddio.h"

static json_t *advise(const struct readiness *readiness, const struct advice_step *first)
{
	struct advice *advice = malloc(sizeof(*advice));
	json_t *document = NULL, *step;

	if (advice != NULL && advice_make(readiness, advice) == 0)
		document = advice_json(advice);
	else
		failure_set(EXIT_INTERNAL, "advice", "out of memory");
	if (document != NULL && first != NULL) {
		step = json_pack("{s:s, s:s, s:b, s:s}", "checks", first->checks, "text",
				 first->text, "finds_out", false, "verdict",
				 readiness_verdict_name(first->row->verdict));
		json_array_insert_new(json_object_get(document, "steps"), 0, step);
	}
	free(advice);
	return document;
}

/*
 * The first step is to name a target where none was given: it is then looked
 * at, as the hypothetical facts of a target could only be guessed.
 */
static json_t *advise_target(const struct options *o, const struct sysroot *root,
			     const char *target)
{
	struct readiness *readiness = calloc(1, sizeof(*readiness));
	const struct readiness_cfg cfg = {.root = root,
					  .device = o->device,
					  .target = target,
					  .claims = &o->claims,
					  .lenient = o->lenient};
	struct advice_step step = {.checks = "PM-01"};
	json_t *document = NULL;

	if (readiness == NULL) {
		failure_set(EXIT_INTERNAL, "advice", "out of memory");
		return NULL;
	}
	if (readiness_inspect(readiness, &cfg) == 0) {
		snprintf(step.text, sizeof(step.text), "Name the memory: --target %s", target);
		step.row = readiness->row;
		document = advise(readiness, &step);
	}
	readiness_free(readiness);
	free(readiness);
	return document;
}

/* "advice" of the schema; NULL, with a message, where it cannot be made. */
static json_t *recommend(const struct options *options, const struct sysroot *root,
			 const struct readiness *readiness)
{
	struct targets *targets = malloc(sizeof(*targets));
	json_t *document;

	if (targets == NULL) {
		failure_set(EXIT_INTERNAL, "advice", "out of memory");
		return NULL;
	}
	targets->count = 0;
	if (strcmp(readiness->row->name, "no-target") == 0)
		targets_find(root, targets);
	document = targets->count > 0 ? advise_target(options, root, targets->paths[0])
				      : advise(readiness, NULL);
	free(targets);
	return document;
}

/* Ends the copy, and adds facts.json, made of the answers that this machine gave. */
static int dump_end(struct sysroot *root, const char *directory, json_t *answers)
{
	char path[PATH_MAX];
	int ret = sysroot_record_end(root);

	/* below another root the answers are a file of it, recorded like any other */
	if (ret != 0 || !root->machine)
		return ret;
	if (json_object_set_new(answers, "schema", json_string(ANSWERS_SCHEMA)) != 0)
		return failure_set(EXIT_INTERNAL, "dump", "out of memory");
	if (snprintf(path, sizeof(path), "%s/facts.json", directory) >= (int)sizeof(path))
		return failure_set(EXIT_RUN_FAILED, "dump", "--dump-facts %s: the path is too long",
				   directory);
	return result_write(path, answers);
}

static int print(const struct options *o, const struct readiness *readiness,
		 const struct sysroot *root, const struct timespec *started)
{
	json_t *document;
	int ret;

	if (o->cli.quiet && !o->json && readiness->row->exit_code == EXIT_GOOD)
		return 0;
	document = document_make(o, readiness, root->refused, started);
	if (o->json || o->short_form) {
		json_t *advice = recommend(o, root, readiness);

		if (advice == NULL) {
			json_decref(document);
			return -EIO;
		}
		json_object_set_new(document, "advice", advice);
	}
	if (o->json)
		ret = result_write(NULL, document);
	else if (o->short_form)
		ret = summary_print(document);
	else if (o->cli.quiet)
		ret = table_print_line(document);
	else
		ret = table_print(document, o->cli.verbose);
	json_decref(document);
	return ret;
}

static void say_why(struct answers_probe *probe, const char *why)
{
	snprintf(probe->why, sizeof(probe->why), "%s", why);
}

/*
 * Traffic needs the one device that all else is about, and this machine: of a
 * tree that came from elsewhere facts.json has what its probe saw, if anything.
 */
static int probe(const struct options *o, const struct sysroot *root, struct answers_probe *probe)
{
	struct answers answers = {.root = root};
	struct facts_device *device = calloc(1, sizeof(*device));
	int ret = 0;

	if (device == NULL)
		return failure_set(EXIT_INTERNAL, "probe", "out of memory");
	if (!root->machine) {
		say_why(probe,
			"traffic can be sent on this machine only, and facts.json has no probe");
		goto out;
	}
	gather_device(&(struct gather){root, &answers}, o->device, device);
	if (!device->found)
		say_why(probe, "there is no RDMA device to send traffic with");
	else if (adapter_find(device->kind, &device->ids)->placement == ADAPTER_BY_CPU)
		say_why(probe, "the processor does the writes of this device");
	else
		ret = probe_run(root, device, probe);
out:
	free(device);
	return ret;
}

static int inspect_below(const struct options *o, const struct sysroot *root, json_t *record,
			 int *exit_code)
{
	struct readiness *readiness = calloc(1, sizeof(*readiness));
	struct facts_claims claims = o->claims;
	struct timespec started;
	int ret = 0;

	if (readiness == NULL)
		return failure_set(EXIT_INTERNAL, "start", "out of memory");
	clock_gettime(CLOCK_REALTIME, &started);
	if (o->probe)
		ret = probe(o, root, &claims.probe);
	if (ret == 0)
		ret = readiness_inspect(readiness, &(struct readiness_cfg){.root = root,
									   .device = o->device,
									   .target = o->target,
									   .claims = &claims,
									   .lenient = o->lenient,
									   .record = record});
	if (ret == 0) {
		*exit_code = readiness->row->exit_code;
		ret = print(o, readiness, root, &started);
	}
	readiness_free(readiness);
	free(readiness);
	return ret;
}

static int inspect_and_dump(const struct options *o, struct sysroot *root, int *exit_code)
{
	json_t *record = json_object();
	int ret = sysroot_record(root, o->dump_facts);

	if (ret == 0)
		ret = inspect_below(o, root, record, exit_code);
	if (ret == 0)
		ret = dump_end(root, o->dump_facts, record);
	json_decref(record);
	return ret;
}

/* *exit_code is that of the verdict; -errno with the error message set where there is none. */
static int inspect(const struct options *options, int *exit_code)
{
	const char *path = options->sysroot != NULL ? options->sysroot : "/";
	struct sysroot_refusals refusals = {0};
	char device[DEVICE_NAME_MAX];
	struct options own = *options; /* with the device that is meant */
	struct sysroot root;
	int ret = sysroot_open(&root, path);

	if (ret != 0 && root.machine)
		return failure_call("start", -ret, "open /");
	if (ret != 0)
		return failure_usage("--sysroot %s: %s", path, strerror(-ret));
	root.refused = &refusals;
	if (own.device != NULL) {
		ret = device_query(&root, own.device, device);
		own.device = device;
	}
	if (ret == 0 && own.set != SET_NOTHING)
		ret = set_ddio(&own, &root);
	else if (ret == 0 && own.all)
		ret = pairs_inspect(&own, &root, exit_code);
	else if (ret == 0)
		ret = own.dump_facts != NULL ? inspect_and_dump(&own, &root, exit_code)
					     : inspect_below(&own, &root, NULL, exit_code);
	sysroot_close(&root);
	if (refusals.count > 0)
		fprintf(stderr, "rpma-ddio-check: not taken below %s: %s%s\n", path, refusals.first,
			refusals.count > 1 ? ", and more" : "");
	return ret;
}

/*
 * Prints the texts that the checks have of themselves.
 *
 * Their lines end where the source has no more room; on a terminal a new line
 * begins with each status, and all else flows.
 */

#define COLUMN	 9
#define TEXT_MAX 4096

static bool begins_with_status(const char *line)
{
	for (int i = 0; i < READINESS_STATUSES; i++) {
		const char *name = readiness_status_name((enum readiness_status)i);
		size_t len = strlen(name);

		if (strncmp(line, name, len) == 0 &&
		    (line[len] == ':' || strncmp(line + len, " (", 2) == 0))
			return true;
	}
	return false;
}

static void reflow(const char *text, char flowing[TEXT_MAX])
{
	size_t i;

	for (i = 0; text[i] != '\0' && i < TEXT_MAX - 1; i++) {
		flowing[i] = text[i];
		if (text[i] == '\n' && !begins_with_status(&text[i + 1]))
			flowing[i] = ' ';
	}
	/* the last line's end is no space */
	flowing[i > 0 && text[i - 1] == '\n' ? i - 1 : i] = '\0';
}

/* To standard output; list as options_list_has() takes it. */
static int explain(const char *list)
{
	const struct readiness_check *check;
	char text[TEXT_MAX];
	struct text_writer writer;
	bool first = true;

	text_writer_open(&writer, stdout);
	for (size_t i = 0; (check = readiness_check_at(i)) != NULL; i++) {
		if (!options_list_has(list, check->id))
			continue;
		if (!first)
			text_writer_line(&writer, TEXT_PLAIN, 0, "", "");
		reflow(check->explain, text);
		text_writer_line(&writer, TEXT_STRONG, COLUMN, check->id, check->title);
		text_writer_line(&writer, TEXT_PLAIN, COLUMN, "", text);
		snprintf(text, sizeof(text), "For READY: UNKNOWN %s, WARN %s.",
			 readiness_effect_name(check->if_unknown),
			 readiness_effect_name(check->if_warn));
		text_writer_line(&writer, TEXT_PLAIN, COLUMN, "", text);
		first = false;
	}
	return text_writer_close(&writer);
}

#define TOOL "rpma-ddio-check"

const char *argp_program_version = TOOL " " RPMA_VERSION;

int main(int argc, char **argv)
{
	struct options options;
	int code = EXIT_GOOD;

	cli_reserve_standard_fds();
	if (options_parse(&options, argc, argv) != 0)
		return cli_report_failure(TOOL);
	if (options.cli.done)
		return EXIT_GOOD;
	if (cli_catch_signals() != 0)
		return cli_report_failure(TOOL);
	if ((options.explain != NULL ? explain(options.explain) : inspect(&options, &code)) != 0)
		return cli_signal != 0 ? 128 + cli_signal : cli_report_failure(TOOL);
	return code;
}
