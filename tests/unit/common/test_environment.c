/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_environment.c -- the environment block from a tree of files: what is
 * there is taken, what is not is null.
 */
#include "common/json/environment.h"
#include "tests/lib/config_space.h"
#include "tests/lib/scratch_root.h"

static json_t *gather(const char *device)
{
	json_t *block;

	block = environment_gather(&root, NULL, device);
	return block;
}

static const json_t *fact(const json_t *block, const char *group, const char *key)
{
	const json_t *value = json_object_get(json_object_get(block, group), key);

	if (value == NULL)
		fail_msg("%s.%s is missing", group, key);
	return value;
}

ROOT_TEST(facts_are_read_from_the_root)
{
	json_t *block;

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
	block = gather(NULL);
	assert_string_equal(json_string_value(fact(block, "cpu", "model")), "Example CPU @ 2");
	assert_string_equal(json_string_value(fact(block, "cpu", "model_id")), "85");
	assert_true(json_is_true(fact(block, "host", "virtualised")));
	assert_string_equal(json_string_value(fact(block, "os", "distro")), "Example Linux 1");
	assert_string_equal(json_string_value(fact(block, "power", "governor")), "powersave");
	assert_int_equal(json_integer_value(fact(block, "noise", "numa_balancing")), 1);
	assert_int_equal(json_integer_value(fact(block, "memory", "total_bytes")), 2097152);
	assert_int_equal(json_integer_value(fact(block, "memory", "hugepages")), 3);
	assert_string_equal(json_string_value(fact(block, "mitigations", "meltdown")),
			    "Not affected");
	json_decref(block);
}

/* Only the part of the kernel's command line that bears on figures leaves the host. */
ROOT_TEST(the_command_line_is_filtered)
{
	const json_t *list;
	json_t *block;

	scratch_write("proc/cmdline", "root=/dev/secret isolcpus=1 quiet mitigations=off\n");
	block = gather(NULL);
	list = fact(block, "os", "cmdline");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_string_value(json_array_get(list, 0)), "isolcpus=1");
	assert_string_equal(json_string_value(json_array_get(list, 1)), "mitigations=off");
	json_decref(block);
}

ROOT_TEST(what_is_unknown_is_null)
{
	static const char *const facts[][2] = {
		{"host", "vendor"},	   {"host", "virtualised"}, {"os", "distro"},
		{"os", "cmdline"},	   {"cpu", "model"},	    {"cpu", "smt_active"},
		{"power", "governor"},	   {"power", "max_khz"},    {"noise", "numa_balancing"},
		{"memory", "total_bytes"},
	};
	json_t *block = gather("rxe9");

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (!json_is_null(fact(block, facts[i][0], facts[i][1])))
			fail_msg("%s.%s is not null", facts[i][0], facts[i][1]);
	}
	assert_true(json_is_null(json_object_get(block, "nic")));
	assert_true(json_is_null(json_object_get(block, "mitigations")));
	assert_int_equal(json_array_size(json_object_get(block, "pmem")), 0);
	json_decref(block);
}

