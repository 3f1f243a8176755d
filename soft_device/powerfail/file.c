/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file.c -- which memory of this process is a file: its shared mappings, from
 * /proc/self/maps.
 *
 * Asked at registration, for what has to be journalled, and by fsync(), for what a file
 * covers. Memory mapped MAP_SHARED | MAP_ANONYMOUS has a name there as well, and is none.
 */
#include "file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "powerfail.h"

/*
 * A line of proc_pid_maps(5): "start-end rights offset device inode  path". False when it
 * is not a shared mapping of a file.
 */
static bool parse_mapping(char *text, struct file_mapping *mapping)
{
	char *rights;

	text[strcspn(text, "\n")] = '\0';
	mapping->start = strtoull(text, &text, 16);
	if (*text++ != '-')
		return false;
	mapping->end = strtoull(text, &rights, 16);
	mapping->path = strchr(rights, '/');
	return strlen(rights) > 5 && rights[4] == 's' && mapping->path != NULL &&
	       strncmp(mapping->path, "/dev/zero", strlen("/dev/zero")) != 0;
}

int file_mappings(bool (*visit)(void *arg, const struct file_mapping *mapping), void *arg)
{
	char *text = NULL;
	size_t room = 0;
	FILE *maps = fopen("/proc/self/maps", "re");

	if (maps == NULL)
		return -1;
	while (getline(&text, &room, maps) > 0) {
		struct file_mapping mapping;

		if (parse_mapping(text, &mapping) && !visit(arg, &mapping))
			break;
	}
	free(text);
	fclose(maps);
	return 0;
}

struct search {
	uint64_t start;
	uint64_t end;
	bool found;
};

static bool overlaps(void *arg, const struct file_mapping *mapping)
{
	struct search *search = arg;

	search->found = mapping->start < search->end && search->start < mapping->end;
	return !search->found;
}

uint32_t powerfail_file(const void *addr, size_t length)
{
	struct search search = {(uintptr_t)addr, (uintptr_t)addr + length, false};

	/* without /proc it is taken for one: a line too many in the journal does no harm */
	return file_mappings(overlaps, &search) != 0 || search.found;
}
