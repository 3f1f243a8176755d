/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_environment.c -- the environment block from a tree of files: what is
 * there is taken, what is not is null.
 */
#include "common/json/environment.h"
#include "tests/lib/config_space.h"
#include "tests/lib/json_holds.h"
#include "tests/lib/scratch_root.h"

static json_t *gather(const char *device)
{
	return environment_gather(&root, NULL, device);
}

ROOT_TEST(facts_are_read_from_the_root)
{
	scratch_write("proc/cpuinfo",
		      "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Example CPU @ 2\n"
		      "flags\t\t: fpu hypervisor\n");
	scratch_write("proc/meminfo", "MemTotal:       2048 kB\nHugePages_Total:       3\n"
				      "Hugepagesize:       2048 kB\n");
	scratch_write("proc/cmdline", "root=/dev/secret isolcpus=1 quiet mitigations=off\n");
	scratch_write("etc/os-release", "NAME=\"x\"\nPRETTY_NAME=\"Example Linux 1\"\n");
	scratch_write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	scratch_write("proc/sys/kernel/numa_balancing", "1\n");
	scratch_write("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n");
	GIVES(gather(NULL), "cpu/model: Example CPU @ 2", "cpu/model_id: 85",
	      "host/virtualised: true", "os/distro: Example Linux 1", "power/governor: powersave",
	      "noise/numa_balancing: 1", "memory/total_bytes: 2097152", "memory/hugepages: 3",
	      "mitigations/meltdown: Not affected");
}

/* Only the part of the kernel's command line that bears on figures leaves the host. */
ROOT_TEST(the_command_line_is_filtered)
{
	const json_t *list;
	json_auto_t *block = NULL;

	scratch_write("proc/cmdline", "root=/dev/secret isolcpus=1 quiet mitigations=off\n");
	block = gather(NULL);
	HOLDS(block, "os/cmdline: [2]");
	list = path_get(block, "os/cmdline");
	EQUAL((json_string_value(json_array_get(list, 0)), "isolcpus=1"),
	      (json_string_value(json_array_get(list, 1)), "mitigations=off"));
}

ROOT_TEST(what_is_unknown_is_null)
{
	GIVES(gather("rxe9"), "host/vendor: null", "host/virtualised: null", "os/distro: null",
	      "os/cmdline: null", "cpu/model: null", "cpu/smt_active: null", "power/governor: null",
	      "power/max_khz: null", "noise/numa_balancing: null", "memory/total_bytes: null",
	      "nic: null", "mitigations: null", "pmem: [0]");
}

