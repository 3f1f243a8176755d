/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_gather_target.c -- from a path to the regions behind it, in trees that
 * are laid out as the kernel's sysfs, and in some that are not.
 */
#include <errno.h>

#include "common/readiness/gather.h"
#include "scratch.h"

#define ND	"sys/bus/nd/devices"
#define BUS	"sys/devices/LNXSYSTM:00/ACPI0012:00/ndbus0"
#define TO_BUS	"../../../devices/LNXSYSTM:00/ACPI0012:00/ndbus0"
#define TO_BUS1 "../../devices/LNXSYSTM:00/ACPI0012:00/ndbus0"
#define SCHEMA	"{\"schema\":\"rpma-ddio-check-facts/1\",\"targets\":"

static struct sysroot root;
static struct facts_target target;

static int open_tree(void **state)
{
	return scratch_setup(state) != 0 || sysroot_open(&root, scratch) != 0;
}

static int close_tree(void **state)
{
	sysroot_close(&root);
	return scratch_teardown(state);
}

static void gather(const char *path)
{
	struct answers answers;
	const struct gather g = {.root = &root, .answers = &answers};

	assert_int_equal(answers_open(&answers, &root), 0);
	gather_target(&g, path, &target);
	answers_close(&answers);
}

static void put(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(const char *text, const char *format, ...)
{
	char name[256];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	scratch_write(name, text);
}

static void link_to(const char *name, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void link_to(const char *name, const char *format, ...)
{
	char to[256];
	va_list args;

	va_start(args, format);
	vsnprintf(to, sizeof(to), format, args);
	va_end(args);
	scratch_link(to, name);
}

static void put_region(int n)
{
	char name[64];

	put("ACPI.NFIT\n", BUS "/provider");
	put("memory_controller\n", BUS "/region%d/persistence_domain", n);
	put("135291469824\n", BUS "/region%d/size", n);
	put("0\n", BUS "/region%d/read_only", n);
	put("0\n", BUS "/region%d/numa_node", n);
	put("0x100000000\n", BUS "/region%d/resource", n);
	put("", BUS "/region%d/badblocks", n);
	put("1\n", BUS "/region%d/mappings", n);
	snprintf(name, sizeof(name), "nmem%d,0x0,0x1f80000000,0\n", n);
	put(name, BUS "/region%d/mapping0", n);
	put("\n", BUS "/nmem%d/nfit/flags", n);
	put("0\n", BUS "/nmem%d/nfit/dirty_shutdown", n);
	snprintf(name, sizeof(name), ND "/region%d", n);
	link_to(name, TO_BUS "/region%d", n);
	snprintf(name, sizeof(name), ND "/nmem%d", n);
	link_to(name, TO_BUS "/nmem%d", n);
}

static void put_namespace(int region, int n, const char *mode)
{
	char name[64];

	put(mode, BUS "/region%d/namespace%d.%d/mode", region, region, n);
	put("1073741824\n", BUS "/region%d/namespace%d.%d/size", region, region, n);
	put("0x100200000\n", BUS "/region%d/namespace%d.%d/resource", region, region, n);
	snprintf(name, sizeof(name), ND "/namespace%d.%d", region, n);
	link_to(name, TO_BUS "/region%d/namespace%d.%d", region, region, n);
}

/* As libnvdimm has it: the namespace is claimed by dax0.1, below which is dax0.0. */
static void put_devdax(void)
{
	static const char at[] = BUS "/region0/dax0.1/dax0.0";

	put_region(0);
	put_namespace(0, 0, "dax\n");
	put("namespace0.0\n", BUS "/region0/dax0.1/namespace");
	put("1056964608\n", "%s/size", at);
	put("2097152\n", "%s/align", at);
	scratch_link("../../../../../../../bus/dax/drivers/device_dax",
		     BUS "/region0/dax0.1/dax0.0/driver");
	scratch_link("../../../../../../../bus/dax", BUS "/region0/dax0.1/dax0.0/subsystem");
	scratch_link(TO_BUS "/region0/dax0.1/dax0.0", "sys/bus/dax/devices/dax0.0");
	scratch_link(TO_BUS1 "/region0/dax0.1/dax0.0", "sys/dev/char/252:5");
}

/* pmemN below what claims its namespace, of numbers 259:N. */
static void put_disk(int n, const char *claim, const char *disk, const char *mode)
{
	char name[128], text[32];

	put_region(n);
	put_namespace(n, 0, mode);
	snprintf(text, sizeof(text), "namespace%d.0\n", n);
	put(text, BUS "/region%d/%s/namespace", n, claim);
	put("1\n", BUS "/region%d/%s/block/%s/queue/dax", n, claim, disk);
	put("", BUS "/region%d/%s/block/%s/badblocks", n, claim, disk);
	snprintf(name, sizeof(name), "sys/block/%s", disk);
	link_to(name, "../devices/LNXSYSTM:00/ACPI0012:00/ndbus0/region%d/%s/block/%s", n, claim,
		disk);
	snprintf(name, sizeof(name), "sys/dev/block/259:%d", n);
	link_to(name, TO_BUS1 "/region%d/%s/block/%s", n, claim, disk);
}

static void put_fsdax(void)
{
	put_disk(0, "pfn0.1", "pmem0", "memory\n");
}

static void is_on(enum target_shape shape, const char *device, size_t regions)
{
	assert_int_equal(target.shape, shape);
	assert_string_equal(target.device, device);
	assert_int_equal(target.regions_count, regions);
}

static void is_made_of(const char *name, const char *mode)
{
	assert_int_equal(target.namespaces_count, 1);
	assert_string_equal(target.namespaces[0].name, name);
	assert_string_equal(target.namespaces[0].mode, mode);
}

static void device_dax_by_its_numbers(void **s)
{
	put_devdax();
	scratch_write("facts.json", SCHEMA "{\"/dev/mine\":{\"kind\":\"character\",\"major\":252,"
					   "\"minor\":5}}}");
	gather("/dev/mine");
	is_on(TARGET_ON_DEVDAX, "dax0.0", 1);
	is_made_of("namespace0.0", "dax");
	assert_string_equal(target.driver, "device_dax");
	assert_int_equal(target.size_bytes, 1056964608);
	assert_int_equal(target.align_bytes, 2097152);
	assert_string_equal(target.regions[0].provider, "ACPI.NFIT");
	assert_string_equal(target.regions[0].persistence_domain, "memory_controller");
	assert_int_equal(target.regions[0].size_bytes, 135291469824);
	assert_int_equal(target.regions[0].badblocks, 0);
	assert_int_equal(target.regions[0].dimms_count, 1);
	assert_string_equal(target.regions[0].dimms[0].name, "nmem0");
	assert_string_equal(target.regions[0].dimms[0].flags, "none");
}

static void device_dax_by_its_name(void **s)
{
	put_devdax();
	gather("/dev//./dax0.0");
	is_on(TARGET_ON_DEVDAX, "dax0.0", 1);
	is_made_of("namespace0.0", "dax");
}

static void device_dax_without_a_driver(void **s)
{
	char path[PATH_MAX];

	put_devdax();
	assert_int_equal(unlink(scratch_path(BUS "/region0/dax0.1/dax0.0/driver", path)), 0);
	gather("/dev/dax0.0");
	assert_string_equal(target.driver, "none");
}

/* Memory that the firmware set aside, and what CXL has of DRAM: regions of other kinds. */
static void device_dax_of_other_memory(void **s)
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

static void a_character_device_of_another_kind(void **s)
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

static void a_file_by_its_mount(void **s)
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
	assert_string_equal(target.filesystem, "ext4");
	assert_int_equal(target.dax_mount, KNOWN_YES);
	assert_int_equal(target.dax_queue, KNOWN_YES);
	assert_int_equal(target.badblocks, 0);
	assert_false(target.read_only_mount);
	gather("/mnt/pmemory/a");
	is_on(TARGET_NOT_PMEM, "sda3", 0);
	gather("/mnt/pmem/../other");
	is_on(TARGET_NOT_PMEM, "sda2", 0);
	gather("/mnt/pmem");
	is_on(TARGET_ON_FSDAX, "pmem0", 1);
}

static void the_last_of_two_mounts_hides_the_first(void **s)
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
static void blanks_of_a_mount_point(void **s)
{
	put_fsdax();
	scratch_write("proc/self/mountinfo",
		      "30 20 259:0 / /mnt/my\\040pmem ro - xfs /dev/pmem0 ro,dax=inode\n");
	gather("/mnt/my pmem/a");
	is_on(TARGET_ON_FSDAX, "pmem0", 1);
	assert_int_equal(target.dax_mount, KNOWN_NOT);
	assert_true(target.read_only_mount);
}

static void options_of_the_mount(void **s)
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

/* What is mounted may be called anything; only a device node names a device. */
static void a_name_of_a_mount_is_no_device(void **s)
{
	put_fsdax();
	scratch_write("proc/self/mountinfo", "30 20 0:44 / /mnt rw - tmpfs pmem0 rw\n");
	gather("/mnt/a");
	is_on(TARGET_NOT_PMEM, "tmpfs", 0);
}

/* The numbers of a file on btrfs or overlay are those of no device. */
static void a_file_system_with_numbers_of_its_own(void **s)
{
	put_fsdax();
	scratch_write("proc/self/mountinfo", "30 20 0:44 / /mnt rw - btrfs /dev/pmem0 rw\n");
	scratch_write("facts.json", SCHEMA "{\"/mnt/a\":{\"kind\":\"regular\",\"size_bytes\":7,"
					   "\"major\":0,\"minor\":45}}}");
	gather("/mnt/a");
	is_on(TARGET_ON_FSDAX, "pmem0", 1);
	assert_int_equal(target.size_bytes, 7);
	assert_int_equal(target.dax_mount, KNOWN_NO);
}

static void statx_counts_more_than_the_mount(void **s)
{
	put_fsdax();
	scratch_write("proc/self/mountinfo", "30 20 8:2 / / rw - ext4 /dev/sda2 rw\n");
	scratch_write("facts.json", SCHEMA "{\"/mnt/a\":{\"kind\":\"directory\",\"major\":259,"
					   "\"minor\":0}}}");
	gather("/mnt/a");
	is_on(TARGET_ON_FSDAX, "pmem0", 1);
	assert_int_equal(target.size_bytes, -1);
}

static void without_mounts_nothing_is_known(void **s)
{
	put_fsdax();
	gather("/mnt/a");
	is_on(TARGET_NOT_PMEM, "", 0);
	assert_string_equal(target.filesystem, "");
}

static void block_devices(void **s)
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

static void partitions_are_of_their_disk(void **s)
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

static void sectors_are_seen_below_their_claim(void **s)
{
	put_disk(0, "btt0.2", "pmem0s", "safe\n");
	gather("/dev/pmem0s");
	is_on(TARGET_ON_BLOCK, "pmem0s", 1);
	is_made_of("namespace0.0", "safe");
}

static void raw_has_no_claim(void **s)
{
	put_disk(0, "namespace0.0", "pmem0", "raw\n");
	gather("/dev/pmem0");
	is_on(TARGET_ON_BLOCK, "pmem0", 1);
	is_made_of("namespace0.0", "raw");
}

static void missing_and_odd_paths(void **s)
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
static void relative_paths(void **s)
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
	assert_false(target.read_only_mount);
	assert_int_equal(target.dax_mount, KNOWN_NOT);
}

