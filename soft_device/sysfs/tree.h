/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.h -- the devices as files: what a kernel has of them in /sys/class/infiniband,
 * /sys/class/infiniband_verbs, their targets in /sys/devices/virtual, and /dev/infiniband.
 *
 * Paths go in, nodes come out; nothing of the real file system is read. These folders are the
 * device's alone: what else the host has there is not shown, as ibv_get_device_list() does not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TREE_TEXT_MAX 64 /* bytes of a file or a link, with its NUL */
#define TREE_NAME_MAX 32

enum tree_kind {
	TREE_OTHER,   /* not a path of the device */
	TREE_MISSING, /* ours, and there is nothing */
	TREE_FOLDER,
	TREE_FILE,
	TREE_LINK,
	TREE_DEVICE, /* a character device */
};

struct tree_node {
	enum tree_kind kind;
	const struct tree_row *row;
	unsigned device; /* where the path names one: its index */
	unsigned entry;	 /* and of the GID table */
};

/* True if tree_find() can know a path; cheap, for calls that are made for each file. */
bool tree_may_know(const char *path);

/* An absolute path. A link that it ends in is followed, or is the answer. */
struct tree_node tree_find(const char *path, bool follow);

/* The content of a file or the target of a link; returns its length. */
size_t tree_text(const struct tree_node *node, char text[TREE_TEXT_MAX]);

/* The n-th entry of a folder; false beyond the last. */
bool tree_entry(const struct tree_node *folder, size_t n, char name[TREE_NAME_MAX],
		struct tree_node *entry);

/* The path of a node, without links on the way to it. */
void tree_path(const struct tree_node *node, char *path, size_t bytes);

/* st_rdev of a character device. */
dev_t tree_device_number(const struct tree_node *node);

/* Different for each node, as an inode's. */
ino_t tree_number(const struct tree_node *node);
