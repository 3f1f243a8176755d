/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.h -- --all: the verdict of every RDMA device on every target of a host. */
#pragma once

#include "options.h"
#include "readiness/facts.h"

#define TARGETS_MAX 32

/* The persistent memory of a host that --target could name. */
struct targets {
	char paths[TARGETS_MAX][FACTS_PATH_MAX];
	size_t count;
	bool cut; /* there are more, or may be */
};

/*
 * Device DAX of persistent memory, and each pmem block device: where its file system is
 * mounted, else the device itself. By their names; none that cannot be seen.
 */
void targets_find(const struct sysroot *root, struct targets *targets);

/* Inspects each pair and prints; *exit_code is that of the worst verdict. */
int pairs_inspect(const struct options *options, const struct sysroot *root, int *exit_code);
