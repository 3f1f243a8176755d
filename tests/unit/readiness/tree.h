/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.h -- builds sysfs trees for what gathers facts, as the kernel lays them
 * out: PCI functions below their host bridge, links to them from the classes.
 */
#pragma once

#include "readiness/gather.h"
#include "tests/lib/config_space.h"
#include "tests/lib/scratch_root.h"

#define HOST_BRIDGE "sys/devices/pci0000:16/"
#define PORT	    HOST_BRIDGE "0000:16:00.0/"
#define NIC	    PORT "0000:17:00.0/"

static inline void tree_join(char path[PATH_MAX], const char *directory, const char *name)
{
	assert_true(snprintf(path, PATH_MAX, "%s%s", directory, name) < PATH_MAX);
}

static inline void tree_file(const char *directory, const char *name, const char *text)
{
	char path[PATH_MAX];

	tree_join(path, directory, name);
	scratch_write(path, text);
}

static inline void tree_config(const char *directory, const struct config_space *space, size_t len)
{
	char path[PATH_MAX], name[PATH_MAX];
	FILE *file;

	tree_join(name, directory, "config");
	file = fopen(scratch_path(name, path), "we");
	assert_non_null(file);
	EQUAL((fwrite(space->bytes, 1, len, file), len), (fclose(file), 0));
}

static inline void tree_function(const char *directory, uint16_t vendor, uint16_t device,
				 uint8_t type)
{
	struct config_space space;
	char text[16];

	config_space_begin(&space, vendor, device, type == 0 ? 0 : 1);
	config_space_add_express(&space, 0x40, type, 0x2930);
	tree_config(directory, &space, sizeof(space.bytes));
	snprintf(text, sizeof(text), "0x%04x\n", vendor);
	tree_file(directory, "vendor", text);
	snprintf(text, sizeof(text), "0x%04x\n", device);
	tree_file(directory, "device", text);
	tree_file(directory, "current_link_speed", "8.0 GT/s PCIe\n");
	tree_file(directory, "max_link_speed", "16.0 GT/s PCIe\n");
	tree_file(directory, "current_link_width", "8\n");
	tree_file(directory, "max_link_width", "16\n");
}

/* An absolute link is taken below the root; a tree has no other place. */
static inline void tree_link(const char *target, const char *name)
{
	char absolute[PATH_MAX];

	tree_join(absolute, "/", target);
	scratch_link(absolute, name);
}

/* An RDMA device with one active Ethernet port; function: "" is none. */
static inline void tree_device(const char *name, const char *function)
{
	char directory[128], link[PATH_MAX];

	snprintf(directory, sizeof(directory), "sys/class/infiniband/%s/", name);
	tree_file(directory, "node_type", "1: CA\n");
	tree_file(directory, "fw_ver", "16.35.2000\n");
	tree_file(directory, "hca_type", "MT4119\n");
	tree_file(directory, "board_id", "MT_0000000012\n");
	tree_file(directory, "ports/1/state", "4: ACTIVE\n");
	tree_file(directory, "ports/1/phys_state", "5: LinkUp\n");
	tree_file(directory, "ports/1/rate", "100 Gb/sec (4X EDR)\n");
	tree_file(directory, "ports/1/link_layer", "Ethernet\n");
	if (function[0] == '\0')
		return;
	tree_join(link, directory, "device");
	tree_link(function, link);
}

/* The interface of a GID of port 1, itself a link to a function; function: "" is none. */
static inline void tree_netdev(const char *device, int gid, const char *netdev,
			       const char *function)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/%d", device,
		 gid);
	scratch_write(path, netdev);
	snprintf(path, sizeof(path), "sys/class/net/%s/mtu", netdev);
	scratch_write(path, "1500\n");
	if (function[0] == '\0')
		return;
	snprintf(path, sizeof(path), "sys/class/net/%s/device", netdev);
	tree_link(function, path);
}

/* The host that most tests begin with: a NIC below a root port. */
static inline void tree_host(void)
{
	tree_function(PORT, 0x8086, 0x2030, 4);
	tree_function(NIC, 0x15b3, 0x1017, 0);
	tree_device("mlx5_0", NIC);
}

static inline void tree_gather_device(const char *asked, struct facts_device *device)
{
	const struct gather g = {.root = &root, .answers = NULL};

	gather_device(&g, asked, device);
}

/* The chains of the device that is found by itself; the caller frees them. */
static inline void tree_gather_pci(struct facts_pci *pci)
{
	struct facts_device device;
	const struct gather g = {.root = &root, .answers = NULL};

	gather_device(&g, NULL, &device);
	gather_pci(&g, &device, pci);
}

static inline void tree_gather_platform(struct facts_platform *platform)
{
	struct facts_device device;
	struct facts_pci pci;
	const struct gather g = {.root = &root, .answers = NULL};

	gather_device(&g, NULL, &device);
	gather_pci(&g, &device, &pci);
	gather_platform(&g, &device, platform);
	gather_guest(&g, &pci, platform);
	free(pci.chains);
}
