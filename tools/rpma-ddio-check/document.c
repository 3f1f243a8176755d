/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * document.c -- the document, as JSON and as text: a paragraph for each check, the verdict last,
 * where it is read.
 *
 * The text is made of the document alone, so that the two never differ.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/text_writer.h"
#include "common/json/json_path.h"
#include "common/json/result.h"
#include "document.h"
#include "readiness/readiness.h"

static json_t *make_argv(const struct options *options)
{
	json_t *argv = json_array(), *value;

	for (int i = 0; i < options->argc; i++) {
		value = json_string(i > 0 ? options->argv[i] : "rpma-ddio-check");
		/* not UTF-8: the position is kept, the bytes cannot be */
		json_array_append_new(argv, value != NULL ? value : json_string("?"));
	}
	return argv;
}

static json_t *make_refused(const struct sysroot_refusals *refused)
{
	if (refused->count == 0)
		return json_null();
	return json_pack("{s:o, s:o}", "count", result_integer(refused->count), "first",
			 result_text(refused->first));
}

static json_t *choose_checks(const json_t *all, const char *only)
{
	json_t *chosen = json_array(), *check;
	size_t index;

	json_array_foreach(all, index, check) {
		if (options_list_has(only, json_string_value(json_object_get(check, "id"))))
			json_array_append(chosen, check);
	}
	return chosen;
}

static json_t *make_statement(const struct facts_claims *claims, const char *what, const char *why)
{
	return json_pack("{s:s, s:o, s:o, s:o}", "what", what, "why", result_text(why), "by",
			 result_text(claims->by), "at", result_text(claims->at));
}

/* The statements that the verdict may rest on beside evidence. */
static json_t *make_statements(const struct facts_claims *claims)
{
	json_t *statements = json_array();

	if (claims->ddio_assumed != KNOWN_NOT)
		json_array_append_new(
			statements,
			make_statement(claims,
				       claims->ddio_assumed == KNOWN_NO ? "ddio-off" : "ddio-on",
				       claims->why));
	if (claims->pmem_why[0] != '\0')
		json_array_append_new(statements, make_statement(claims, "pmem", claims->pmem_why));
	return statements;
}

json_t *document_run(const struct options *options, const struct sysroot_refusals *refused,
		     const struct timespec *started, int exit_code)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:i}", "started", result_time(started), "argv",
			 make_argv(options), "sysroot", result_text(options->sysroot), "refused",
			 make_refused(refused), "exit_code", exit_code);
}

json_t *document_make(const struct options *options, const struct readiness *readiness,
		      const struct sysroot_refusals *refused, const struct timespec *started)
{
	json_t *block = readiness_block(readiness);
	json_t *run = document_run(options, refused, started, readiness->row->exit_code);
	json_t *document =
		json_pack("{s:O, s:{s:s, s:s}, s:o}", "schema", json_object_get(block, "schema"),
			  "tool", "name", "rpma-ddio-check", "version", RPMA_VERSION, "run", run);

	json_object_update(document, block);
	json_object_set_new(document, "statements", make_statements(&options->claims));
	json_object_set_new(document, "checks",
			    choose_checks(json_object_get(block, "checks"), options->only));
	json_decref(block);
	return document;
}

#define COLUMN_SHORT 9
#define STEPS_MAX    3

static void put_reason(struct text_writer *writer, const json_t *document)
{
	const json_t *judgement = json_object_get(document, "judgement");
	const char *verdict = path_text(document, "verdict");
	int code = (int)json_integer_value(json_object_get(judgement, "exit_code"));
	char text[512];

	snprintf(text, sizeof(text), "(%s): %s", path_text(judgement, "row"),
		 path_text(judgement, "reason"));
	text_writer_line(writer,
			 code == 0   ? TEXT_GOOD
			 : code == 1 ? TEXT_BAD
				     : TEXT_DOUBTFUL,
			 (int)strlen(verdict) + 1, verdict, text);
}

static const char *placement_text(const json_t *device)
{
	static const struct {
		const char *placement, *text;
	} texts[] = {
		{"dma", "writes by DMA"},
		{"cpu", "the CPU copies"},
		{"no-rc", "no reliable connections"},
		{"unknown", "DMA or copies: unknown"},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (path_is(device, "placement", texts[i].placement))
			return texts[i].text;
	}
	return "none";
}

static void put_checked(struct text_writer *writer, const json_t *document)
{
	const json_t *device = json_object_get(document, "device");
	const json_t *target = json_object_get(document, "target");
	char text[512];

	snprintf(text, sizeof(text), "device %s (%s), target %s",
		 json_is_object(device) ? path_text(device, "name") : "none",
		 placement_text(device),
		 json_is_object(target) ? path_text(target, "path") : "none");
	text_writer_line(writer, TEXT_STRONG, COLUMN_SHORT, "Checked", text);
}

