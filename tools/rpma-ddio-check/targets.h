/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * targets.h -- the persistent memory of a host that --target could name.
 */
#ifndef TARGETS_H
#define TARGETS_H

#include "readiness/facts.h"

#define TARGETS_MAX 32

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

#endif /* TARGETS_H */
