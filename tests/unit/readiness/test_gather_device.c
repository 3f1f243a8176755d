/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_gather_device.c -- which RDMA device is inspected, and what sysfs has on it and its ports.
 */
#include "tree.h"

static struct facts_device device;

#define PORT_1 "sys/class/infiniband/mlx5_0/ports/1/"

ROOT_TEST(facts_of_a_nic)
{
	tree_host();
	tree_file(NIC, "numa_node", "1\n");
	tree_file(NIC, "local_cpulist", "16-31\n");
	tree_gather_device(NULL, &device);
	EQUAL((device.found, true), (device.count, 1), (device.name, "mlx5_0"), (device.asked, ""),
	      (device.kind, DEVICE_HARDWARE), (device.transport, "roce"),
	      (device.firmware, "16.35.2000"), (device.board, "MT_0000000012"),
	      (device.hca_type, "MT4119"), (device.ids.vendor, 0x15b3));
	EQUAL((device.ids.model, 0x1017), (device.numa_node, 1), (device.local_cpus, "16-31"),
	      (device.ports_count, 1), (device.ports[0].state, "4: ACTIVE"),
	      (device.ports[0].phys_state, "5: LinkUp"),
	      (device.ports[0].rate, "100 Gb/sec (4X EDR)"),
	      (device.ports[0].link_layer, "Ethernet"));
}

ROOT_TEST(a_host_without_devices)
{
	tree_gather_device(NULL, &device);
	EQUAL((device.found, false), (device.count, 0), (device.no_sysfs, true));
	scratch_write("sys/class/net/lo/mtu", "65536\n");
	tree_gather_device(NULL, &device);
	assert_false(device.no_sysfs);
}

ROOT_TEST(a_name_that_is_not_there)
{
	tree_host();
	tree_gather_device("mlx5_9", &device);
	EQUAL((device.found, false), (device.count, 1), (device.asked, "mlx5_9"));
}

static void choose(const char *asked, const char *expected)
{
	tree_gather_device(asked, &device);
	assert_string_equal(device.name, expected);
}

ROOT_TEST(hardware_comes_before_software)
{
	tree_device("a_rxe", "");
	scratch_write("sys/class/infiniband/a_rxe/parent", "eth0\n");
	tree_host();
	choose(NULL, "mlx5_0");
	choose("auto", "mlx5_0");
	choose("a_rxe", "a_rxe");
}

ROOT_TEST(an_active_port_comes_before_none)
{
	tree_host();
	tree_device("mlx5_1", NIC);
	choose(NULL, "mlx5_0");
	scratch_write(PORT_1 "state", "1: DOWN\n");
	choose(NULL, "mlx5_1");
	choose("mlx5_0", "mlx5_0");
	scratch_write("sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
	choose(NULL, "mlx5_0");
}

static enum device_kind kind_of(void)
{
	tree_gather_device(NULL, &device);
	assert_true(device.found);
	return device.kind;
}

ROOT_TEST(rxe_is_known_by_its_parent)
{
	tree_device("roce0", NIC);
	tree_function(NIC, 0x8086, 0x1572, 0);
	scratch_write("sys/class/infiniband/roce0/parent", "eth0\n");
	assert_int_equal(kind_of(), DEVICE_RXE);
}

/* Linux 5.3 to 5.10 */
ROOT_TEST(old_siw_is_known_by_what_it_says)
{
	tree_device("iwp0", NIC);
	tree_function(NIC, 0x8086, 0x1572, 0);
	scratch_write("sys/class/infiniband/iwp0/node_type", "4: RNIC\n");
	scratch_write("sys/class/infiniband/iwp0/node_desc", "Software iWARP stack\n");
	assert_int_equal(kind_of(), DEVICE_SIW);
}

ROOT_TEST(names_of_software_are_not_trusted_as_hardware)
{
	tree_function(NIC, 0x8086, 0x1572, 0);
	tree_device("rxe0", NIC);
	tree_device("siw0", NIC);
	tree_gather_device("rxe0", &device);
	assert_int_equal(device.kind, DEVICE_RXE);
	tree_gather_device("siw0", &device);
	assert_int_equal(device.kind, DEVICE_SIW);
}

ROOT_TEST(siw_of_the_loopback_is_virtual)
{
	scratch_write("sys/devices/virtual/net/lo/mtu", "65536\n");
	tree_device("siw0", "sys/devices/virtual/net/lo");
	scratch_write("sys/class/infiniband/siw0/node_type", "4: RNIC\n");
	assert_int_equal(kind_of(), DEVICE_SIW);
}

ROOT_TEST(an_rnic_with_a_function_is_hardware)
{
	tree_host();
	scratch_write("sys/class/infiniband/mlx5_0/node_type", "4: RNIC\n");
	assert_int_equal(kind_of(), DEVICE_HARDWARE);
}

static void gid(int index, const char *text, const char *type)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), PORT_1 "gids/%d", index);
	scratch_write(path, text);
	snprintf(path, sizeof(path), PORT_1 "gid_attrs/types/%d", index);
	scratch_write(path, type);
}