static void put_steps(struct text_writer *writer, const json_t *advice)
{
	const json_t *steps = json_object_get(advice, "steps"), *step;
	size_t index, count = json_array_size(steps);
	char text[640], number[32];

	json_array_foreach(steps, index, step) {
		if (index == STEPS_MAX)
			break;
		snprintf(number, sizeof(number), "%7zu.", index + 1);
		snprintf(text, sizeof(text), "%s (%s) %s %s", path_text(step, "text"),
			 path_text(step, "checks"),
			 json_is_true(json_object_get(step, "finds_out")) ? "If all is well there:"
									  : "Then:",
			 path_text(step, "verdict"));
		text_writer_line(writer, TEXT_STRONG, COLUMN_SHORT,
				 index == 0 ? "Do    1." : number, text);
	}
	if (count > STEPS_MAX) {
		snprintf(text, sizeof(text), "%zu more steps, then %s (--json has all of them).",
			 count - STEPS_MAX, path_text(advice, "verdict"));
		text_writer_line(writer, TEXT_STRONG, COLUMN_SHORT, "", text);
	}
}

static void put_obstacles(struct text_writer *writer, const json_t *document)
{
	const json_t *advice = json_object_get(document, "advice");
	const char *because = path_text(json_object_get(document, "judgement"), "because");
	const char *open = path_text(advice, "open");
	const bool any = json_array_size(json_object_get(advice, "steps")) > 0;

	/* without a step what is open is the same, and more */
	if (any && because[0] != '\0')
		text_writer_line(writer, TEXT_STRONG, COLUMN_SHORT, "Blocks", because);
	put_steps(writer, advice);
	if (open[0] != '\0')
		text_writer_line(writer, TEXT_STRONG, COLUMN_SHORT, any ? "Remains" : "Blocks",
				 open);
}

int summary_print(const json_t *document)
{
	const json_t *direct = json_object_get(document, "direct_write_to_pmem");
	struct text_writer writer;

	text_writer_open(&writer, stdout);
	put_reason(&writer, document);
	put_checked(&writer, document);
	put_obstacles(&writer, document);
	if (json_is_true(json_object_get(direct, "value")))
		text_writer_line(&writer, TEXT_STRONG, COLUMN_SHORT, "Use",
				 "rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true)");
	return text_writer_close(&writer);
}

#define COLUMN_LABEL 9
#define COLUMN_TEXT  18

static enum text_style ink_of(const char *word)
{
	static const struct {
		const char *word;
		enum text_style style;
	} styles[] = {
		{"PASS", TEXT_GOOD},
		{"WARN", TEXT_DOUBTFUL},
		{"ASSUMED", TEXT_DOUBTFUL},
		{"UNKNOWN", TEXT_DOUBTFUL},
		{"UNDETERMINED", TEXT_DOUBTFUL},
		{"GPSPM_ONLY", TEXT_DOUBTFUL},
		{"FAIL", TEXT_BAD},
		{"NOT_READY", TEXT_BAD},
		{"SKIP", TEXT_FAINT},
		{"INFO", TEXT_PLAIN},
	};

	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
		if (strcmp(word, styles[i].word) == 0)
			return styles[i].style;
	}
	return TEXT_GOOD;
}

static void put_part(struct text_writer *writer, const char *label, const char *text)
{
	char margin[COLUMN_TEXT + 1];

	snprintf(margin, sizeof(margin), "%*s%s", COLUMN_LABEL, "", label);
	if (text[0] != '\0')
		text_writer_line(writer, TEXT_FAINT, COLUMN_TEXT, margin, text);
}

/* The source of an expected value is printed on request only. */
static bool is_quiet(const char *status)
{
	return strcmp(status, "PASS") == 0 || strcmp(status, "INFO") == 0 ||
	       strcmp(status, "SKIP") == 0;
}

static void put_check(struct text_writer *writer, const json_t *check, bool verbose, bool head_only)
{
	const char *status = path_text(check, "status"), *value = path_text(check, "value");
	char label[64], head[512];

	snprintf(label, sizeof(label), "%-8s %s", status, path_text(check, "id"));
	snprintf(head, sizeof(head), "%s%s%s", path_text(check, "title"),
		 value[0] != '\0' ? ": " : "", value);
	text_writer_line(writer, ink_of(status), COLUMN_TEXT, label, head);
	if (head_only)
		return;
	put_part(writer, "means", path_text(check, "meaning"));
	put_part(writer, "fix", path_text(check, "fix"));
	if (verbose || !is_quiet(status))
		put_part(writer, "seen in", path_text(check, "source"));
}

