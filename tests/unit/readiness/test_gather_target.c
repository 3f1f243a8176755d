/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_gather_target.c -- from a path to the device it lies on, in trees that
 * are laid out as the kernel's sysfs.
 */
#include "made_pmem.h"

ROOT_TEST(device_dax_by_its_numbers)
{
	put_devdax();
	scratch_write("facts.json", SCHEMA "{\"/dev/mine\":{\"kind\":\"character\",\"major\":252,"
					   "\"minor\":5}}}");
	gather("/dev/mine");
	is_on(TARGET_ON_DEVDAX, "dax0.0", 1);
	is_made_of("namespace0.0", "dax");
	EQUAL((target.driver, "device_dax"), (target.size_bytes, 1056964608),
	      (target.align_bytes, 2097152), (target.regions[0].provider, "ACPI.NFIT"),
	      (target.regions[0].persistence_domain, "memory_controller"),
	      (target.regions[0].size_bytes, 135291469824), (target.regions[0].badblocks, 0),
	      (target.regions[0].dimms_count, 1), (target.regions[0].dimms[0].name, "nmem0"),
	      (target.regions[0].dimms[0].flags, "none"));
}

ROOT_TEST(device_dax_by_its_name)
{
	put_devdax();
	gather("/dev//./dax0.0");
	is_on(TARGET_ON_DEVDAX, "dax0.0", 1);
	is_made_of("namespace0.0", "dax");
}

ROOT_TEST(device_dax_without_a_driver)
{
	char path[PATH_MAX];

	put_devdax();
	assert_int_equal(unlink(scratch_path(BUS "/region0/dax0.1/dax0.0/driver", path)), 0);
	gather("/dev/dax0.0");
	assert_string_equal(target.driver, "none");
}

/* Memory that the firmware set aside, and what CXL has of DRAM: regions of other kinds. */
ROOT_TEST(device_dax_of_other_memory)
{
	put_devdax();
	put("1\n", "sys/devices/platform/hmem.0/dax1.0/size");
	scratch_link("../../../devices/platform/hmem.0/dax1.0", "sys/bus/dax/devices/dax1.0");
	gather("/dev/dax1.0");
	is_on(TARGET_NOT_PMEM, "dax1.0", 0);
	put("1\n", "sys/devices/platform/ACPI0017:00/root0/region0/dax_region0/dax2.0/size");
	scratch_link("../../../devices/platform/ACPI0017:00/root0/region0/dax_region0/dax2.0",
		     "sys/bus/dax/devices/dax2.0");
	gather("/dev/dax2.0");
	is_on(TARGET_NOT_PMEM, "dax2.0", 0);
}

ROOT_TEST(a_character_device_of_another_kind)
{
	put_devdax();
	put("", "sys/devices/virtual/mem/null/uevent");
	scratch_link("../../../../class/mem", "sys/devices/virtual/mem/null/subsystem");
	scratch_link("../../devices/virtual/mem/null", "sys/dev/char/1:3");
	scratch_write("facts.json", SCHEMA "{\"/dev/null\":{\"kind\":\"character\",\"major\":1,"
					   "\"minor\":3},\"/dev/gone\":{\"kind\":\"character\","
					   "\"major\":9,\"minor\":9}}}");
	gather("/dev/null");
	is_on(TARGET_NOT_PMEM, "null", 0);
	gather("/dev/gone");
	is_on(TARGET_NOT_PMEM, "", 0);
}

ROOT_TEST(a_file_by_its_mount)
{
	put_fsdax();
	scratch_write(
		"proc/self/mountinfo",
		"20 1 8:2 / / rw - ext4 /dev/sda2 rw\n"
		"30 20 259:0 / /mnt/pmem rw,noatime shared:1 - ext4 /dev/pmem0 rw,dax=always\n"
		"31 20 8:3 / /mnt/pmemory rw - ext4 /dev/sda3 rw\n");
	gather("/mnt/pmem/a/b");
	is_on(TARGET_ON_FSDAX, "pmem0", 1);
	is_made_of("namespace0.0", "memory");
	EQUAL((target.filesystem, "ext4"), (target.dax_mount, KNOWN_YES),
	      (target.dax_queue, KNOWN_YES), (target.badblocks, 0),
	      (target.read_only_mount, false));
	gather("/mnt/pmemory/a");
	is_on(TARGET_NOT_PMEM, "sda3", 0);
	gather("/mnt/pmem/../other");
	is_on(TARGET_NOT_PMEM, "sda2", 0);
	gather("/mnt/pmem");
	is_on(TARGET_ON_FSDAX, "pmem0", 1);
}

ROOT_TEST(the_last_of_two_mounts_hides_the_first)
{
	put_fsdax();
	scratch_write("proc/self/mountinfo",
		      "20 1 8:2 / / rw - ext4 /dev/sda2 rw\n"
		      "30 20 259:0 / /mnt rw - ext4 /dev/pmem0 rw,dax=always\n"
		      "31 30 0:50 / /mnt rw - tmpfs tmpfs rw\n");
	gather("/mnt/a");
	is_on(TARGET_NOT_PMEM, "tmpfs", 0);
	assert_string_equal(target.filesystem, "tmpfs");
}

/* fs/proc_namespace.c writes a blank as \040. */
ROOT_TEST(blanks_of_a_mount_point)
{
	put_fsdax();
	scratch_write("proc/self/mountinfo",
		      "30 20 259:0 / /mnt/my\\040pmem ro - xfs /dev/pmem0 ro,dax=inode\n");
	gather("/mnt/my pmem/a");
	is_on(TARGET_ON_FSDAX, "pmem0", 1);
	EQUAL((target.dax_mount, KNOWN_NOT), (target.read_only_mount, true));
}

