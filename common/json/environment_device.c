/* SPDX-License-Identifier: BSD-3-Clause */
/* environment_device.c -- the facts of the RDMA device, for the environment block. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/host/pci_config.h"
#include "common/rdma/device.h"
#include "environment.h"
#include "fact.h"
#include "result.h"

static json_t *known_bytes(bool known, int bytes)
{
	return known && bytes > 0 ? json_integer(bytes) : json_null();
}

static void environment_add_pci(const struct sysroot *root, json_t *nic, const char *device)
{
	struct pci_express express = {0};
	struct pci_config config;
	char directory[256];
	bool known;
	int tph;

	snprintf(directory, sizeof(directory), "sys/class/infiniband/%s/device", device);
	pci_config_read(root, directory, &config);
	known = pci_config_express(&config, &express);
	tph = pci_config_tph(&config);
	json_object_set_new(nic, "max_payload_bytes",
			    known_bytes(known, express.max_payload_bytes));
	json_object_set_new(nic, "max_read_request_bytes",
			    known_bytes(known, express.max_read_request_bytes));
	json_object_set_new(nic, "relaxed_ordering",
			    known ? json_boolean(express.relaxed_ordering) : json_null());
	json_object_set_new(nic, "no_snoop", known ? json_boolean(express.no_snoop) : json_null());
	json_object_set_new(nic, "tph",
			    tph != PCI_CONFIG_TPH_UNKNOWN ? json_boolean(tph) : json_null());
}

/*
 * The payload of a packet on RoCE, as the kernel's RDMA CM chooses it: the
 * greatest power of two that fits the interface behind 96 bytes of headers
 * (iboe_get_mtu() in Linux include/rdma/ib_addr.h). InfiniBand learns it from
 * its subnet manager, iWARP has none: null.
 */
static json_t *path_mtu(const struct sysroot *root, const struct device *d)
{
	int64_t netdev_mtu, mtu = 4096;

	if (d->transport == NULL || strcmp(d->transport, "roce") != 0 || d->netdev[0] == '\0' ||
	    !sysroot_number(root, &netdev_mtu, "sys/class/net/%s/mtu", d->netdev))
		return json_null();
	while (mtu >= 256 && mtu > netdev_mtu - 96)
		mtu /= 2;
	return mtu >= 256 ? json_integer(mtu) : json_null();
}

json_t *environment_nic(const struct sysroot *root, const char *device)
{
	static const struct fact facts[] = {
		{"driver", FACT_LINK, "device/driver"},
		{"bdf", FACT_LINK, "device"},
		{"node_guid", FACT_TEXT, "node_guid"},
		{"fw_ver", FACT_TEXT, "fw_ver"},
		{"board_id", FACT_TEXT, "board_id"},
		{"hca_type", FACT_TEXT, "hca_type"},
		{"port_state", FACT_TEXT, "ports/1/state"},
		{"rate", FACT_TEXT, "ports/1/rate"},
		{"link_layer", FACT_TEXT, "ports/1/link_layer"},
		{"pcie_speed", FACT_TEXT, "device/current_link_speed"},
		{"pcie_width", FACT_TEXT, "device/current_link_width"},
		{"pcie_speed_max", FACT_TEXT, "device/max_link_speed"},
		{"pcie_width_max", FACT_TEXT, "device/max_link_width"},
		{"pci_vendor", FACT_TEXT, "device/vendor"},
		{"pci_device", FACT_TEXT, "device/device"},
		{0},
	};
	struct device d;
	json_t *group;
	char base[PATH_MAX];

	if (device == NULL || device_find(root, device, &d) != 0)
		return json_null();
	group = json_object();
	json_object_set_new(group, "ibdev", result_text(d.name));
	json_object_set_new(group, "kind", result_text(device_kind_name(d.kind)));
	json_object_set_new(group, "netdev", result_text(d.netdev));
	snprintf(base, sizeof(base), "sys/class/infiniband/%s/", device);
	fact_add(root, group, base, facts);
	if (d.firmware[0] != '\0')
		json_object_set_new(group, "fw_ver", result_text(d.firmware));
	json_object_set_new(group, "netdev_mtu_bytes",
			    fact_get(root, FACT_NUMBER, "sys/class/net/%s/mtu", d.netdev));
	json_object_set_new(group, "path_mtu_bytes", path_mtu(root, &d));
	json_object_set_new(group, "numa_node",
			    fact_get(root, FACT_NODE, "%sdevice/numa_node", base));
	json_object_set_new(group, "iommu_type",
			    fact_get(root, FACT_TEXT, "%sdevice/iommu_group/type", base));
	environment_add_pci(root, group, device);
	return group;
}
