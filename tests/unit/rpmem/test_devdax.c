/* SPDX-License-Identifier: BSD-3-Clause */
/* test_devdax.c -- device DAX in a sysfs made up, as that of Linux 6.1 looks. */
#include <sys/sysmacros.h>

#include "tests/lib/scratch.h"
#include "tools/rpmemd/mapping.h"

#define REGION "devices/LNXSYSTM:00/ndbus0/region0/"
#define DAX    REGION "dax0.1/dax/dax0.0/"

static const char *const attributes[][2] = {
	{DAX "size", "1073741824\n"},	       {DAX "align", "2097152\n"},
	{REGION "deep_flush", "1\n"},	       {REGION "devtype", "nd_pmem\n"},
	{REGION "dax0.1/devtype", "nd_dax\n"},
};

static int setup(void **state)
{
	if (scratch_setup(state) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		scratch_write(attributes[i][0], attributes[i][1]);
	scratch_link("../../../../../../../bus/dax", DAX "subsystem");
	scratch_link("../../" DAX, "dev/char/252:3");
	return 0;
}

TEST(size_and_alignment_are_read, setup, scratch_teardown)
{
	struct devdax devdax;

	EQUAL((devdax_read(scratch, makedev(252, 3), &devdax), 0), (devdax.bytes, 1073741824),
	      (devdax.alignment, 2097152));
}

/* Only the type nd_pmem shows persistent memory: not another type, and not a missing one. */
TEST(persistence_is_that_of_the_region, setup, scratch_teardown)
{
	static const char *const others[] = {
		"nd_volatile\n",	"nd_blk\n", "nd_pmem2\n", "nd_pme\n", "\n", "",
		"nd_pmem nd_volatile\n"};
	struct devdax devdax;
	char path[PATH_MAX];

	EQUAL((devdax_read(scratch, makedev(252, 3), &devdax), 0), (devdax.is_persistent, true));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		scratch_write(REGION "devtype", others[i]);
		EQUAL((devdax_read(scratch, makedev(252, 3), &devdax), 0),
		      (devdax.is_persistent, false));
	}
	EQUAL((unlink(scratch_path(REGION "devtype", path)), 0),
	      (devdax_read(scratch, makedev(252, 3), &devdax), 0), (devdax.is_persistent, false));
}

/* Linux 6.12 shows the firmware's special-purpose memory so, and volatile memory of CXL. */
TEST(memory_of_no_region_is_volatile, setup, scratch_teardown)
{
	static const char *const places[][2] = {
		{"devices/platform/hmem.0/dax1.0", "../../../../bus/dax"},
		{"devices/platform/ACPI0017:00/root0/decoder0.0/region0/dax_region0/dax1.0",
		 "../../../../../../../../bus/dax"},
	};
	char path[PATH_MAX], target[PATH_MAX];
	struct devdax devdax;

	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/size", places[i][0]);
		scratch_write(path, "1073741824\n");
		snprintf(path, sizeof(path), "%s/subsystem", places[i][0]);
		scratch_link(places[i][1], path);
		snprintf(path, sizeof(path), "dev/char/252:%u", 10 + i);
		snprintf(target, sizeof(target), "../../%s", places[i][0]);
		scratch_link(target, path);
		EQUAL((devdax_read(scratch, makedev(252, 10 + i), &devdax), 0),
		      (devdax.bytes, 1073741824), (devdax.is_persistent, false));
	}
}

TEST(other_devices_are_refused, setup, scratch_teardown)
{
	struct devdax devdax;

	scratch_write("devices/virtual/mem/null/size", "4096\n");
	scratch_link("../../../../class/mem", "devices/virtual/mem/null/subsystem");
	scratch_link("../../devices/virtual/mem/null", "dev/char/1:3");
	scratch_link("../../devices/virtual/gone", "dev/char/1:4");
	EQUAL((devdax_read(scratch, makedev(1, 3), &devdax), -ENODEV),
	      (devdax_read(scratch, makedev(1, 4), &devdax), -ENODEV),
	      (devdax_read(scratch, makedev(9, 9), &devdax), -ENODEV),
	      (devdax_read(DEVDAX_SYSFS, makedev(1, 3), &devdax), -ENODEV));
}

TEST(a_device_without_memory_is_refused, setup, scratch_teardown)
{
	struct devdax devdax;

	scratch_write(DAX "size", "0\n");
	assert_int_equal(devdax_read(scratch, makedev(252, 3), &devdax), -ENODEV);
	scratch_write(DAX "size", "4096\n");
	scratch_write(DAX "align", "3000\n");
	assert_int_equal(devdax_read(scratch, makedev(252, 3), &devdax), -ENODEV);
}

/* In the file of a test the value that was read is overwritten by the one that flushes. */
TEST(deep_flush_writes_to_the_region, setup, scratch_teardown)
{
	char text[8];

	scratch_write(REGION "deep_flush", "7");
	assert_int_equal(devdax_deep_flush(scratch, makedev(252, 3)), 0);
	scratch_read(REGION "deep_flush", text, sizeof(text));
	assert_string_equal(text, "1");
}

TEST(a_platform_that_needs_none_gets_none, setup, scratch_teardown)
{
	char text[8], path[PATH_MAX];

	scratch_write(REGION "deep_flush", "0\n");
	assert_int_equal(devdax_deep_flush(scratch, makedev(252, 3)), 0);
	scratch_read(REGION "deep_flush", text, sizeof(text));
	EQUAL((text, "0\n"), (unlink(scratch_path(REGION "deep_flush", path)), 0),
	      (devdax_deep_flush(scratch, makedev(252, 3)), 0));
}

/* Runs as another user, as no permission counts for root. */
TEST(a_flush_that_is_forbidden_is_told, setup, scratch_teardown)
{
	char path[PATH_MAX];
	int ret;

	EQUAL((chmod(scratch, 0755), 0), (chmod(scratch_path(REGION "deep_flush", path), 0444), 0));
	if (getuid() == 0)
		assert_int_equal(seteuid(65534), 0);
	ret = devdax_deep_flush(scratch, makedev(252, 3));
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(ret, -EACCES);
}
