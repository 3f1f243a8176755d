/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * suppress.c -- findings that are not to be reported: lines KIND:FUNCTION of a file.
 *
 * Both are patterns of fnmatch(3); any function of the stack may match, so that what a library does
 * can be left out by its own functions, whatever its version.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "symbol.h"

struct suppression {
	struct suppression *next;
	char *kind;
	char *function;
};

static struct suppression *suppressions;

static int add(const char *kind, const char *function)
{
	struct suppression *made = calloc(1, sizeof(*made));

	if (made == NULL)
		return -ENOMEM;
	made->kind = strdup(kind);
	made->function = strdup(function);
	if (made->kind == NULL || made->function == NULL) {
		free(made->kind);
		free(made->function);
		free(made);
		return -ENOMEM;
	}
	made->next = suppressions;
	suppressions = made;
	return 0;
}

/* Blanks at both ends and comments go; NULL: nothing is left. */
static char *strip(char *line)
{
	size_t length;

	line[strcspn(line, "#\n")] = '\0';
	line += strspn(line, " \t");
	length = strlen(line);
	while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL)
		line[--length] = '\0';
	return length == 0 ? NULL : line;
}

int suppress_load(const char *file)
{
	FILE *in = fopen(file, "re");
	char *line = NULL, *text, *colon;
	size_t room = 0;
	int error = 0;

	if (in == NULL)
		return -errno;
	errno = 0;
	while (error == 0 && getline(&line, &room, in) > 0) {
		text = strip(line);
		if (text == NULL)
			continue;
		colon = strchr(text, ':');
		if (colon == NULL) {
			error = -EINVAL;
		} else {
			*colon = '\0';
			error = add(text, colon + 1);
		}
	}
	if (error == 0 && ferror(in))
		error = -errno;
	free(line);
	fclose(in);
	return error;
}

static bool names_one_of(const char *pattern, const struct stack *stack)
{
	struct symbol_walk walk = {.stack = stack};
	const struct symbol *symbol;

	if (stack == NULL)
		return strcmp(pattern, "*") == 0;
	while ((symbol = symbol_next(&walk)) != NULL)
		if (fnmatch(pattern, symbol->function, 0) == 0)
			return true;
	return false;
}

bool suppress_matches(enum check_kind kind, const struct stack *stack)
{
	const struct suppression *at = suppressions;

	while (at != NULL && (fnmatch(at->kind, check_kinds[kind].id, 0) != 0 ||
			      !names_one_of(at->function, stack)))
		at = at->next;
	return at != NULL;
}
