/* SPDX-License-Identifier: BSD-3-Clause */
/* mapping.h -- a range of a part in memory, and how it is made durable. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/rdma/gpspm.h"
#include "common/rdma/target.h"
#include "pool_files.h"

#define DEVDAX_SYSFS "/sys"

struct devdax {
	uint64_t bytes;
	size_t alignment;   /* mappings need it; a power of two */
	bool is_persistent; /* it is in a region of the kernel's type nd_pmem */
};

/* `sysfs` is DEVDAX_SYSFS but in tests. -ENODEV: the device is not device DAX. */
int devdax_read(const char *sysfs, dev_t device, struct devdax *devdax);

/*
 * Flushes the buffers of the memory controllers, for those whom the platform's power-fail
 * protection of these is not enough. 0 also where the platform has no such control;
 * -EACCES: only root may.
 */
int devdax_deep_flush(const char *sysfs, dev_t device);

struct mapping {
	struct target target; /* path and kind are the file's; the memory is mapped */
	struct persist persist;
	dev_t device; /* device DAX; else 0 */
	bool is_pmem; /* device DAX or MAP_SYNC; PMEM_IS_PMEM_FORCE overrules it */
};

/*
 * Maps the range where the caller has reserved addresses, and will unmap them; NULL:
 * anywhere, until mapping_close().
 */
int mapping_open(struct mapping *mapping, const struct pool_file *file, void *at, size_t bytes,
		 uint64_t file_offset);
void mapping_close(struct mapping *mapping);

/* The range is within the mapping, and not empty. 0, or -EIO with the error message set. */
int mapping_persist(const struct mapping *mapping, size_t offset, size_t length);
/* The same, down to the medium where the memory controllers have buffers before it. */
int mapping_deep_persist(const struct mapping *mapping, size_t offset, size_t length);
