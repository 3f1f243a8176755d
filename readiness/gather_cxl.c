/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_cxl.c -- the CXL memory devices with persistent capacity, and what the kernel
 * made of them. The files are those of the kernel's ABI/testing/sysfs-bus-cxl.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather_pmem.h"

#define CXL	    "sys/bus/cxl/devices"
#define DEVICES_MAX 64

/* CXL 3.1, 8.1.1: DVSECs of CXL have this vendor id; linux/drivers/cxl/pci.h has the same */
#define CXL_VENDOR     0x1e98
#define CXL_PORT_GPF   4
#define CXL_DEVICE_GPF 5

/* True if a function takes part in a global persistent flush. */
static enum known has_gpf(const struct facts_function *function, uint16_t id)
{
	if (pci_config_dvsec(&function->config, CXL_VENDOR, id) != 0)
		return KNOWN_YES;
	return pci_config_extended_seen(&function->config) ? KNOWN_NO : KNOWN_NOT;
}

static void count_gpf(const char *address, enum known has, struct facts_cxl *cxl)
{
	size_t *const counts[] = {[KNOWN_NO] = &cxl->gpf_no,
				  [KNOWN_YES] = &cxl->gpf_yes,
				  [KNOWN_NOT] = &cxl->gpf_unknown};

	++*counts[has];
	if (has != KNOWN_YES && cxl->gpf_function[0] == '\0')
		snprintf(cxl->gpf_function, sizeof(cxl->gpf_function), "%.15s", address);
}

/* The device's own, and those of all ports above it. */
static void add_gpf(const struct sysroot *root, const char *name, struct facts_cxl *cxl)
{
	struct facts_chain *chain = calloc(1, sizeof(*chain));
	char link[GATHER_NAME_MAX + 32];

	snprintf(link, sizeof(link), CXL "/%.*s", GATHER_NAME_MAX - 1, name);
	if (chain == NULL || !gather_chain(root, link, chain) || chain->cut || chain->count < 2) {
		count_gpf(name, KNOWN_NOT, cxl);
		free(chain);
		return;
	}
	for (size_t i = 0; i < chain->count; i++)
		count_gpf(chain->functions[i].address,
			  has_gpf(&chain->functions[i],
				  i + 1 == chain->count ? CXL_DEVICE_GPF : CXL_PORT_GPF),
			  cxl);
	free(chain);
}

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
	if (cxl->devices++ == 0)
		snprintf(cxl->memory, sizeof(cxl->memory), "%.31s", name);
	if (cxl->pmem_bytes >= 0 && size <= INT64_MAX - cxl->pmem_bytes)
		cxl->pmem_bytes += size;
	sysroot_line(root, state, sizeof(state), CXL "/%s/security/state", name);
	cxl->locked += strcmp(state, "locked") == 0;
	add_gpf(root, name, cxl);
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

/* Decoders of the root, which are windows of the platform, alone have "cap_pmem". */
static void find_decoder(const struct sysroot *root, struct facts_cxl *cxl)
{
	char names[DEVICES_MAX][GATHER_NAME_MAX];
	size_t count = gather_names(root, CXL, "decoder", names, DEVICES_MAX);
	int64_t takes;

	for (size_t i = 0; i < count && i < DEVICES_MAX && cxl->decoder[0] == '\0'; i++) {
		if (sysroot_number(root, &takes, CXL "/%s/cap_pmem", names[i]) && takes == 1)
			snprintf(cxl->decoder, sizeof(cxl->decoder), "%.31s", names[i]);
	}
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
	find_decoder(root, cxl);
	cxl->bridge = gather_names(root, CXL, "nvdimm-bridge", names, DEVICES_MAX) > 0;
}
