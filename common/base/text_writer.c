/* SPDX-License-Identifier: BSD-3-Clause */
/* text_writer.c -- wraps text at words, and colours labels on a terminal. */
#include "text_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/failure.h"

#define COLUMNS_DEFAULT 80
#define COLUMNS_LEAST	50
#define COLUMNS_MOST	100 /* longer lines are hard to read */

static int columns_of(int fd)
{
	struct winsize size;

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return COLUMNS_DEFAULT;
	if (size.ws_col < COLUMNS_LEAST)
		return COLUMNS_LEAST;
	return size.ws_col < COLUMNS_MOST ? size.ws_col : COLUMNS_MOST;
}

/* The convention of most programs: https://no-color.org */
static bool takes_style(int fd)
{
	const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return isatty(fd) && (refused == NULL || refused[0] == '\0') && terminal != NULL &&
	       strcmp(terminal, "dumb") != 0;
}

void text_writer_open(struct text_writer *writer, FILE *file)
{
	*writer = (struct text_writer){file, columns_of(fileno(file)), takes_style(fileno(file))};
}

int text_writer_close(struct text_writer *writer)
{
	/* what failed earlier is in the flag, and its cause is gone */
	bool failed = ferror(writer->file) != 0;

	errno = 0;
	if (fflush(writer->file) == 0 && !failed)
		return 0;
	return failure_set(EXIT_RUN_FAILED, "output", "cannot write to standard output: %s",
			   errno != 0 ? strerror(errno) : "an earlier line was lost");
}

/* In UTF-8 only the byte that begins a character takes a column. */
static bool takes_column(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* C1 controls are 0xc2 and 0x80 to 0x9f in UTF-8; alone such a byte is none. */
static void put_char(const struct text_writer *writer, const char *c)
{
	unsigned char byte = (unsigned char)c[0], next = (unsigned char)c[1];
	bool control = byte < ' ' || byte == 0x7f || (byte == 0xc2 && next < 0xa0);

	putc(control ? '?' : byte, writer->file);
}

static void put_text(const struct text_writer *writer, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		put_char(writer, &text[i]);
}

static int width_of(const char *text, size_t len)
{
	int width = 0;

	for (size_t i = 0; i < len; i++)
		width += takes_column(text[i]);
	return width;
}

static void put_label(const struct text_writer *writer, enum text_style style, int column,
		      const char *label)
{
	static const char *const styles[] = {"",	 "\033[1m",    "\033[32m",
					     "\033[33m", "\033[1;31m", "\033[2m"};
	bool styled = writer->styled && style != TEXT_PLAIN && label[0] != '\0';
	int width = width_of(label, strlen(label));

	fputs(styled ? styles[style] : "", writer->file);
	put_text(writer, label, strlen(label));
	fputs(styled ? "\033[0m" : "", writer->file);
	if (width < column)
		fprintf(writer->file, "%*s", column - width, "");
}

/* How much of the text goes on a line of this width: whole words where it can. */
static size_t fit(const char *text, int width)
{
	size_t end = strcspn(text, "\n"), best = 0, at = 0;
	int used = 0;

	for (at = 0; at < end; at++) {
		if (text[at] == ' ')
			best = at;
		used += takes_column(text[at]);
		if (used > width && takes_column(text[at]))
			break;
	}
	if (at == end)
		return end;
	return best > 0 ? best : at;
}

void text_writer_line(struct text_writer *writer, enum text_style style, int column,
		      const char *label, const char *text)
{
	int width = writer->columns - column;

	if (text[0] != '\0')
		put_label(writer, style, column, label);
	else
		put_label(writer, style, 0, label);
	for (;;) {
		size_t len = fit(text, width);

		put_text(writer, text, len);
		putc('\n', writer->file);
		text += len;
		text += strspn(text, " ");
		text += *text == '\n';
		if (*text == '\0')
			break;
		if (*text != '\n')
			fprintf(writer->file, "%*s", column, "");
	}
}

void text_replace_controls(char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
	}
}