/* An unknown node is -1 in sysfs and null here. */
ROOT_TEST(the_device_has_its_facts)
{
	scratch_write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
	scratch_write("sys/class/infiniband/mlx5_0/fw_ver", "16.35.2000\n");
	scratch_write("sys/class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
	scratch_write("sys/class/infiniband/mlx5_0/device/numa_node", "-1\n");
	scratch_write("sys/bus/pci/drivers/mlx5_core/bind", "");
	scratch_link("../../../../bus/pci/drivers/mlx5_core",
		     "sys/class/infiniband/mlx5_0/device/driver");
	GIVES(gather("mlx5_0"), "nic/ibdev: mlx5_0", "nic/kind: hardware", "nic/driver: mlx5_core",
	      "nic/fw_ver: 16.35.2000", "nic/numa_node: null", "nic/board_id: null");
}

ROOT_TEST(a_guid_and_a_name_can_be_left_out)
{
	json_t *block;

	scratch_write("sys/class/infiniband/mlx5_0/node_guid", "e41d:2d03:0050:1234\n");
	block = gather("mlx5_0");
	HOLDS(block, "nic/node_guid: e41d:2d03:0050:1234");
	assert_true(json_is_string(path_get(block, "host/hostname")));
	environment_anonymise(block);
	GIVES(block, "nic/node_guid: null", "host/hostname: null", "nic/ibdev: mlx5_0");
	block = gather(NULL);
	environment_anonymise(block);
	GIVES(block, "nic: null");
}

#define MTU "nic/path_mtu_bytes: "

/* 1500 gives 1024 and 9000 gives 4096: so ibv_devinfo(1) has it for RoCE devices. */
ROOT_TEST(the_path_mtu_follows_the_interface)
{
	static const struct {
		const char *layer, *netdev_mtu, *expected;
	} cases[] = {
		{"Ethernet", "1500\n", MTU "1024"}, {"Ethernet", "9000\n", MTU "4096"},
		{"Ethernet", "4192\n", MTU "4096"}, {"Ethernet", "4191\n", MTU "2048"},
		{"Ethernet", "352\n", MTU "256"},   {"Ethernet", "351\n", MTU "null"},
		{"Ethernet", "\n", MTU "null"},	    {"InfiniBand", "4092\n", MTU "null"},
	};

	scratch_write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
	scratch_write("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth7\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		scratch_write("sys/class/infiniband/mlx5_0/ports/1/link_layer", cases[i].layer);
		scratch_write("sys/class/net/eth7/mtu", cases[i].netdev_mtu);
		GIVES(gather("mlx5_0"), cases[i].expected);
	}
}

ROOT_TEST(persistent_memory_is_listed)
{
	scratch_write("sys/bus/nd/devices/region0/persistence_domain", "memory_controller\n");
	scratch_write("sys/bus/nd/devices/region0/size", "268435456\n");
	scratch_write("sys/bus/nd/devices/ndbus0/provider", "ACPI.NFIT\n");
	GIVES(gather(NULL), "pmem: [1]",
	      "pmem/region=region0/persistence_domain: memory_controller",
	      "pmem/region=region0/size_bytes: 268435456", "pmem/region=region0/numa_node: null");
}

ROOT_TEST(namespaces_and_mounts_are_listed)
{
	const json_t *region;
	json_auto_t *block = NULL;

	scratch_write("sys/devices/ndbus0/provider", "ACPI.NFIT\n");
	scratch_write("sys/devices/ndbus0/region0/persistence_domain", "memory_controller\n");
	scratch_write("sys/devices/ndbus0/region0/badblocks", "0 8\n16 8\n");
	scratch_write("sys/devices/ndbus0/region0/align", "0x1000000\n");
	scratch_link("../../../devices/ndbus0/region0", "sys/bus/nd/devices/region0");
	scratch_write("sys/bus/nd/devices/namespace0.0/mode", "memory\n");
	scratch_write("sys/bus/nd/devices/namespace0.0/block/pmem0/size", "1\n");
	scratch_write("sys/bus/nd/devices/namespace10.0/mode", "raw\n");
	scratch_write("proc/self/mountinfo",
		      "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
		      "36 22 259:0 / /mnt/pmem rw,relatime - xfs /dev/pmem0 rw,dax=always\n");
	block = gather(NULL);
	region = path_get(block, "pmem/region=region0");
	HOLDS(region, "provider: ACPI.NFIT", "badblocks: 2", "align_bytes: 16777216",
	      "read_only: null", "namespaces: [1]");
	HOLDS(path_get(region, "namespaces/namespace=namespace0.0"), "mode: memory", "block: pmem0",
	      "filesystem: xfs", "mount_options: rw,dax=always");
}

ROOT_TEST(power_and_caches_are_read)
{
	scratch_write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	scratch_write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
	scratch_write("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
	scratch_write("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n");
	scratch_write("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n");
	scratch_write("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1E\n");
	scratch_write("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "10\n");
	scratch_write("sys/devices/system/cpu/cpu0/cpuidle/state2/name", "C6\n");
	scratch_write("sys/devices/system/cpu/cpu0/cpuidle/state2/latency", "133\n");
	scratch_write("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1\n");
	scratch_write("sys/devices/system/cpu/cpu0/cache/index0/ways_of_associativity", "8\n");
	scratch_write("sys/devices/system/cpu/cpu0/cache/index1/ways_of_associativity", "11\n");
	scratch_write("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:  2048 kB\n");
	scratch_write("run/systemd/container", "lxc\n");
	GIVES(gather(NULL), "power/governors: [2]", "power/idle_state: C1E",
	      "power/idle_exit_latency_us: 10", "power/cpu_dma_latency_us: null",
	      "cpu/llc_ways: 11", "os/container: lxc", "memory/nodes/node=1/total_bytes: 2097152");
}

/* Writes so many bytes of a configuration space. */
static void write_config(const uint8_t *config, size_t bytes)
{
	char path[PATH_MAX];
	FILE *file = fopen(scratch_path("sys/class/infiniband/mlx5_0/device/config", path), "we");

	assert_non_null(file);
	EQUAL((fwrite(config, 1, bytes, file), bytes), (fclose(file), 0));
}

/* Power management, then Express: relaxed ordering, no-snoop, 256 and 512 bytes. */
static const uint8_t express_config[256] = {
	[0x06] = 0x10, [0x34] = 0x40, [0x40] = 0x01,	      [0x41] = 0x60,
	[0x60] = 0x10, [0x61] = 0x00, [0x68] = 0x10 | 1 << 5, [0x69] = 0x08 | 2 << 4,
};

ROOT_TEST(the_use_of_the_link_is_read)
{
	scratch_write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
	write_config(express_config, 256);
	GIVES(gather("mlx5_0"), "nic/max_payload_bytes: 256", "nic/max_read_request_bytes: 512",
	      "nic/relaxed_ordering: true", "nic/no_snoop: true");
}

/* 0x17 is the capability of TPH; 1 in bits 9:8 of its control is to send them by vector. */
ROOT_TEST(whether_writes_are_steered_is_read)
{
	for (uint32_t mode = 0; mode < 2; mode++) {
		struct config_space space;

		config_space_begin(&space, 0x15b3, 0x1017, 0);
		config_space_add_express(&space, 0x60, 0, 0);
		config_space_add_extended(&space, 0x100, 0x17, 1);
		config_space_put(&space, 0x108, mode << 8, 4);
		scratch_write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
		write_config(space.bytes, sizeof(space.bytes));
		GIVES(gather("mlx5_0"), mode != 0 ? "nic/tph: true" : "nic/tph: false");
	}
}

/* Without privilege 64 bytes are all there is. */
ROOT_TEST(what_the_link_hides_is_null)
{
	scratch_write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
	write_config(express_config, 64);
	GIVES(gather("mlx5_0"), "nic/max_payload_bytes: null", "nic/no_snoop: null",
	      "nic/tph: null");
}

#if defined(__x86_64__)
ROOT_TEST(qemus_processor_is_an_emulated_one)
{
	assert_int_equal(environment_emulated_cpu(&root), -1);
	scratch_write("proc/cpuinfo", "model name\t: AMD EPYC\n");
	assert_int_equal(environment_emulated_cpu(&root), 0);
	scratch_write("proc/cpuinfo", "model name\t: QEMU TCG CPU version 2.5+\n");
	assert_int_equal(environment_emulated_cpu(&root), 1);
}
#endif

TEST(loaded_libraries_have_versions)
{
	json_auto_t *version = environment_library("libjansson.so");
	json_auto_t *none = environment_library("libnosuch.so");

	EQUAL((json_is_string(version), true), (json_is_null(none), true));
}
