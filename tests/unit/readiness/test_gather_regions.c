/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_gather_regions.c -- from a device to the regions behind it: of the
 * device mapper, of the whole host, in trees that are not as sysfs; and where
 * their bad blocks are.
 */
#include "made_pmem.h"

/* The devices that the device mapper joins. */

static void put_mapper(const char *const *slaves, size_t count)
{
	char name[128];

	put("1\n", "sys/devices/virtual/block/dm-0/queue/dax");
	scratch_link("../devices/virtual/block/dm-0", "sys/block/dm-0");
	scratch_link("../../devices/virtual/block/dm-0", "sys/dev/block/253:0");
	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "sys/devices/virtual/block/dm-0/slaves/%s", slaves[i]);
		scratch_link("nowhere", name);
	}
	scratch_write("proc/self/mountinfo",
		      "30 20 253:0 / /mnt rw - ext4 /dev/mapper/both rw,dax=always\n");
}

ROOT_TEST(mapped_devices_are_all_counted)
{
	static const char *const slaves[] = {"pmem0", "pmem1"};

	put_fsdax();
	put_disk(1, "pfn1.0", "pmem1", "memory\n");
	put("8 8\n", BUS "/region1/pfn1.0/block/pmem1/badblocks");
	put_mapper(slaves, 2);
	gather("/mnt/a");
	is_on(TARGET_ON_FSDAX, "dm-0", 2);
	EQUAL((target.namespaces_count, 2), (target.dax_queue, KNOWN_YES), (target.badblocks, 1),
	      (target.cut, false));
}

ROOT_TEST(a_mapped_device_of_which_nothing_is_known)
{
	static const char *const slaves[] = {"pmem0", "pmem1"};

	put_fsdax();
	put_mapper(slaves, 2);
	gather("/mnt/a");
	is_on(TARGET_ON_FSDAX, "dm-0", 1);
	assert_true(target.cut);
}

ROOT_TEST(a_mapped_device_whose_namespace_is_not_told)
{
	static const char *const slaves[] = {"pmem0", "pmem1"};

	put_fsdax();
	put_disk(1, "pfn1.0", "pmem1", "memory\n");
	scratch_write(BUS "/region1/pfn1.0/namespace", "\n");
	put_mapper(slaves, 2);
	gather("/mnt/a");
	is_on(TARGET_ON_FSDAX, "dm-0", 2);
	assert_true(target.cut);
}

ROOT_TEST(one_disk_among_mapped_devices)
{
	static const char *const slaves[] = {"pmem0", "sda1"};

	put_fsdax();
	put_mapper(slaves, 2);
	gather("/mnt/a");
	assert_int_equal(target.shape, TARGET_NOT_PMEM);
}

ROOT_TEST(mapped_devices_in_a_loop)
{
	static const char *const slaves[] = {"dm-0"};

	put_mapper(slaves, 1);
	gather("/mnt/a");
	assert_int_equal(target.shape, TARGET_NOT_PMEM);
}

ROOT_TEST(mapped_devices_without_end)
{
	char names[100][24];
	const char *slaves[100];

	put_fsdax();
	for (int i = 0; i < 100; i++) {
		snprintf(names[i], sizeof(names[i]), "pmem0p%d", i);
		slaves[i] = names[i];
	}
	put_mapper(slaves, 100);
	gather("/mnt/a");
	assert_int_equal(target.shape, TARGET_NOT_PMEM);
}

/* Without a target: the host. */

ROOT_TEST(without_a_target_the_host)
{
	put_devdax();
	put_disk(1, "pfn1.0", "pmem1", "memory\n");
	put_namespace(1, 1, "raw\n");
	put("0\n", BUS "/region1/namespace1.1/size"); /* the one kept ready */
	gather(NULL);
	is_on(TARGET_NOT_GIVEN, "", 2);
	EQUAL((target.regions_of_host, 2), (target.namespaces_count, 2),
	      (target.namespaces[1].name, "namespace1.0"),
	      (target.regions[1].dimms[0].name, "nmem1"), (target.host_seen, true),
	      (target.cut, false));
}

ROOT_TEST(an_empty_host)
{
	gather(NULL);
	is_on(TARGET_NOT_GIVEN, "", 0);
	EQUAL((target.host_seen, false), (target.regions_of_host, 0), (target.cxl.pmem_bytes, 0));
}

