/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file.c -- which memory of this process is a file: its shared mappings.
 *
 * Asked at registration, for what has to be journalled. Memory mapped MAP_SHARED |
 * MAP_ANONYMOUS has a name there as well, and is none.
 */
#include <string.h>

#include "powerfail.h"
#include "soft_device/process/maps.h"

struct search {
	uint64_t start;
	uint64_t end;
	bool found;
};

static bool overlaps(void *arg, const struct maps_line *line)
{
	struct search *search = arg;

	search->found = line->is_shared && line->path[0] == '/' &&
			strncmp(line->path, "/dev/zero", strlen("/dev/zero")) != 0 &&
			line->from < search->end && search->start < line->to;
	return !search->found;
}

uint32_t powerfail_file(const void *addr, size_t length)
{
	struct search search = {(uintptr_t)addr, (uintptr_t)addr + length, false};

	/* without /proc it is taken for one: a line too many in the journal does no harm */
	return maps_visit(overlaps, &search) != 0 || search.found;
}
