/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_files.h -- whether this process may open the device files of RDMA.
 *
 * librdmacm answers a file that it cannot open with whatever errno it had, so
 * the files themselves are asked. Failures have the exit code EXIT_NO_DEVICE.
 */
#ifndef COMMON_RDMA_DEVICE_FILES_H
#define COMMON_RDMA_DEVICE_FILES_H

#include "common/host/sysroot.h"

/* 0, or the failure: the RDMA CM, which every device needs, cannot be used. */
int device_files_check(const struct sysroot *root);

/*
 * To be asked once an address could not be opened: 0, or the failure, stored
 * instead of that one: a device may not be opened.
 */
int device_files_blame(const struct sysroot *root, const char *address);

#endif /* COMMON_RDMA_DEVICE_FILES_H */