ROOT_TEST(volatile_regions_do_not_count)
{
	put_devdax();
	put("nd_volatile\n", BUS "/region0/devtype");
	gather(NULL);
	is_on(TARGET_NOT_GIVEN, "", 0);
	gather("/dev/dax0.0");
	is_on(TARGET_NOT_PMEM, "dax0.0", 0);
}

ROOT_TEST(more_than_fits_is_said)
{
	for (int i = 0; i <= FACTS_REGIONS_MAX; i++)
		put("1\n", ND "/region%d/size", i);
	gather(NULL);
	is_on(TARGET_NOT_GIVEN, "", FACTS_REGIONS_MAX);
	EQUAL((target.regions[FACTS_REGIONS_MAX - 1].name, "region15"), (target.cut, true));
}

ROOT_TEST(names_that_are_none_are_left_out)
{
	put("1\n", ND "/region0/size");
	put("1\n", ND "/region/size");
	put("1\n", ND "/region0x/size");
	put("1\n", ND "/region1\033[2J/size");
	put("1\n", ND "/regional/size");
	gather(NULL);
	is_on(TARGET_NOT_GIVEN, "", 1);
}

ROOT_TEST(cxl_memory_is_added_up)
{
	put("0x10000000\n", "sys/bus/cxl/devices/mem0/pmem/size");
	put("0x10000000\n", "sys/bus/cxl/devices/mem1/pmem/size");
	gather(NULL);
	assert_int_equal(target.cxl.pmem_bytes, 1 << 29);
	put("", "sys/bus/cxl/devices/mem2/serial");
	gather(NULL);
	assert_int_equal(target.cxl.pmem_bytes, -1);
}

ROOT_TEST(cxl_devices_and_what_is_made_of_them)
{
	put("0x10000000\n", "sys/bus/cxl/devices/mem0/pmem/size");
	put("locked\n", "sys/bus/cxl/devices/mem0/security/state");
	put("0x10000000\n", "sys/bus/cxl/devices/mem1/pmem/size");
	put("disabled\n", "sys/bus/cxl/devices/mem1/security/state");
	put("0x0\n", "sys/bus/cxl/devices/mem2/pmem/size");
	put("pmem\n", "sys/bus/cxl/devices/region0/mode");
	put("1\n", "sys/bus/cxl/devices/region0/commit");
	put("pmem\n", "sys/bus/cxl/devices/region1/mode");
	put("0\n", "sys/bus/cxl/devices/region1/commit");
	put("ram\n", "sys/bus/cxl/devices/region2/mode");
	put("1\n", "sys/bus/cxl/devices/region2/commit");
	gather(NULL);
	EQUAL((target.cxl.devices, 2), (target.cxl.locked, 1), (target.cxl.regions, 2),
	      (target.cxl.committed, 1), (target.cxl.bridge, false), (target.cxl.memory, "mem0"),
	      (target.cxl.decoder, ""));
	put("0\n", "sys/bus/cxl/devices/decoder0.0/cap_pmem");
	put("1\n", "sys/bus/cxl/devices/decoder0.1/cap_pmem");
	put("0x0\n", "sys/bus/cxl/devices/decoder1.0/start"); /* a port's */
	put("", "sys/bus/cxl/devices/nvdimm-bridge0/uevent");
	gather(NULL);
	EQUAL((target.cxl.bridge, true), (target.cxl.decoder, "decoder0.1"));
}

/* Bad blocks, by the sector of 512 bytes from the region's start. */

ROOT_TEST(bad_blocks_within_the_target)
{
	static const struct {
		const char *text;
		int64_t count;
	} lists[] = {
		{"", 0},
		{"4095 1\n", 0},    /* the last before the namespace at 2 MiB */
		{"4095 2\n", 1},    /* runs into it */
		{"4096 1\n", 1},    /* its first */
		{"2101247 1\n", 1}, /* its last: 2 MiB + 1 GiB */
		{"2101248 8\n", 0}, /* the first behind it */
		{"0 8\n4096 8\n5000 8\n", 2},
		{"junk\n", 1},
		{"0 1 junk\n", 1},
		{"9223372036854775807 9223372036854775807\n", 1},
	};

	put_devdax();
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		put(lists[i].text, BUS "/region0/badblocks");
		gather("/dev/dax0.0");
		assert_int_equal(target.regions[0].badblocks, lists[i].count);
	}
}

