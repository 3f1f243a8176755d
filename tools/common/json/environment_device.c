/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment_device.c -- the facts of the RDMA device, for the environment
 * block.
 */
#include <stdint.h>
#include <string.h>

#include "environment.h"
#include "fact.h"
#include "result.h"
#include "tools/common/rdma/device.h"

static void add_nic_facts(const struct sysroot *root, json_t *group, const char *device)
{
	static const struct fact facts[] = {
		{"node_guid", "node_guid"},
		{"fw_ver", "fw_ver"},
		{"board_id", "board_id"},
		{"hca_type", "hca_type"},
		{"port_state", "ports/1/state"},
		{"rate", "ports/1/rate"},
		{"link_layer", "ports/1/link_layer"},
		{"gid_type", "ports/1/gid_attrs/types/0"},
		{"pcie_speed", "device/current_link_speed"},
		{"pcie_width", "device/current_link_width"},
		{"pcie_speed_max", "device/max_link_speed"},
		{"pcie_width_max", "device/max_link_width"},
		{"pci_vendor", "device/vendor"},
		{"pci_device", "device/device"},
		{NULL, NULL},
	};

	for (const struct fact *f = facts; f->key != NULL; f++)
		json_object_set_new(group, f->key,
				    fact_text(root, "sys/class/infiniband/%s/%s", device, f->path));
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
	struct device d;
	json_t *group;
	char name[128];

	if (device == NULL || device_find(root, device, &d) != 0)
		return json_null();
	group = json_object();
	json_object_set_new(group, "ibdev", result_text(d.name));
	json_object_set_new(group, "kind", result_text(device_kind_name(d.kind)));
	json_object_set_new(group, "netdev", result_text(d.netdev));
	json_object_set_new(group, "driver",
			    sysroot_link_name(root, name, sizeof(name),
					      "sys/class/infiniband/%s/device/driver", device)
				    ? result_text(name)
				    : json_null());
	json_object_set_new(group, "bdf",
			    sysroot_link_name(root, name, sizeof(name),
					      "sys/class/infiniband/%s/device", device)
				    ? result_text(name)
				    : json_null());
	add_nic_facts(root, group, device);
	if (d.firmware[0] != '\0')
		json_object_set_new(group, "fw_ver", result_text(d.firmware));
	json_object_set_new(group, "netdev_mtu_bytes",
			    fact_number(root, "sys/class/net/%s/mtu", d.netdev));
	json_object_set_new(group, "path_mtu_bytes", path_mtu(root, &d));
	json_object_set_new(group, "numa_node",
			    fact_node(root, "sys/class/infiniband/%s/device/numa_node", device));
	json_object_set_new(
		group, "iommu_type",
		fact_text(root, "sys/class/infiniband/%s/device/iommu_group/type", device));
	environment_add_pci(root, group, device);
	return group;
}