/* An unknown node is -1 in sysfs and null here. */
ROOT_TEST(the_device_has_its_facts)
{
	const json_t *nic;
	json_t *block;

	scratch_write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
	scratch_write("sys/class/infiniband/mlx5_0/fw_ver", "16.35.2000\n");
	scratch_write("sys/class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
	scratch_write("sys/class/infiniband/mlx5_0/device/numa_node", "-1\n");
	scratch_write("sys/bus/pci/drivers/mlx5_core/bind", "");
	scratch_link("../../../../bus/pci/drivers/mlx5_core",
		     "sys/class/infiniband/mlx5_0/device/driver");
	block = gather("mlx5_0");
	nic = json_object_get(block, "nic");
	assert_string_equal(json_string_value(json_object_get(nic, "ibdev")), "mlx5_0");
	assert_string_equal(json_string_value(json_object_get(nic, "kind")), "hardware");
	assert_string_equal(json_string_value(json_object_get(nic, "driver")), "mlx5_core");
	assert_string_equal(json_string_value(json_object_get(nic, "fw_ver")), "16.35.2000");
	assert_true(json_is_null(json_object_get(nic, "numa_node")));
	assert_true(json_is_null(json_object_get(nic, "board_id")));
	json_decref(block);
}

ROOT_TEST(a_guid_and_a_name_can_be_left_out)
{
	json_t *block;

	scratch_write("sys/class/infiniband/mlx5_0/node_guid", "e41d:2d03:0050:1234\n");
	block = gather("mlx5_0");
	assert_string_equal(json_string_value(fact(block, "nic", "node_guid")),
			    "e41d:2d03:0050:1234");
	assert_true(json_is_string(fact(block, "host", "hostname")));
	environment_anonymise(block);
	assert_true(json_is_null(fact(block, "nic", "node_guid")));
	assert_true(json_is_null(fact(block, "host", "hostname")));
	assert_string_equal(json_string_value(fact(block, "nic", "ibdev")), "mlx5_0");
	json_decref(block);
	block = gather(NULL);
	environment_anonymise(block);
	assert_true(json_is_null(json_object_get(block, "nic")));
	json_decref(block);
}

/* 1500 gives 1024 and 9000 gives 4096: so ibv_devinfo(1) has it for RoCE devices. */
ROOT_TEST(the_path_mtu_follows_the_interface)
{
	static const struct {
		const char *layer, *netdev_mtu;
		json_int_t expected; /* 0: null */
	} cases[] = {
		{"Ethernet", "1500\n", 1024}, {"Ethernet", "9000\n", 4096},
		{"Ethernet", "4192\n", 4096}, {"Ethernet", "4191\n", 2048},
		{"Ethernet", "352\n", 256},   {"Ethernet", "351\n", 0},
		{"Ethernet", "\n", 0},	      {"InfiniBand", "4092\n", 0},
	};

	scratch_write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
	scratch_write("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth7\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *block;

		scratch_write("sys/class/infiniband/mlx5_0/ports/1/link_layer", cases[i].layer);
		scratch_write("sys/class/net/eth7/mtu", cases[i].netdev_mtu);
		block = gather("mlx5_0");
		assert_int_equal(json_integer_value(fact(block, "nic", "path_mtu_bytes")),
				 cases[i].expected);
		json_decref(block);
	}
}

ROOT_TEST(persistent_memory_is_listed)
{
	const json_t *region;
	json_t *block;

	scratch_write("sys/bus/nd/devices/region0/persistence_domain", "memory_controller\n");
	scratch_write("sys/bus/nd/devices/region0/size", "268435456\n");
	scratch_write("sys/bus/nd/devices/ndbus0/provider", "ACPI.NFIT\n");
	block = gather(NULL);
	assert_int_equal(json_array_size(json_object_get(block, "pmem")), 1);
	region = json_array_get(json_object_get(block, "pmem"), 0);
	assert_string_equal(json_string_value(json_object_get(region, "persistence_domain")),
			    "memory_controller");
	assert_int_equal(json_integer_value(json_object_get(region, "size_bytes")), 268435456);
	assert_true(json_is_null(json_object_get(region, "numa_node")));
	json_decref(block);
}

static const json_t *whole(const json_t *object, const char *key, json_int_t expected)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) != expected)
		fail_msg("%s is not %lld", key, (long long)expected);
	return value;
}

static void text(const json_t *object, const char *key, const char *expected)
{
	const char *value = json_string_value(json_object_get(object, key));

	if (value == NULL)
		fail_msg("%s is no text", key);
	assert_string_equal(value, expected);
}

ROOT_TEST(namespaces_and_mounts_are_listed)
{
	const json_t *region, *namespace;
	json_t *block;

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
	region = json_array_get(json_object_get(block, "pmem"), 0);
	text(region, "provider", "ACPI.NFIT");
	whole(region, "badblocks", 2);
	whole(region, "align_bytes", 0x1000000);
	assert_true(json_is_null(json_object_get(region, "read_only")));
	assert_int_equal(json_array_size(json_object_get(region, "namespaces")), 1);
	namespace = json_array_get(json_object_get(region, "namespaces"), 0);
	text(namespace, "mode", "memory");
	text(namespace, "block", "pmem0");
	text(namespace, "filesystem", "xfs");
	text(namespace, "mount_options", "rw,dax=always");
	json_decref(block);
}