static void memory_of_the_process(void **s)
{
	put_devdax();
	gather("dram:16M");
	is_on(TARGET_NOT_PMEM, "dram", 0);
	assert_int_equal(target.size_bytes, 16 << 20);
	gather("hugepages:lots");
	is_on(TARGET_NOT_PMEM, "hugepages", 0);
	assert_int_equal(target.size_bytes, -1);
}

/* What the device mapper joins. */

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

static void mapped_devices_are_all_counted(void **s)
{
	static const char *const slaves[] = {"pmem0", "pmem1"};

	put_fsdax();
	put_disk(1, "pfn1.0", "pmem1", "memory\n");
	put("8 8\n", BUS "/region1/pfn1.0/block/pmem1/badblocks");
	put_mapper(slaves, 2);
	gather("/mnt/a");
	is_on(TARGET_ON_FSDAX, "dm-0", 2);
	assert_int_equal(target.namespaces_count, 2);
	assert_int_equal(target.dax_queue, KNOWN_YES);
	assert_int_equal(target.badblocks, 1);
}

static void one_disk_among_mapped_devices(void **s)
{
	static const char *const slaves[] = {"pmem0", "sda1"};

	put_fsdax();
	put_mapper(slaves, 2);
	gather("/mnt/a");
	assert_int_equal(target.shape, TARGET_NOT_PMEM);
}