/* Is the part of the id before the dash the same? */
static bool same_family(const char *a, const char *b)
{
	size_t len = strcspn(a, "-");

	return strncmp(a, b, len) == 0 && b[len] == '-';
}

/* Does the next one say the same, word for word? Then it is said once, there. */
static bool says_the_same(const json_t *check, const json_t *next)
{
	static const char *const keys[] = {"status", "meaning", "fix", "source"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(path_text(check, keys[i]), path_text(next, keys[i])) != 0)
			return false;
	}
	return next != NULL && strcmp(path_text(check, "status"), "SKIP") == 0 &&
	       same_family(path_text(check, "id"), path_text(next, "id"));
}

static void put_checks(struct text_writer *writer, const json_t *checks, bool verbose)
{
	const char *before = "";
	const json_t *check;
	size_t index;

	json_array_foreach(checks, index, check) {
		const char *id = path_text(check, "id");

		if (!same_family(id, before))
			text_writer_line(writer, TEXT_PLAIN, 0, "", "");
		put_check(writer, check, verbose,
			  says_the_same(check, json_array_get(checks, index + 1)));
		before = id;
	}
}

static void put_subject(struct text_writer *writer, const json_t *document)
{
	const json_t *device = json_object_get(document, "device");
	const json_t *target = json_object_get(document, "target");
	char text[512];

	snprintf(text, sizeof(text), "%s", path_text(json_object_get(document, "run"), "sysroot"));
	if (text[0] != '\0')
		text_writer_line(writer, TEXT_STRONG, COLUMN_LABEL, "Below", text);
	if (json_is_object(device))
		snprintf(text, sizeof(text), "%s (%s; placement: %s)", path_text(device, "name"),
			 path_text(device, "kind"), path_text(device, "placement"));
	else
		snprintf(text, sizeof(text), "none");
	text_writer_line(writer, TEXT_STRONG, COLUMN_LABEL, "Device", text);
	if (json_is_object(target))
		snprintf(text, sizeof(text), "%s (%s)", path_text(target, "path"),
			 path_text(target, "shape"));
	else
		snprintf(text, sizeof(text), "none: --target names the memory to be written");
	text_writer_line(writer, TEXT_STRONG, COLUMN_LABEL, "Target", text);
}

static void put_verdict(struct text_writer *writer, const json_t *document)
{
	const json_t *judgement = json_object_get(document, "judgement");
	const json_t *direct = json_object_get(document, "direct_write_to_pmem");
	const char *verdict = path_text(document, "verdict");
	char text[160];

	text_writer_line(writer, TEXT_PLAIN, 0, "", "");
	snprintf(text, sizeof(text), "(%s, exit status %d)", path_text(judgement, "row"),
		 (int)json_integer_value(json_object_get(judgement, "exit_code")));
	text_writer_line(writer, ink_of(verdict), (int)strlen(verdict) + 1, verdict, text);
	text_writer_line(writer, TEXT_PLAIN, COLUMN_LABEL, "", path_text(judgement, "reason"));
	if (path_text(judgement, "because")[0] != '\0')
		text_writer_line(writer, TEXT_PLAIN, COLUMN_LABEL, "",
				 path_text(judgement, "because"));
	snprintf(text, sizeof(text), "rpma_peer_cfg_set_direct_write_to_pmem(pcfg, %s)",
		 json_is_true(json_object_get(direct, "value")) ? "true" : "false");
	text_writer_line(writer, TEXT_STRONG, 0, text, "");
	text_writer_line(writer, TEXT_PLAIN, COLUMN_LABEL, "", path_text(direct, "why"));
}

int table_print_line(const json_t *document)
{
	const json_t *judgement = json_object_get(document, "judgement");
	const char *because = path_text(judgement, "because");
	struct text_writer writer;
	char text[1024];

	snprintf(text, sizeof(text), "%s (%s): %s%s%s", path_text(document, "verdict"),
		 path_text(judgement, "row"), path_text(judgement, "reason"),
		 because[0] != '\0' ? " " : "", because);
	text_writer_open(&writer, stdout);
	text_writer_line(&writer, TEXT_PLAIN, 0, text, "");
	return text_writer_close(&writer);
}

int table_print(const json_t *document, bool verbose)
{
	struct text_writer writer;

	text_writer_open(&writer, stdout);
	put_subject(&writer, document);
	put_checks(&writer, json_object_get(document, "checks"), verbose);
	put_verdict(&writer, document);
	return text_writer_close(&writer);
}
