/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output.c -- puts the result of a run where it was asked for.
 *
 * A complete run replaces the file in one step. What a failed run had measured
 * goes to FILE.partial, and so does that of an interrupted one where FILE
 * stands already: a good result is never lost to a lesser one.
 */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/base/failure.h"
#include "common/base/text_writer.h"
#include "common/json/json_path.h"
#include "common/json/result.h"

#define GZIP_WINDOW (MAX_WBITS + 16) /* zlib.h, deflateInit2: 16 adds the header of gzip */
#define MEM_LEVEL   8		     /* its default */

/* Does the name of a file ask for it? */
static bool gzip_is_name(const char *path)
{
	const char *end = path != NULL ? strrchr(path, '.') : NULL;

	return end != NULL && strcmp(end, ".gz") == 0;
}

/* The text as the content of a .gz file, for free(); NULL: out of memory. */
static char *gzip_text(const char *text, size_t len, size_t *packed_len)
{
	z_stream stream = {0};
	char *packed = NULL;
	size_t most;

	if (len > UINT_MAX || deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
					   MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	most = deflateBound(&stream, (uLong)len);
	if (most <= UINT_MAX)
		packed = malloc(most);
	if (packed != NULL) {
		stream.next_in = (z_const Bytef *)(uintptr_t)text;
		stream.avail_in = (uInt)len;
		stream.next_out = (Bytef *)packed;
		stream.avail_out = (uInt)most;
		/* in one step, as there is room for all of it */
		if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
			free(packed);
			packed = NULL;
		}
		*packed_len = stream.total_out;
	}
	deflateEnd(&stream);
	return packed;
}

int publish_check(const struct options *o)
{
	int ret = o->output != NULL ? result_check_writable(o->output) : 0;

	return ret == 0 && o->csv != NULL ? result_check_writable(o->csv) : ret;
}

/* A document on standard output is alone there; the table for people makes way. */
static FILE *table_stream(const struct options *o)
{
	return o->json || o->csv_to_stdout ? stderr : stdout;
}

static char *document_text(const json_t *document, bool packed, size_t *len)
{
	char *text = compact_text(document, len), *plain = text;

	if (text == NULL || !packed)
		return text;
	text = gzip_text(plain, *len, len);
	free(plain);
	return text;
}

/* Into the file, or with NULL to standard output. */
static int write_document(const char *path, bool packed, const json_t *document)
{
	size_t len = 0;
	char *text = document_text(document, packed, &len);
	int ret;

	if (text == NULL)
		return failure_set(EXIT_INTERNAL, "output", "out of memory");
	ret = result_write_text(path, text, len);
	free(text);
	return ret;
}

static int print_document(const struct record *record, const json_t *document)
{
	const struct options *o = record->options;

	if (o->json)
		return write_document(NULL, false, document);
	return o->csv_to_stdout && record->repeats_done > 0 ? csv_write(NULL, document) : 0;
}

/* The table, the limits, and what is to be known of the figures. */
static int print_for_people(const struct options *o, const json_t *document)
{
	FILE *to = table_stream(o);

	if (!o->cli.quiet)
		table_print(to, document);
	table_print_slos(o->cli.quiet ? stderr : to, document, o->cli.quiet);
	searches_print(to, path_get(document, "run/searches"));
	if (to == stderr || (fflush(to) == 0 && !ferror(to)))
		return 0;
	return failure_set(EXIT_RUN_FAILED, "output", "cannot write to standard output");
}

/* The destination of an output file; false if there is none. */
static bool choose_file(const struct record *record, const char *output, char path[PATH_MAX])
{
	/* an endless run has no other end */
	bool cut = record->status == RUN_INTERRUPTED && !record->options->endless;
	bool beside = record->status == RUN_FAILED ||
		      (cut && output != NULL && access(output, F_OK) == 0);

	if (output == NULL || (record->status != RUN_COMPLETE && record->repeats_done == 0))
		return false;
	snprintf(path, PATH_MAX, "%s%s", output, beside ? ".partial" : "");
	return true;
}

static void say_how_it_ended(const struct record *record, const char *path)
{
	const char *journal = journal_path(record->journal);
	const char *reason = record->status == RUN_FAILED ? record->failure.text : "interrupted";

	fprintf(stderr, "%s: %s", program_invocation_short_name, reason);
	if (record->repeats_done > 0 || record->status == RUN_INTERRUPTED)
		fprintf(stderr, " (%zu of %zu repeats were measured%s%s%s)", record->repeats_done,
			record->plan.trials_count,
			record->repeats_cut > 0 ? ", the last one in part," : "",
			path ? " and are in " : "", path ? path : "");
	if (journal != NULL && record->repeats_done > 0)
		fprintf(stderr, "; --resume %s goes on with them", record->options->output);
	fputc('\n', stderr);
}

/* True if a warning with this code makes the exit status other than 0. */
static bool decides(const char *code, int exit_code)
{
	return strcmp(code, "VERIFY_MISMATCH") == 0 || strcmp(code, "VERIFY_MISSING") == 0 ||
	       (exit_code == EXIT_NO_DEVICE && strcmp(code, "POINT_UNSUPPORTED") == 0);
}

/* A terminal breaks lines anywhere; in a file, programs look for whole ones. */
static void print_warning(const char *code, const char *text)
{
	struct text_writer writer;
	char *line;

	if (!isatty(STDERR_FILENO) || asprintf(&line, "%s: %s", code, text) < 0) {
		fprintf(stderr, "%s: %s\n", code, text);
		return;
	}
	text_writer_open(&writer, stderr);
	text_writer_line(&writer, TEXT_PLAIN, 0, "", line);
	free(line);
}

/* On stderr, as they are no part of the table. */
static void print_warnings(const json_t *document, int exit_code, bool quiet)
{
	const json_t *list = path_get(document, "run/warnings");
	const json_t *warning;
	size_t index;

	json_array_foreach(list, index, warning) {
		const char *code = path_text(warning, "code");

		if (!quiet || decides(code, exit_code))
			print_warning(code, path_text(warning, "text"));
	}
}

static int write_files(const struct record *record, const json_t *document, char path[PATH_MAX])
{
	const struct options *o = record->options;
	char csv[PATH_MAX];
	int ret = 0;

	if (choose_file(record, o->csv, csv))
		ret = csv_write(csv, document);
	if (!choose_file(record, o->output, path))
		path[0] = '\0';
	else if (ret == 0)
		ret = write_document(path, gzip_is_name(o->output), document);
	return ret;
}

int publish(struct record *record, const json_t *document)
{
	const struct options *o = record->options;
	const json_t *verdict = path_get(document, "run/exit_code");
	int code = (int)json_integer_value(verdict), shown = 0, ret;
	char path[PATH_MAX] = "";

	if (record->repeats_done > 0) {
		shown = print_for_people(o, document);
		print_warnings(document, code, o->cli.quiet);
	}
	/* no output depends on another */
	ret = write_files(record, document, path);
	if (print_document(record, document) != 0 || shown != 0)
		ret = -EIO;
	/* the error message of a failed run comes before that of its output */
	if (record->status != RUN_COMPLETE)
		say_how_it_ended(record, path[0] != '\0' && ret == 0 ? path : NULL);
	journal_close(&record->journal, record->status == RUN_COMPLETE && ret == 0);
	return ret == 0 ? code : cli_report_failure(program_invocation_short_name);
}
