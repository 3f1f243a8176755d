/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_query.h -- which RDMA device --device means: by its name, its PCI address, a
 * network interface, or an IP address.
 */
#pragma once

#include "common/host/sysroot.h"
#include "common/rdma/device.h"

/*
 * The name of the device; the text itself where it leads to none, which is told on
 * standard error with the devices that there are. Fails, with a message, where it leads
 * to several.
 */
int device_query(const struct sysroot *root, const char *text, char name[DEVICE_NAME_MAX]);
