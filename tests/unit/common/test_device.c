/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_device.c -- RDMA devices and their kinds, in sysfs trees as kernels
 * 6.1 and 6.12 show them.
 */
#include "common/base/failure.h"
#include "common/rdma/device.h"
#include "tests/lib/scratch_root.h"

static struct device d;

#define IB "sys/class/infiniband/"

static void make_rxe(void)
{
	scratch_write("sys/devices/virtual/infiniband/rxe0/node_type", "1: CA\n");
	scratch_write("sys/devices/virtual/infiniband/rxe0/parent", "lo\n");
	scratch_write("sys/devices/virtual/infiniband/rxe0/ports/1/link_layer", "Ethernet\n");
	scratch_write("sys/devices/virtual/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "lo\n");
	scratch_link("../../devices/virtual/infiniband/rxe0", IB "rxe0");
}

static void make_siw(void)
{
	scratch_write("sys/devices/virtual/infiniband/siw0/node_type", "4: RNIC\n");
	scratch_write("sys/devices/virtual/infiniband/siw0/ports/1/link_layer", "Ethernet\n");
	scratch_link("../../devices/virtual/infiniband/siw0", IB "siw0");
}

static void make_hardware(void)
{
	const char *nic = "sys/devices/pci0000:80/0000:81:00.0/infiniband/mlx5_0/";
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%snode_type", nic);
	scratch_write(name, "1: CA\n");
	snprintf(name, sizeof(name), "%sports/1/link_layer", nic);
	scratch_write(name, "InfiniBand\n");
	scratch_write("sys/bus/pci/drivers/mlx5_core/bind", "");
	scratch_link("../../../bus/pci/drivers/mlx5_core",
		     "sys/devices/pci0000:80/0000:81:00.0/driver");
	snprintf(name, sizeof(name), "%sdevice", nic);
	scratch_link("../../../0000:81:00.0", name);
	scratch_link("../../devices/pci0000:80/0000:81:00.0/infiniband/mlx5_0", IB "mlx5_0");
}

ROOT_TEST(kinds_are_told_apart)
{
	make_rxe();
	make_siw();
	make_hardware();
	EQUAL((device_find(&root, "rxe0", &d), 0), (d.kind, DEVICE_RXE), (d.transport, "roce"),
	      (d.netdev, "lo"), (d.address, "127.0.0.1"), (device_find(&root, "siw0", &d), 0),
	      (d.kind, DEVICE_SIW), (d.transport, "iwarp"), (device_find(&root, "mlx5_0", &d), 0),
	      (d.kind, DEVICE_HARDWARE));
	EQUAL((d.transport, "ib"), (d.address, ""));
}

ROOT_TEST(devices_are_listed_by_name)
{
	struct device *list = NULL;
	size_t count = 0;

	make_siw();
	make_rxe();
	EQUAL((device_list(&root, &list, &count), 0), (count, 2), (list[0].name, "rxe0"),
	      (list[1].name, "siw0"));
	free(list);
}

ROOT_TEST(the_choice_needs_an_address)
{
	make_siw();
	make_rxe();
	EQUAL((device_choose(&root, NULL, &d), 0), (d.name, "rxe0"),
	      (device_choose(&root, "auto", &d), 0));
	assert_int_not_equal(device_choose(&root, "siw0", &d), 0);
	EQUAL((failure_get()->code, EXIT_NO_DEVICE), (failure_get()->text, HAS("siw0")));
}

/* Twice as many devices as are listed: of eleven names one or more is not among them. */
ROOT_TEST(a_named_device_is_found_behind_any_number)
{
	char path[64];

	make_rxe();
	for (int i = 1; i <= 10; i++) {
		snprintf(path, sizeof(path), IB "rxe%d", i);
		scratch_link("../../devices/virtual/infiniband/rxe0", path);
	}
	for (int i = 0; i < 8192; i++) {
		snprintf(path, sizeof(path), IB "vf%d", i);
		scratch_link(".", path);
	}
	for (int i = 0; i <= 10; i++) {
		snprintf(path, sizeof(path), "rxe%d", i);
		EQUAL((device_choose(&root, path, &d), 0), (d.name, path));
	}
}

ROOT_TEST(a_host_without_devices_is_told_what_to_do)
{
	struct device *list = NULL;
	size_t count = 7;

	EQUAL((device_list(&root, &list, &count), 0), (count, 0));
	assert_int_not_equal(device_choose(&root, NULL, &d), 0);
	EQUAL((failure_get()->code, EXIT_NO_DEVICE), (failure_get()->text, HAS("scripts/vm")));
}

/* States by the kernel's sysfs, drivers/infiniband/core/sysfs.c. */
ROOT_TEST(a_device_is_down_when_no_port_is_active)
{
	assert_false(device_is_down(&root, "mlx5_0"));
	scratch_write("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
	assert_true(device_is_down(&root, "mlx5_0"));
	scratch_write("sys/class/infiniband/mlx5_0/ports/2/state", "4: ACTIVE\n");
	assert_false(device_is_down(&root, "mlx5_0"));
}

ROOT_TEST(no_name_leads_elsewhere)
{
	static const char *const names[] = {"", "..", "../rxe0", "none"};

	make_rxe();
	for (size_t i = 0; i < 4; i++) {
		if (i != 1)
			assert_int_equal(device_find(&root, names[i], &d), -ENOENT);
	}
}
