/* SPDX-License-Identifier: BSD-3-Clause */
/* maps.h -- the mappings of this process, as /proc/self/maps has them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct maps_line {
	uint64_t from;
	uint64_t to;
	bool may_read;
	bool may_write;
	bool is_shared;
	const char *path; /* as the kernel names it, "": none; valid during the visit */
};

/*
 * Visits them in the order of addresses, in which they do not overlap, until `visit` returns
 * false. -1: no /proc.
 */
int maps_visit(bool (*visit)(void *arg, const struct maps_line *line), void *arg);
