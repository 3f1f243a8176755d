/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json.c -- findings as lines of JSON, appended to a file that processes may share: one write(2)
 * for each line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "symbol.h"

static int file = -1;
static bool is_refused; /* said once */

static bool is_open(void)
{
	if (check_words.json[0] == '\0' || is_refused)
		return false;
	if (file < 0)
		file = open(check_words.json, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (file < 0) {
		is_refused = true;
		process_warn("check: json=%s: %s", check_words.json, strerror(errno));
	}
	return file >= 0;
}

static FILE *begin(char **text, size_t *bytes)
{
	return is_open() ? open_memstream(text, bytes) : NULL;
}

static void end(FILE *out, char **text, const size_t *bytes)
{
	fputc('\n', out);
	if (fclose(out) == 0 && *text != NULL && write(file, *text, *bytes) < 0)
		process_warn("check: json=%s: cannot be written", check_words.json);
	free(*text);
}

/* The bytes of the character of UTF-8 that begins there; 0: none does. */
static unsigned character_bytes(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned bytes = at[0] < 0x80   ? 1
			       : at[0] < 0xc2 ? 0
			       : at[0] < 0xe0 ? 2
			       : at[0] < 0xf0 ? 3
			       : at[0] < 0xf5 ? 4
					      : 0;

	for (unsigned i = 1; i < bytes; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0; /* longer than it has to be, a surrogate, or beyond Unicode */
	return bytes;
}

/* Other bytes, of a name in another encoding or one that was cut, become U+FFFD. */
static void put_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (unsigned bytes; *text != '\0'; text += bytes > 0 ? bytes : 1) {
		const unsigned char byte = (unsigned char)*text;

		bytes = character_bytes(text);
		if (byte == '"' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (byte < 0x20)
			fprintf(out, "\\u%04x", byte);
		else if (bytes == 0)
			fputs("\\ufffd", out);
		else
			fwrite(text, 1, bytes, out);
	}
	fputc('"', out);
}

static void put_frame(FILE *out, const struct symbol *symbol)
{
	fputs("{\"function\":", out);
	put_text(out, symbol->function);
	fputs(",\"file\":", out);
	put_text(out, symbol->file);
	if (symbol->line > 0)
		fprintf(out, ",\"line\":%d", symbol->line);
	fputc('}', out);
}

static void put_stack(FILE *out, const struct stack *stack)
{
	struct symbol_walk walk = {.stack = stack};
	const struct symbol *symbol;
	bool is_first = true;

	fputc('[', out);
	while ((symbol = symbol_next(&walk)) != NULL) {
		if (!is_first)
			fputc(',', out);
		is_first = false;
		put_frame(out, symbol);
	}
	fputc(']', out);
}

void json_finding(const struct check_finding *finding)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = begin(&text, &bytes);

	if (out == NULL)
		return;
	fprintf(out, "{\"finding\":\"%s\",\"level\":\"%s\",\"pid\":%d,\"sentence\":",
		check_kinds[finding->kind].id, check_level_name(finding->level), (int)getpid());
	put_text(out, finding->sentence);
	fputs(",\"stack\":", out);
	put_stack(out, stack_get(finding->stack));
	fputs(",\"details\":{", out);
	for (unsigned i = 0; i < finding->lines; i++) {
		if (i > 0)
			fputc(',', out);
		put_text(out, finding->line[i].name);
		fputc(':', out);
		if (finding->line[i].stack != 0)
			put_stack(out, stack_get(finding->line[i].stack));
		else
			put_text(out, finding->line[i].text);
	}
	fputs("}}", out);
	end(out, &text, &bytes);
}

void json_withdrawn(enum check_kind kind, uint32_t stack, const char *why)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = begin(&text, &bytes);

	if (out == NULL)
		return;
	fprintf(out, "{\"withdrawn\":\"%s\",\"pid\":%d,\"why\":", check_kinds[kind].id,
		(int)getpid());
	put_text(out, why);
	fputs(",\"stack\":", out);
	put_stack(out, stack_get(stack));
	fputc('}', out);
	end(out, &text, &bytes);
}

void json_end(void)
{
	char line[200];
	int length;

	if (!is_open())
		return;
	length = snprintf(
		line, sizeof(line),
		"{\"pid\":%d,\"errors\":%u,\"warnings\":%u,\"suppressed\":%u,\"requests\":%llu,"
		"\"held\":%llu}\n",
		(int)getpid(), atomic_load(&check_counts.errors),
		atomic_load(&check_counts.warnings), atomic_load(&check_counts.suppressed),
		(unsigned long long)atomic_load(&check_requests),
		(unsigned long long)(atomic_load(&check_requests) - atomic_load(&check_passed)));
	if (length > 0 && write(file, line, (size_t)length) < 0)
		process_warn("check: json=%s: cannot be written", check_words.json);
}
