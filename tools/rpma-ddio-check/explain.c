/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * explain.c -- prints the texts that the checks have of themselves.
 *
 * Their lines end where the source has no more room; on a terminal a new line
 * begins with each status, and all else flows.
 */
#include "explain.h"

#include <stdio.h>
#include <string.h>

#include "common/base/text_writer.h"
#include "options.h"

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

int explain(const char *list)
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
