/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h -- the shared mappings of files in this process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct file_mapping {
	uint64_t start;
	uint64_t end;
	const char *path; /* as the kernel names it; valid during the visit */
};

/* Visits them in the order of addresses until `visit` returns false. -1: no /proc. */
int file_mappings(bool (*visit)(void *arg, const struct file_mapping *mapping), void *arg);
