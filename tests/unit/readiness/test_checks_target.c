/* SPDX-License-Identifier: BSD-3-Clause */
/* test_checks_target.c -- PM-01 to PM-04: each status from the facts that lead to it. */
#include "cases.h"

CHANGE(no_target, f->target.shape = TARGET_NOT_GIVEN, f->target.answer.kind = ANSWERS_UNKNOWN)
CHANGE(no_pmem, no_target(f),
       f->target.regions_of_host = f->target.regions_count = f->target.namespaces_count = 0)
CHANGE(no_pmem_but_cxl, no_pmem(f), f->target.cxl.pmem_bytes = 1 << 30)
CHANGE(no_sysfs, no_pmem(f), f->target.host_seen = false)
CHANGE(missing, f->target.shape = TARGET_MISSING, f->target.answer.kind = ANSWERS_NONE,
       f->target.answer.error = ENOENT)
CHANGE(forbidden, f->target.shape = TARGET_MISSING, f->target.answer.kind = ANSWERS_UNKNOWN,
       f->target.answer.error = EACCES)
CHANGE(none_but_forbidden, forbidden(f), f->target.answer.kind = ANSWERS_NONE)
CHANGE(not_in_the_tree, f->target.shape = TARGET_MISSING, f->target.answer.kind = ANSWERS_UNKNOWN)

static void on(struct facts *f, enum target_shape shape, enum answers_file kind, const char *device)
{
	f->target.shape = shape;
	f->target.answer.kind = kind;
	snprintf(f->target.device, sizeof(f->target.device), "%s", device);
}

CHANGE(on_disk, on(f, TARGET_NOT_PMEM, ANSWERS_REGULAR, "sda2"))
CHANGE(a_fifo, on(f, TARGET_NOT_PMEM, ANSWERS_OTHER, ""))
CHANGE(on_what_is_not_seen, on(f, TARGET_NOT_PMEM, ANSWERS_CHARACTER, ""))
CHANGE(volatile_dax, on(f, TARGET_NOT_PMEM, ANSWERS_CHARACTER, "dax1.0"))
CHANGE(block, on(f, TARGET_ON_BLOCK, ANSWERS_BLOCK, "pmem0"))
CHANGE(by_name, f->target.answer.kind = ANSWERS_UNKNOWN)
CHANGE(kmem, snprintf(f->target.driver, sizeof(f->target.driver), "kmem"))
CHANGE(unbound, snprintf(f->target.driver, sizeof(f->target.driver), "none"))
CHANGE(driver_unknown, f->target.driver[0] = '\0')
CHANGE(another_driver, snprintf(f->target.driver, sizeof(f->target.driver), "new_dax"))
CHANGE(empty, f->target.size_bytes = 0)
CHANGE(size_unknown, f->target.size_bytes = -1)
/* A file that was asked, on a mount with the option dax=always. */
CHANGE(fsdax, on(f, TARGET_ON_FSDAX, ANSWERS_REGULAR, "pmem0"),
       f->target.dax_mount = f->target.dax_queue = KNOWN_YES, f->target.answer.dax = 1,
       f->target.answer.map_sync = 0)
CHANGE(not_asked, fsdax(f), f->target.answer.dax = f->target.answer.map_sync = -1)
CHANGE(not_asked_inode, not_asked(f), f->target.dax_mount = KNOWN_NOT)
CHANGE(not_asked_without_dax, not_asked(f), f->target.dax_mount = KNOWN_NO)
/* The file's attribute counts more than the mount's: it may be marked by itself. */
CHANGE(marked_file, fsdax(f), f->target.dax_mount = KNOWN_NO)
CHANGE(unmarked_file, fsdax(f), f->target.answer.dax = 0, f->target.answer.map_sync = EOPNOTSUPP)
CHANGE(old_kernel_without_the_attribute, fsdax(f), f->target.answer.dax = -1,
       f->target.dax_mount = KNOWN_NOT)
