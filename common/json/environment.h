/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.h -- the facts of a host that explain its figures.
 *
 * The same code on both ends; the server sends its block to the client. What
 * cannot be learned is null.
 */
#pragma once

#include <jansson.h>

#include "common/host/sysroot.h"
#include "common/host/topology.h"

/* device is the name of an RDMA device, or NULL. topology may be NULL. */
json_t *environment_gather(const struct sysroot *root, const struct topology *topology,
			   const char *device);

/* Takes out of a block what tells which machine it is of: the host's name, the device's GUID. */
void environment_anonymise(json_t *block);

json_t *environment_power(const struct sysroot *root);

/* The parts that are about devices; an unknown device is null. */
json_t *environment_nic(const struct sysroot *root, const char *device);
/* Adds what the PCI configuration space has on an RDMA device to its facts. */
json_t *environment_pmem(const struct sysroot *root);

/* 1: the processor is emulated in software; 0: not; -1: unknown. */
int environment_emulated_cpu(const struct sysroot *root);

/* The version in the file name of a loaded library ("libibverbs.so"), or null. */
json_t *environment_library(const char *soname);
/* The loaded driver of the device ("mlx5-rdmav34"), or null. */
json_t *environment_provider(void);
