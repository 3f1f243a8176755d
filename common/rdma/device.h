/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.h -- the RDMA devices of this host, as sysfs shows them; in a process
 * on the software device those of it, as the verbs show them.
 *
 * Before a connection exists this tells whether there is any device, which
 * addresses it can be reached at, and what it truly is: hardware or software.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/host/sysroot.h"

#define DEVICE_NAME_MAX	   64
#define DEVICE_ADDRESS_MAX 64

enum device_kind { DEVICE_HARDWARE, DEVICE_RXE, DEVICE_SIW, DEVICE_SOFT };

struct device {
	char name[DEVICE_NAME_MAX];
	enum device_kind kind;
	const char *transport;		  /* "roce", "ib", "iwarp", or NULL: unknown */
	char netdev[32];		  /* empty: unknown */
	char address[DEVICE_ADDRESS_MAX]; /* an address of the netdev; empty: none */
	char firmware[64];		  /* a software device's; sysfs has that of others */
};

/* *devices is malloced, sorted by name. A host without RDMA gives 0 devices. */
int device_list(const struct sysroot *root, struct device **devices, size_t *count);

/* The facts of one device; 0 or -ENOENT. */
int device_find(const struct sysroot *root, const char *name, struct device *device);

/* Its ports are known, and none of them is active. */
bool device_is_down(const struct sysroot *root, const char *name);

/* True if it is what --device asks for: NULL is any, "soft" any software device. */
bool device_is(const struct device *device, const char *asked);

/* "hardware", "rxe", "siw" or "soft". */
const char *device_kind_name(enum device_kind kind);

/*
 * Picks a device with an address: NULL or "auto" is the first such one, else
 * the named one. The error message names the remedy when there is none.
 */
int device_choose(const struct sysroot *root, const char *name, struct device *device);
