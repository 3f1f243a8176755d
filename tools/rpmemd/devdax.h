/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * devdax.h -- what sysfs has on a device DAX node.
 */
#ifndef RPMEMD_DEVDAX_H
#define RPMEMD_DEVDAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif /* RPMEMD_DEVDAX_H */