static void mapped_devices_in_a_loop(void **s)
{
	static const char *const slaves[] = {"dm-0"};

	put_mapper(slaves, 1);
	gather("/mnt/a");
	assert_int_equal(target.shape, TARGET_NOT_PMEM);
}

static void mapped_devices_without_end(void **s)
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

static void without_a_target_the_host(void **s)
{
	put_devdax();
	put_disk(1, "pfn1.0", "pmem1", "memory\n");
	put_namespace(1, 1, "raw\n");
	put("0\n", BUS "/region1/namespace1.1/size"); /* the one kept ready */
	gather(NULL);
	is_on(TARGET_NOT_GIVEN, "", 2);
	assert_int_equal(target.regions_of_host, 2);
	assert_int_equal(target.namespaces_count, 2);
	assert_string_equal(target.namespaces[1].name, "namespace1.0");
	assert_string_equal(target.regions[1].dimms[0].name, "nmem1");
	assert_true(target.host_seen);
	assert_false(target.cut);
}

static void an_empty_host(void **s)
{
	gather(NULL);
	is_on(TARGET_NOT_GIVEN, "", 0);
	assert_false(target.host_seen);
	assert_int_equal(target.regions_of_host, 0);
	assert_int_equal(target.cxl_pmem_bytes, 0);
}

