/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft.h -- the software RDMA device: being on it, and getting onto it.
 *
 * The device stands in for libibverbs and librdmacm in the whole process, so a
 * tool that wants it starts itself again under rpma-soft. What it offers is
 * not in sysfs; the verbs tell.
 */
#pragma once

#include "device.h"

/* True if this process is on the software device. */
bool soft_active(void);

/*
 * For tools that take --device: starts the tool again on the software device
 * when `device` is soft or one of its names, or is NULL (auto) and this host
 * has no RDMA device that works. Prints one line about it unless quiet. argv are
 * the words after the tool's name; NULL: it is never started again, and where
 * that would be, the failure has the command. 0: go on with what there is; it
 * does not return when it starts again.
 */
int soft_enter(const struct sysroot *root, const char *device, bool quiet, char *const *argv);

/* Do what device_list() and device_find() do, for the software device. */
int soft_list(struct device **devices, size_t *count);
int soft_find(const char *name, struct device *device);