ROOT_TEST(options_of_the_mount)
{
	static const struct {
		const char *options;
		enum known dax;
	} mounts[] = {
		{"rw,dax", KNOWN_YES},
		{"rw,dax=always,x", KNOWN_YES},
		{"rw", KNOWN_NO},
		{"rw,dax=never", KNOWN_NO},
		{"rw,nodax,daxes", KNOWN_NO},
		{"dax=inode", KNOWN_NOT},
	};
	char text[128];

	put_fsdax();
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		snprintf(text, sizeof(text), "30 20 259:0 / /mnt rw - ext4 /dev/pmem0 %s\n",
			 mounts[i].options);
		scratch_write("proc/self/mountinfo", text);
		gather("/mnt/a");
		assert_int_equal(target.dax_mount, mounts[i].dax);
	}
}

/* A mount may have any name; only a device node names a device. */
ROOT_TEST(a_name_of_a_mount_is_no_device)
{
	put_fsdax();
	scratch_write("proc/self/mountinfo", "30 20 0:44 / /mnt rw - tmpfs pmem0 rw\n");
	gather("/mnt/a");
	is_on(TARGET_NOT_PMEM, "tmpfs", 0);
}

/* The numbers of a file on btrfs or overlay are those of no device. */
ROOT_TEST(a_file_system_with_numbers_of_its_own)
{
	put_fsdax();
	scratch_write("proc/self/mountinfo", "30 20 0:44 / /mnt rw - btrfs /dev/pmem0 rw\n");
	scratch_write("facts.json", SCHEMA "{\"/mnt/a\":{\"kind\":\"regular\",\"size_bytes\":7,"
					   "\"major\":0,\"minor\":45}}}");
	gather("/mnt/a");
	is_on(TARGET_ON_FSDAX, "pmem0", 1);
	EQUAL((target.size_bytes, 7), (target.dax_mount, KNOWN_NO));
}

ROOT_TEST(statx_counts_more_than_the_mount)
{
	put_fsdax();
	scratch_write("proc/self/mountinfo", "30 20 8:2 / / rw - ext4 /dev/sda2 rw\n");
	scratch_write("facts.json", SCHEMA "{\"/mnt/a\":{\"kind\":\"directory\",\"major\":259,"
					   "\"minor\":0}}}");
	gather("/mnt/a");
	is_on(TARGET_ON_FSDAX, "pmem0", 1);
	assert_int_equal(target.size_bytes, -1);
}

ROOT_TEST(without_mounts_nothing_is_known)
{
	put_fsdax();
	gather("/mnt/a");
	is_on(TARGET_NOT_PMEM, "", 0);
	assert_string_equal(target.filesystem, "");
}

ROOT_TEST(block_devices)
{
	put_fsdax();
	put("2097152\n", "sys/class/block/pmem0/size");
	put("", "sys/class/block/sda/dev");
	gather("/dev/pmem0");
	is_on(TARGET_ON_BLOCK, "pmem0", 1);
	assert_int_equal(target.size_bytes, 1 << 30);
	gather("/dev/sda");
	is_on(TARGET_NOT_PMEM, "sda", 0);
	gather("/dev/nothing");
	assert_int_equal(target.shape, TARGET_MISSING);
	gather("/dev/mapper/nothing");
	assert_int_equal(target.shape, TARGET_MISSING);
}

ROOT_TEST(partitions_are_of_their_disk)
{
	put_fsdax();
	put("1\n", BUS "/region0/pfn0.1/block/pmem0/pmem0p1/partition");
	scratch_link(TO_BUS1 "/region0/pfn0.1/block/pmem0/pmem0p1", "sys/dev/block/259:7");
	scratch_write("facts.json", SCHEMA "{\"/mnt/a\":{\"kind\":\"regular\",\"major\":259,"
					   "\"minor\":7}}}");
	gather("/mnt/a");
	is_on(TARGET_ON_FSDAX, "pmem0p1", 1);
	is_made_of("namespace0.0", "memory");
	assert_int_equal(target.dax_queue, KNOWN_YES);
}

ROOT_TEST(missing_and_odd_paths)
{
	put_devdax();
	scratch_write("facts.json", SCHEMA "{\"/a\":{\"kind\":\"none\",\"error\":\"ENOENT\"},"
					   "\"/b\":{\"kind\":\"other\"}}}");
	gather("/a");
	is_on(TARGET_MISSING, "", 0);
	assert_int_equal(target.answer.error, ENOENT);
	gather("/b");
	is_on(TARGET_NOT_PMEM, "", 0);
	gather("/dev/dax0.0/../dax0.0");
	is_on(TARGET_ON_DEVDAX, "dax0.0", 1);
}

/* Relative to what? But what facts.json knows by that name it knows. */
ROOT_TEST(relative_paths)
{
	put_fsdax();
	scratch_write("proc/self/mountinfo", "20 1 8:2 / / ro - ext4 /dev/sda2 ro\n");
	scratch_write("facts.json", SCHEMA "{\"known\":{\"kind\":\"regular\",\"major\":259,"
					   "\"minor\":0}}}");
	gather("pmem0");
	is_on(TARGET_MISSING, "", 0);
	gather("");
	is_on(TARGET_MISSING, "", 0);
	gather("known");
	is_on(TARGET_ON_FSDAX, "pmem0", 1);
	EQUAL((target.read_only_mount, false), (target.dax_mount, KNOWN_NOT));
}

ROOT_TEST(memory_of_the_process)
{
	put_devdax();
	gather("dram:16M");
	is_on(TARGET_NOT_PMEM, "dram", 0);
	assert_int_equal(target.size_bytes, 16 << 20);
	gather("hugepages:lots");
	is_on(TARGET_NOT_PMEM, "hugepages", 0);
	assert_int_equal(target.size_bytes, -1);
}