static void volatile_regions_do_not_count(void **s)
{
	put_devdax();
	put("nd_volatile\n", BUS "/region0/devtype");
	gather(NULL);
	is_on(TARGET_NOT_GIVEN, "", 0);
	gather("/dev/dax0.0");
	is_on(TARGET_NOT_PMEM, "dax0.0", 0);
}

static void more_than_fits_is_said(void **s)
{
	for (int i = 0; i <= FACTS_REGIONS_MAX; i++)
		put("1\n", ND "/region%d/size", i);
	gather(NULL);
	is_on(TARGET_NOT_GIVEN, "", FACTS_REGIONS_MAX);
	assert_string_equal(target.regions[FACTS_REGIONS_MAX - 1].name, "region15");
	assert_true(target.cut);
}

static void names_that_are_none_are_left_out(void **s)
{
	put("1\n", ND "/region0/size");
	put("1\n", ND "/region/size");
	put("1\n", ND "/region0x/size");
	put("1\n", ND "/region1\033[2J/size");
	put("1\n", ND "/regional/size");
	gather(NULL);
	is_on(TARGET_NOT_GIVEN, "", 1);
}

static void cxl_memory_is_added_up(void **s)
{
	put("0x10000000\n", "sys/bus/cxl/devices/mem0/pmem/size");
	put("0x10000000\n", "sys/bus/cxl/devices/mem1/pmem/size");
	gather(NULL);
	assert_int_equal(target.cxl_pmem_bytes, 1 << 29);
	put("", "sys/bus/cxl/devices/mem2/serial");
	gather(NULL);
	assert_int_equal(target.cxl_pmem_bytes, -1);
}

/* Bad blocks, by the sector of 512 bytes from the region's start. */

