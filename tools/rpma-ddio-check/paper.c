/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * paper.c -- wraps text at words, and colours labels on a terminal.
 */
#include "paper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/common/base/failure.h"

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

/* As most programs have it: https://no-color.org */
static bool takes_ink(int fd)
{
	const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return isatty(fd) && (refused == NULL || refused[0] == '\0') && terminal != NULL &&
	       strcmp(terminal, "dumb") != 0;
}

void paper_open(struct paper *paper, FILE *file)
{
	*paper = (struct paper){file, columns_of(fileno(file)), takes_ink(fileno(file))};
}

int paper_close(struct paper *paper)
{
	/* what failed earlier is in the flag, and its cause is gone */
	bool failed = ferror(paper->file) != 0;

	errno = 0;
	if (fflush(paper->file) == 0 && !failed)
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
static void put_char(const struct paper *paper, const char *c)
{
	unsigned char byte = (unsigned char)c[0], next = (unsigned char)c[1];
	bool control = byte < ' ' || byte == 0x7f || (byte == 0xc2 && next < 0xa0);

	putc(control ? '?' : byte, paper->file);
}

static void put_text(const struct paper *paper, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		put_char(paper, &text[i]);
}

static int width_of(const char *text, size_t len)
{
	int width = 0;

	for (size_t i = 0; i < len; i++)
		width += takes_column(text[i]);
	return width;
}

static void put_label(const struct paper *paper, enum paper_ink ink, int column, const char *label)
{
	static const char *const inks[] = {"",	       "\033[1m",    "\033[32m",
					   "\033[33m", "\033[1;31m", "\033[2m"};
	bool inked = paper->inked && ink != PAPER_PLAIN && label[0] != '\0';
	int width = width_of(label, strlen(label));

	fputs(inked ? inks[ink] : "", paper->file);
	put_text(paper, label, strlen(label));
	fputs(inked ? "\033[0m" : "", paper->file);
	if (width < column)
		fprintf(paper->file, "%*s", column - width, "");
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

void paper_line(struct paper *paper, enum paper_ink ink, int column, const char *label,
		const char *text)
{
	int width = paper->columns - column;

	if (text[0] != '\0')
		put_label(paper, ink, column, label);
	else
		put_label(paper, ink, 0, label);
	for (;;) {
		size_t len = fit(text, width);

		put_text(paper, text, len);
		putc('\n', paper->file);
		text += len;
		text += strspn(text, " ");
		text += *text == '\n';
		if (*text == '\0')
			break;
		if (*text != '\n')
			fprintf(paper->file, "%*s", column, "");
	}
}