CHANGE(directory_not_tried, not_asked(f), f->target.answer.kind = ANSWERS_DIRECTORY,
       f->target.answer.dax = 0)
CHANGE(device_without_dax, not_asked(f), f->target.dax_queue = KNOWN_NO)
CHANGE(refused_for_another_reason, fsdax(f), f->target.answer.map_sync = EPERM)
CHANGE(unreadable_file, not_asked(f), f->target.answer.error = EACCES)

static const struct check_case cases[] = {
	{"PM-01", READINESS_PASS, NULL},
	{"PM-01", READINESS_PASS, by_name},
	{"PM-01", READINESS_PASS, fsdax},
	{"PM-01", READINESS_WARN, block},
	{"PM-01", READINESS_FAIL, missing},
	{"PM-01", READINESS_FAIL, on_disk},
	{"PM-01", READINESS_FAIL, a_fifo},
	{"PM-01", READINESS_FAIL, volatile_dax},
	{"PM-01", READINESS_FAIL, no_pmem},
	{"PM-01", READINESS_UNKNOWN, forbidden},
	{"PM-01", READINESS_UNKNOWN, none_but_forbidden},
	{"PM-01", READINESS_UNKNOWN, not_in_the_tree},
	{"PM-01", READINESS_UNKNOWN, on_what_is_not_seen},
	{"PM-01", READINESS_SKIP, no_target},
	{"PM-01", READINESS_SKIP, no_pmem_but_cxl},
	{"PM-01", READINESS_UNKNOWN, no_sysfs},
	{"PM-02", READINESS_PASS, NULL},
	{"PM-02", READINESS_FAIL, kmem},
	{"PM-02", READINESS_FAIL, unbound},
	{"PM-02", READINESS_FAIL, empty},
	{"PM-02", READINESS_UNKNOWN, driver_unknown},
	{"PM-02", READINESS_UNKNOWN, another_driver},
	{"PM-02", READINESS_UNKNOWN, size_unknown},
	{"PM-02", READINESS_SKIP, fsdax},
	{"PM-02", READINESS_SKIP, no_target},
	{"PM-03", READINESS_PASS, fsdax},
	{"PM-03", READINESS_PASS, marked_file},
	{"PM-03", READINESS_PASS, not_asked},
	{"PM-03", READINESS_PASS, old_kernel_without_the_attribute},
	{"PM-03", READINESS_PASS, directory_not_tried},
	{"PM-03", READINESS_FAIL, unmarked_file},
	{"PM-03", READINESS_FAIL, not_asked_without_dax},
	{"PM-03", READINESS_FAIL, device_without_dax},
	{"PM-03", READINESS_UNKNOWN, not_asked_inode},
	{"PM-03", READINESS_SKIP, NULL},
	{"PM-03", READINESS_SKIP, block},
	{"PM-04", READINESS_PASS, fsdax},
	{"PM-04", READINESS_FAIL, unmarked_file},
	{"PM-04", READINESS_UNKNOWN, not_asked},
	{"PM-04", READINESS_UNKNOWN, unreadable_file},
	{"PM-04", READINESS_UNKNOWN, refused_for_another_reason},
	{"PM-04", READINESS_SKIP, NULL},
	{"PM-04", READINESS_SKIP, block},
};

CASES_OF(checks_target)

TEST(errors_and_devices_are_told)
{
	CASE_VALUE(checks_target, "PM-01", on_disk, "file, sda2");
	CASE_VALUE(checks_target, "PM-04", unreadable_file, "Permission denied");
}

/* A path may be anything, and is shown on terminals. */
CHANGE(hostile_path, snprintf(f->target.path, sizeof(f->target.path), "/dev/\033[2J\n"))

TEST(escapes_are_not_shown)
{
	assert_string_equal(case_finding(checks_target, "PM-01", hostile_path).source,
			    "statx(/dev/?[2J?)");
}
