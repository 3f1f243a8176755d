/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_pmem.h -- the pieces of gather_target.c: from a device to the regions
 * and namespaces it is made of.
 */
#pragma once

#include "gather.h"

#define ND_DEVICES	"sys/bus/nd/devices"
#define GATHER_NAME_MAX 64

/* Takes a decimal number off a text; false: there is none, or none that fits. */
bool gather_number(const char **at, uint64_t *value);

/*
 * The names in a directory that are prefix and then numbers ("pmem" takes
 * "pmem0.1"), in order; how many there are, of which max are given.
 */
size_t gather_names(const struct sysroot *root, const char *directory, const char *prefix,
		    char (*names)[GATHER_NAME_MAX], size_t max);

/* The facts of CXL memory devices. */
void gather_cxl(const struct sysroot *root, struct facts_cxl *cxl);

/* Every region of the host with its DIMMs, and every namespace that is in use. */
void gather_host(const struct sysroot *root, struct facts_target *facts);

/* How many there are, at most FACTS_REGIONS_MAX. */
size_t gather_count(const struct sysroot *root);

/* Adds one, once. False for a region that is not persistent memory. */
bool gather_region(const struct sysroot *root, const char *name, struct facts_target *facts);
void gather_namespace(const struct sysroot *root, const char *name, struct facts_target *facts);

enum backing { BACKING_PMEM, BACKING_OTHER, BACKING_UNKNOWN };

/* Adds what a device of sysfs is made of: its region and its namespace. */
enum backing gather_backing(const struct sysroot *root, const char *directory,
			    struct facts_target *facts);
/* The same by the numbers in a name, for a tree whose devices are no links. */
enum backing gather_numbered(const struct sysroot *root, unsigned region, unsigned space,
			     struct facts_target *facts);
/* Leaves of the bad blocks of regions those within the target's namespaces. */
void gather_bad_ranges(const struct sysroot *root, struct facts_target *facts);
/* Lines of a badblocks file, from one byte of the device to another; -1: not readable. */
int64_t gather_bad_blocks(const struct sysroot *root, const char *path, int64_t from, int64_t to);

/* True if a block device is persistent memory; describes it in any case. */
bool gather_disk(const struct gather *g, const char *name, struct facts_target *facts);
/* "pmem0.1s" and "pmem0p1": region, namespace in it, and the disk without the partition. */
bool gather_parse_disk(const char *name, unsigned *region, unsigned *space,
		       char disk[GATHER_NAME_MAX]);