static void assert_gid(enum known expected)
{
	tree_gather_device(NULL, &device);
	assert_int_equal(device.ports[0].roce_v2, expected);
}

#define V4_MAPPED "0000:0000:0000:0000:0000:ffff:c0a8:0105\n"

ROOT_TEST(gids_that_routers_know)
{
	tree_host();
	assert_gid(KNOWN_NOT);
	gid(0, "fe80:0000:0000:0000:ba59:9fff:fe00:0001\n", "RoCE v2\n");
	assert_gid(KNOWN_NO);
	gid(1, "0000:0000:0000:0000:0000:0000:0000:0000\n", "RoCE v2\n");
	assert_gid(KNOWN_NO);
	gid(2, V4_MAPPED, "IB/RoCE v1\n");
	assert_gid(KNOWN_NO);
	gid(3, "0000:0000:0000:0000:0000:ffff:a9fe:0105\n", "RoCE v2\n"); /* 169.254.1.5 */
	assert_gid(KNOWN_NO);
	gid(4, "no GID\n", "RoCE v2\n");
	assert_gid(KNOWN_NO);
	gid(5, V4_MAPPED, "RoCE v2\n");
	assert_gid(KNOWN_YES);
}

/* Makes GIDs that are not in use: their type cannot be read. */
static void unused_gids(int from, int to)
{
	char path[PATH_MAX];

	for (int i = from; i < to; i++) {
		snprintf(path, sizeof(path), PORT_1 "gids/%d", i);
		scratch_write(path, "0000:0000:0000:0000:0000:0000:0000:0000\n");
	}
}

/* Outside of sysfs they stand in any order. */
ROOT_TEST(a_gid_of_many_is_found)
{
	tree_host();
	gid(0, V4_MAPPED, "RoCE v2\n"); /* which comes last where what was made last comes first */
	unused_gids(1, 1024);
	assert_gid(KNOWN_YES);
}

ROOT_TEST(more_gids_than_are_looked_at_are_unknown)
{
	tree_host();
	unused_gids(0, 4100);
	assert_gid(KNOWN_NOT);
}

ROOT_TEST(an_address_of_version_6_is_one)
{
	tree_host();
	gid(0, "2001:0db8:0000:0000:0000:0000:0000:0001\n", "RoCE v2\n");
	assert_gid(KNOWN_YES);
}

static void assert_iommu(const char *expected)
{
	tree_gather_device(NULL, &device);
	assert_string_equal(device.iommu_type, expected);
}

ROOT_TEST(iommu_groups)
{
	tree_host();
	assert_iommu("none");
	tree_link("sys/kernel/iommu_groups/7", NIC "iommu_group");
	assert_iommu("");
	scratch_write("sys/kernel/iommu_groups/7/type", "DMA-FQ\n");
	assert_iommu("DMA-FQ");
}

ROOT_TEST(an_unknown_node_is_unknown)
{
	tree_host();
	tree_file(NIC, "numa_node", "-1\n");
	tree_gather_device(NULL, &device);
	assert_int_equal(device.numa_node, -1);
}

ROOT_TEST(a_device_on_no_bus_has_a_node)
{
	tree_file("sys/devices/platform/roce/", "numa_node", "1\n");
	tree_device("hns_0", "sys/devices/platform/roce");
	tree_gather_device(NULL, &device);
	EQUAL((device.kind, DEVICE_HARDWARE), (device.numa_node, 1), (device.ids.vendor, -1));
}

ROOT_TEST(both_ports_are_read)
{
	tree_host();
	scratch_write("sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
	tree_gather_device(NULL, &device);
	EQUAL((device.ports_count, 2), (device.ports[1].number, 2),
	      (device.ports[1].state, "1: DOWN"), (device.ports[1].rate, ""));
}