ROOT_TEST(power_and_caches_are_read)
{
	const json_t *power;
	json_t *block;

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
	block = gather(NULL);
	power = json_object_get(block, "power");
	assert_int_equal(json_array_size(json_object_get(power, "governors")), 2);
	text(power, "idle_state", "C1E");
	whole(power, "idle_exit_latency_us", 10);
	assert_true(json_is_null(json_object_get(power, "cpu_dma_latency_us")));
	whole(json_object_get(block, "cpu"), "llc_ways", 11);
	text(json_object_get(block, "os"), "container", "lxc");
	whole(json_array_get(fact(block, "memory", "nodes"), 0), "total_bytes", 2097152);
	json_decref(block);
}

/* Writes so many bytes of a configuration space. */
static void write_config(const uint8_t config[256], size_t bytes)
{
	char path[PATH_MAX];
	FILE *file = fopen(scratch_path("sys/class/infiniband/mlx5_0/device/config", path), "we");

	assert_non_null(file);
	assert_int_equal(fwrite(config, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

/* Power management, then Express: relaxed ordering, no-snoop, 256 and 512 bytes. */
static const uint8_t express_config[256] = {
	[0x06] = 0x10, [0x34] = 0x40, [0x40] = 0x01,	      [0x41] = 0x60,
	[0x60] = 0x10, [0x61] = 0x00, [0x68] = 0x10 | 1 << 5, [0x69] = 0x08 | 2 << 4,
};

ROOT_TEST(the_use_of_the_link_is_read)
{
	const json_t *nic;
	json_t *block;

	scratch_write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
	write_config(express_config, 256);
	block = gather("mlx5_0");
	nic = json_object_get(block, "nic");
	whole(nic, "max_payload_bytes", 256);
	whole(nic, "max_read_request_bytes", 512);
	assert_true(json_is_true(json_object_get(nic, "relaxed_ordering")));
	assert_true(json_is_true(json_object_get(nic, "no_snoop")));
	json_decref(block);
}

/* 0x17 is the capability of TPH; 1 in bits 9:8 of its control is to send them by vector. */
ROOT_TEST(whether_writes_are_steered_is_read)
{
	for (uint32_t mode = 0; mode < 2; mode++) {
		struct config_space space;
		char path[PATH_MAX];
		json_t *block;
		FILE *file;

		config_space_begin(&space, 0x15b3, 0x1017, 0);
		config_space_add_express(&space, 0x60, 0, 0);
		config_space_add_extended(&space, 0x100, 0x17, 1);
		config_space_put(&space, 0x108, mode << 8, 4);
		scratch_write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
		file = fopen(scratch_path("sys/class/infiniband/mlx5_0/device/config", path), "we");
		assert_non_null(file);
		assert_int_equal(fwrite(space.bytes, 1, sizeof(space.bytes), file),
				 sizeof(space.bytes));
		assert_int_equal(fclose(file), 0);
		block = gather("mlx5_0");
		assert_int_equal(json_is_true(fact(block, "nic", "tph")), mode != 0);
		json_decref(block);
	}
}

/* Without privilege 64 bytes are all there is; a loop of capabilities ends. */
ROOT_TEST(what_the_link_hides_is_null)
{
	static const uint8_t loop[256] = {
		[0x06] = 0x10, [0x34] = 0x40, [0x40] = 0x01, [0x41] = 0x40};
	static const uint8_t beyond[256] = {
		[0x06] = 0x10, [0x34] = 0xf8, [0xf8] = 0x10, [0xf9] = 0};
	static const struct {
		const uint8_t *config;
		size_t bytes;
	} cases[] = {{express_config, 64}, {express_config, 0}, {loop, 256}, {beyond, 256}};

	scratch_write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *block;

		write_config(cases[i].config, cases[i].bytes);
		block = gather("mlx5_0");
		assert_true(json_is_null(fact(block, "nic", "max_payload_bytes")));
		assert_true(json_is_null(fact(block, "nic", "no_snoop")));
		assert_true(json_is_null(fact(block, "nic", "tph")));
		json_decref(block);
	}
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
	json_t *version = environment_library("libjansson.so");
	json_t *none = environment_library("libnosuch.so");

	assert_true(json_is_string(version));
	assert_true(json_is_null(none));
	json_decref(version);
	json_decref(none);
}
