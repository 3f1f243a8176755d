/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_cxl.c -- the CXL memory devices with persistent capacity, and what the kernel
 * made of them. The files are those of the kernel's ABI/testing/sysfs-bus-cxl.
 */
#include <stdio.h>
#include <string.h>

#include "gather_pmem.h"

#define CXL	    "sys/bus/cxl/devices"
#define DEVICES_MAX 64

static void add_device(const struct sysroot *root, const char *name, struct facts_cxl *cxl)
{
	char state[32] = "";
	int64_t size;

	if (!sysroot_number(root, &size, CXL "/%s/pmem/size", name) || size < 0) {
		cxl->pmem_bytes = -1;
		return;
	}
	if (size == 0)
		return;
	cxl->devices++;
	if (cxl->pmem_bytes >= 0 && size <= INT64_MAX - cxl->pmem_bytes)
		cxl->pmem_bytes += size;
	sysroot_line(root, state, sizeof(state), CXL "/%s/security/state", name);
	cxl->locked += strcmp(state, "locked") == 0;
}

static void add_region(const struct sysroot *root, const char *name, struct facts_cxl *cxl)
{
	char mode[16] = "";
	int64_t commit = 0;

	sysroot_line(root, mode, sizeof(mode), CXL "/%s/mode", name);
	if (strcmp(mode, "pmem") != 0)
		return;
	cxl->regions++;
	sysroot_number(root, &commit, CXL "/%s/commit", name);
	cxl->committed += commit == 1;
}

void gather_cxl(const struct sysroot *root, struct facts_cxl *cxl)
{
	char names[DEVICES_MAX][GATHER_NAME_MAX];
	size_t count = gather_names(root, CXL, "mem", names, DEVICES_MAX);

	memset(cxl, 0, sizeof(*cxl));
	for (size_t i = 0; i < count && i < DEVICES_MAX; i++)
		add_device(root, names[i], cxl);
	if (count > DEVICES_MAX)
		cxl->pmem_bytes = -1;
	count = gather_names(root, CXL, "region", names, DEVICES_MAX);
	for (size_t i = 0; i < count && i < DEVICES_MAX; i++)
		add_region(root, names[i], cxl);
	cxl->bridge = gather_names(root, CXL, "nvdimm-bridge", names, DEVICES_MAX) > 0;
}