static void bad_blocks_within_the_target(void **s)
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
		{"9223372036854775807 9223372036854775807\n", 1},
	};

	put_devdax();
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		put(lists[i].text, BUS "/region0/badblocks");
		gather("/dev/dax0.0");
		assert_int_equal(target.regions[0].badblocks, lists[i].count);
	}
}

static void bad_blocks_where_the_place_is_secret(void **s)
{
	char path[PATH_MAX];

	put_devdax();
	put("0 8\n", BUS "/region0/badblocks");
	assert_int_equal(unlink(scratch_path(BUS "/region0/resource", path)), 0);
	gather("/dev/dax0.0");
	assert_int_equal(target.regions[0].badblocks, 1);
	assert_int_equal(unlink(scratch_path(BUS "/region0/badblocks", path)), 0);
	gather("/dev/dax0.0");
	assert_int_equal(target.regions[0].badblocks, -1);
}

/* Places that contradict each other say nothing. */
static void bad_blocks_where_the_place_is_wrong(void **s)
{
	put_devdax();
	put("0 8\n", BUS "/region0/badblocks");
	put("0\n", BUS "/region0/resource");
	gather("/dev/dax0.0");
	assert_int_equal(target.regions[0].badblocks, 1);
}

static void a_module_that_is_not_named_is_there(void **s)
{
	put_devdax();
	put("2\n", BUS "/region0/mappings");
	gather("/dev/dax0.0");
	assert_int_equal(target.regions[0].dimms_count, 2);
	assert_string_equal(target.regions[0].dimms[1].name, "nmem");
	assert_string_equal(target.regions[0].dimms[1].flags, "");
}

/* Trees by hand, whose devices are no links: only their names are left. */

static void a_flat_tree(void **s)
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
	assert_string_equal(target.regions[0].persistence_domain, "cpu_cache");
	assert_string_equal(target.regions[0].provider, "ACPI.NFIT");
	assert_string_equal(target.regions[0].dimms[0].flags, "not_armed ");
	gather("/dev/pmem0");
	is_on(TARGET_ON_BLOCK, "pmem0", 1);
	gather("/dev/pmem7");
	is_on(TARGET_MISSING, "", 0);
}

static void names_of_disks(void **s)
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tree, close_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(device_dax_by_its_numbers),
		TEST(device_dax_by_its_name),
		TEST(device_dax_without_a_driver),
		TEST(device_dax_of_other_memory),
		TEST(a_character_device_of_another_kind),
		TEST(a_file_by_its_mount),
		TEST(the_last_of_two_mounts_hides_the_first),
		TEST(blanks_of_a_mount_point),
		TEST(options_of_the_mount),
		TEST(a_name_of_a_mount_is_no_device),
		TEST(a_file_system_with_numbers_of_its_own),
		TEST(statx_counts_more_than_the_mount),
		TEST(without_mounts_nothing_is_known),
		TEST(block_devices),
		TEST(partitions_are_of_their_disk),
		TEST(sectors_are_seen_below_their_claim),
		TEST(raw_has_no_claim),
		TEST(missing_and_odd_paths),
		TEST(relative_paths),
		TEST(memory_of_the_process),
		TEST(mapped_devices_are_all_counted),
		TEST(one_disk_among_mapped_devices),
		TEST(mapped_devices_in_a_loop),
		TEST(mapped_devices_without_end),
		TEST(without_a_target_the_host),
		TEST(an_empty_host),
		TEST(volatile_regions_do_not_count),
		TEST(more_than_fits_is_said),
		TEST(names_that_are_none_are_left_out),
		TEST(cxl_memory_is_added_up),
		TEST(bad_blocks_within_the_target),
		TEST(bad_blocks_where_the_place_is_secret),
		TEST(bad_blocks_where_the_place_is_wrong),
		TEST(a_module_that_is_not_named_is_there),
		TEST(a_flat_tree),
		TEST(names_of_disks),
	};

	return cmocka_run_group_tests_name("readiness.gather_target", tests, NULL, NULL);
}