/* An empty list in text that goes on behind a byte of zero. */
ROOT_TEST(bad_blocks_are_unknown_in_what_is_no_text)
{
	char path[PATH_MAX];
	FILE *file;

	put_devdax();
	put("", BUS "/region0/badblocks");
	file = fopen(scratch_path(BUS "/region0/badblocks", path), "w");
	assert_non_null(file);
	EQUAL((fwrite("\0"
		      "4096 8\n",
		      1, 8, file),
	       8),
	      (fclose(file), 0));
	gather("/dev/dax0.0");
	assert_int_equal(target.regions[0].badblocks, -1);
}

ROOT_TEST(bad_blocks_where_the_place_is_secret)
{
	char path[PATH_MAX];

	put_devdax();
	put("0 8\n", BUS "/region0/badblocks");
	assert_int_equal(unlink(scratch_path(BUS "/region0/resource", path)), 0);
	gather("/dev/dax0.0");
	EQUAL((target.regions[0].badblocks, 1),
	      (unlink(scratch_path(BUS "/region0/badblocks", path)), 0));
	gather("/dev/dax0.0");
	assert_int_equal(target.regions[0].badblocks, -1);
}

/* Places that contradict each other say nothing. */
ROOT_TEST(bad_blocks_where_the_place_is_wrong)
{
	put_devdax();
	put("0 8\n", BUS "/region0/badblocks");
	put("0\n", BUS "/region0/resource");
	gather("/dev/dax0.0");
	assert_int_equal(target.regions[0].badblocks, 1);
}

ROOT_TEST(a_module_that_is_not_named_is_there)
{
	put_devdax();
	put("2\n", BUS "/region0/mappings");
	gather("/dev/dax0.0");
	EQUAL((target.regions[0].dimms_count, 2), (target.regions[0].dimms[1].name, "nmem"),
	      (target.regions[0].dimms[1].flags, ""));
}

/* Trees by hand, whose devices are no links: only their names are left. */

ROOT_TEST(a_flat_tree)
{
	put("cpu_cache\n", ND "/region0/persistence_domain");
	put("ACPI.NFIT\n", ND "/ndbus0/provider");
	put("dax\n", ND "/namespace0.0/mode");
	put("not_armed \n", ND "/nmem0/nfit/flags");
	put("2097152\n", "sys/bus/dax/devices/dax0.0/size");
	put("1\n", "sys/block/pmem0/queue/dax");
	gather("/dev/dax0.0");
	is_on(TARGET_ON_DEVDAX, "dax0.0", 1);
	is_made_of("namespace0.0", "dax");
	EQUAL((target.regions[0].persistence_domain, "cpu_cache"),
	      (target.regions[0].provider, "ACPI.NFIT"),
	      (target.regions[0].dimms[0].flags, "not_armed "));
	gather("/dev/pmem0");
	is_on(TARGET_ON_BLOCK, "pmem0", 1);
	gather("/dev/pmem7");
	is_on(TARGET_MISSING, "", 0);
}

ROOT_TEST(names_of_disks)
{
	static const char *const good[] = {"pmem0",    "pmem12",  "pmem0.1",	"pmem0s",
					   "pmem0.1s", "pmem0p1", "pmem0.1p12", "pmem0sp2"};
	static const char *const bad[] = {"pmem",   "pmemx",   "pmem-1", "pmem 1", "pmem0.",
					  "pmem0p", "pmem0px", "pmem0x", "xpmem0"};
	char path[64];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		/* the disk is there, and with it its partitions */
		put("", "sys/block/%.*s/dev", (int)strcspn(good[i] + 1, "p") + 1, good[i]);
		snprintf(path, sizeof(path), "/dev/%s", good[i]);
		gather(path);
		assert_int_equal(target.shape, TARGET_ON_BLOCK);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(path, sizeof(path), "/dev/%s", bad[i]);
		gather(path);
		assert_int_equal(target.shape, TARGET_MISSING);
	}
}
