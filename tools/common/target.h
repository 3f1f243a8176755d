/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target.h -- the memory a server offers.
 *
 * dram:SIZE is anonymous memory. PATH:SIZE makes a new file of that size,
 * removed when the target is closed. PATH alone is an existing file or a
 * device DAX node, which is overwritten: only with force.
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum target_kind {
	TARGET_DRAM,
	TARGET_HUGEPAGES,
	TARGET_FILE,
	TARGET_FSDAX, /* a file mapped with MAP_SYNC */
	TARGET_DEVDAX,
	TARGET_KINDS,
};

struct target {
	enum target_kind kind;
	void *memory;
	size_t size_bytes;
	int numa_node; /* -1: unknown */
	char *path;    /* NULL for dram */
	bool made;     /* the file is ours to remove */
};

/* Is the text well formed? It may still name nothing that can be opened. */
int target_check(const char *spec);

/* Maps and touches every page. */
int target_open(struct target *target, const char *spec, bool force);
void target_close(struct target *target);

/* The word of the schema: "dram", "file", "devdax" ... */
const char *target_kind_name(enum target_kind kind);

#endif /* TARGET_H */
