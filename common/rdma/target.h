/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target.h -- the memory a server offers.
 *
 * dram:SIZE is anonymous memory, hugepages:SIZE too, of huge pages that were
 * reserved. PATH:SIZE makes a new file of that size, removed when the target is
 * closed. PATH alone is an existing file or a device DAX node, which is
 * overwritten: only with force.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum target_kind {
	TARGET_DRAM,
	TARGET_HUGEPAGES,
	TARGET_FILE,  /* in the page cache of a file system that stores what is synced */
	TARGET_FSDAX, /* a file mapped with MAP_SYNC */
	TARGET_DEVDAX,
	TARGET_MEMFILE,	  /* in a file system in memory, such as tmpfs */
	TARGET_OTHERFILE, /* in one that is not known to store */
	TARGET_KINDS,
};

struct target_cfg {
	bool force;
	int node; /* for anonymous memory; -1: left to the kernel */
	/* the range of an existing file or device DAX: the rest is neither mapped nor touched */
	uint64_t offset;
	uint64_t bytes;		    /* 0: all from the offset on */
	bool (*stopped)(void *arg); /* give up; NULL: never */
	void *arg;
};

struct target {
	enum target_kind kind;
	void *memory;
	size_t size_bytes;
	size_t page_bytes;	/* 0: unknown */
	int numa_node;		/* where its first page is; -1: unknown */
	int bind_error;		/* errno of binding it to the node wanted; 0: none */
	char *path;		/* NULL for anonymous memory */
	struct file_sync *sync; /* belongs to the file; NULL for anonymous memory */
	bool made;		/* the file is ours to remove */
};

/* Is the text well formed? It may still name nothing that can be opened. */
int target_check(const char *spec);

/* Maps and touches every page. -ECANCELED: it was stopped. */
int target_open(struct target *target, const char *spec, const struct target_cfg *cfg);
void target_close(struct target *target);

/* Names what keeps the bytes of an open file that is not mapped with MAP_SYNC. */
enum target_kind target_kind_of_file(int fd);

/* The word of the schema: "dram", "file", "devdax" ... */
const char *target_kind_name(enum target_kind kind);
/* No power failure spares it, whatever is flushed. */
static inline bool target_is_memory(enum target_kind kind)
{
	return kind == TARGET_DRAM || kind == TARGET_HUGEPAGES || kind == TARGET_MEMFILE;
}
/* Without DAX: what is written to it by RDMA stays in the page cache. */
static inline bool target_is_cached(enum target_kind kind)
{
	return kind == TARGET_FILE || kind == TARGET_MEMFILE || kind == TARGET_OTHERFILE;
}
