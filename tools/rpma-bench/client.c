/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client.c -- measures, and puts the result where it was asked for.
 *
 * The output is tried before the run. A complete run replaces the file in one
 * step. What a failed run had measured goes to FILE.partial, and so does that
 * of an interrupted one where FILE stands already: a good result is never lost
 * to a lesser one.
 */
#include "client.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

#define TOOL "rpma-bench"

static void judge(struct run *run, int ret)
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

/* Where the result of this run goes; false if nowhere. */
static bool choose_file(const struct run *run, char path[PATH_MAX])
{
	const char *output = run->options->output;
	bool beside = run->status == RUN_FAILED || (run->status == RUN_INTERRUPTED &&
						    output != NULL && access(output, F_OK) == 0);

	if (output == NULL || (run->status != RUN_COMPLETE && run->repeats_done == 0))
		return false;
	snprintf(path, PATH_MAX, "%s%s", output, beside ? ".partial" : "");
	return true;
}

static void say_how_it_ended(const struct run *run, const char *path)
{
	const char *reason = run->status == RUN_FAILED ? run->failure.text : "interrupted";

	fprintf(stderr, TOOL ": %s", reason);
	if (run->repeats_done > 0 || run->status == RUN_INTERRUPTED)
		fprintf(stderr, " (%zu of %zu repeats were measured%s%s)", run->repeats_done,
			run->plan.items_count, path ? " and are in " : "", path ? path : "");
	fputc('\n', stderr);
}

static void print_warnings(const json_t *document)
{
	const json_t *list = json_object_get(json_object_get(document, "run"), "warnings");
	const json_t *warning;
	size_t index;

	json_array_foreach(list, index, warning)
		fprintf(stderr, "%s: %s\n", json_string_value(json_object_get(warning, "code")),
			json_string_value(json_object_get(warning, "text")));
}

static int publish(struct run *run)
{
	const struct options *o = run->options;
	json_t *document = document_make(run);
	char path[PATH_MAX];
	bool has_file = choose_file(run, path);
	int ret = 0;

	if (!o->cli.quiet && run->repeats_done > 0) {
		table_print(run);
		print_warnings(document);
	}
	if (has_file)
		ret = result_write(path, document);
	/* neither output depends on the other */
	if (o->json && result_print(document) != 0)
		ret = -EIO;
	json_decref(document);
	/* the sentence of a failed run comes before that of its output */
	if (run->status != RUN_COMPLETE)
		say_how_it_ended(run, has_file && ret == 0 ? path : NULL);
	return ret == 0 ? run->exit_code : cli_report_failure(TOOL);
}

int client_run(const struct options *options)
{
	struct run run;
	int ret, code;

	if (options->output != NULL && result_check_writable(options->output) != 0)
		return cli_report_failure(TOOL);
	ret = run_open(&run, options);
	if (ret == 0)
		ret = run_measure(&run);
	else
		clock_gettime(CLOCK_REALTIME, &run.ended);
	judge(&run, ret);
	code = publish(&run);
	run_close(&run);
	return code;
}
