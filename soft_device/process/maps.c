/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * maps.c -- /proc/self/maps, line by line.
 */
#include "maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of proc_pid_maps(5): "from-to rwxs offset device inode   path". False: another. */
static bool parse(char *at, struct maps_line *line)
{
	at[strcspn(at, "\n")] = '\0';
	line->from = strtoull(at, &at, 16);
	if (*at++ != '-')
		return false;
	line->to = strtoull(at, &at, 16);
	if (strlen(at) < 6 || at[0] != ' ' || at[5] != ' ')
		return false;
	line->may_read = at[1] == 'r';
	line->may_write = at[2] == 'w';
	line->is_shared = at[4] == 's';
	at += 5;
	for (int field = 0; field < 3; field++) { /* offset, device, inode */
		at += strspn(at, " ");
		at += strcspn(at, " ");
	}
	line->path = at + strspn(at, " ");
	return true;
}

int maps_visit(bool (*visit)(void *arg, const struct maps_line *line), void *arg)
{
	char *text = NULL;
	size_t room = 0;
	FILE *maps = fopen("/proc/self/maps", "re");

	if (maps == NULL)
		return -1;
	while (getline(&text, &room, maps) > 0) {
		struct maps_line line;

		if (parse(text, &line) && !visit(arg, &line))
			break;
	}
	free(text);
	fclose(maps);
	return 0;
}
