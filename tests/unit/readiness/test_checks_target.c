/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_checks_target.c -- PM-01 to PM-04: each status from the facts that lead
 * to it.
 */
#include <errno.h>

#include "cases.h"

static void no_target(struct facts *f)
{
	f->target.shape = TARGET_NOT_GIVEN;
	f->target.answer.kind = ANSWERS_UNKNOWN;
}

static void no_pmem(struct facts *f)
{
	no_target(f);
	f->target.regions_of_host = f->target.regions_count = f->target.namespaces_count = 0;
}

static void no_pmem_but_cxl(struct facts *f)
{
	no_pmem(f);
	f->target.cxl.pmem_bytes = 1 << 30;
}

static void no_sysfs(struct facts *f)
{
	no_pmem(f);
	f->target.host_seen = false;
}

static void missing(struct facts *f)
{
	f->target.shape = TARGET_MISSING;
	f->target.answer.kind = ANSWERS_NONE;
	f->target.answer.error = ENOENT;
}

static void forbidden(struct facts *f)
{
	f->target.shape = TARGET_MISSING;
	f->target.answer.kind = ANSWERS_UNKNOWN;
	f->target.answer.error = EACCES;
}

static void none_but_forbidden(struct facts *f)
{
	forbidden(f);
	f->target.answer.kind = ANSWERS_NONE;
}

static void not_in_the_tree(struct facts *f)
{
	f->target.shape = TARGET_MISSING;
	f->target.answer.kind = ANSWERS_UNKNOWN;
}

static void on(struct facts *f, enum target_shape shape, enum answers_file kind, const char *device)
{
	f->target.shape = shape;
	f->target.answer.kind = kind;
	snprintf(f->target.device, sizeof(f->target.device), "%s", device);
}

static void on_disk(struct facts *f)
{
	on(f, TARGET_NOT_PMEM, ANSWERS_REGULAR, "sda2");
}

static void a_fifo(struct facts *f)
{
	on(f, TARGET_NOT_PMEM, ANSWERS_OTHER, "");
}

static void on_what_is_not_seen(struct facts *f)
{
	on(f, TARGET_NOT_PMEM, ANSWERS_CHARACTER, "");
}

static void volatile_dax(struct facts *f)
{
	on(f, TARGET_NOT_PMEM, ANSWERS_CHARACTER, "dax1.0");
}

static void block(struct facts *f)
{
	on(f, TARGET_ON_BLOCK, ANSWERS_BLOCK, "pmem0");
}

static void by_name(struct facts *f)
{
	f->target.answer.kind = ANSWERS_UNKNOWN;
}

static void kmem(struct facts *f)
{
	snprintf(f->target.driver, sizeof(f->target.driver), "kmem");
}

static void unbound(struct facts *f)
{
	snprintf(f->target.driver, sizeof(f->target.driver), "none");
}

static void driver_unknown(struct facts *f)
{
	f->target.driver[0] = '\0';
}

static void another_driver(struct facts *f)
{
	snprintf(f->target.driver, sizeof(f->target.driver), "new_dax");
}

static void empty(struct facts *f)
{
	f->target.size_bytes = 0;
}

static void size_unknown(struct facts *f)
{
	f->target.size_bytes = -1;
}

/* A file that was asked, on a mount with the option dax=always. */
static void fsdax(struct facts *f)
{
	on(f, TARGET_ON_FSDAX, ANSWERS_REGULAR, "pmem0");
	f->target.dax_mount = f->target.dax_queue = KNOWN_YES;
	f->target.answer.dax = 1;
	f->target.answer.map_sync = 0;
}

static void not_asked(struct facts *f)
{
	fsdax(f);
	f->target.answer.dax = f->target.answer.map_sync = -1;
}

static void not_asked_inode(struct facts *f)
{
	not_asked(f);
	f->target.dax_mount = KNOWN_NOT;
}

static void not_asked_without_dax(struct facts *f)
{
	not_asked(f);
	f->target.dax_mount = KNOWN_NO;
}

/* The file's attribute counts more than the mount's: it may be marked by itself. */
static void marked_file(struct facts *f)
{
	fsdax(f);
	f->target.dax_mount = KNOWN_NO;
}

static void unmarked_file(struct facts *f)
{
	fsdax(f);
	f->target.answer.dax = 0;
	f->target.answer.map_sync = EOPNOTSUPP;
}

static void old_kernel_without_the_attribute(struct facts *f)
{
	fsdax(f);
	f->target.answer.dax = -1;
	f->target.dax_mount = KNOWN_NOT;
}

static void directory_not_tried(struct facts *f)
{
	not_asked(f);
	f->target.answer.kind = ANSWERS_DIRECTORY;
	f->target.answer.dax = 0;
}

static void device_without_dax(struct facts *f)
{
	not_asked(f);
	f->target.dax_queue = KNOWN_NO;
}

static void refused_for_another_reason(struct facts *f)
{
	fsdax(f);
	f->target.answer.map_sync = EPERM;
}

static void unreadable_file(struct facts *f)
{
	not_asked(f);
	f->target.answer.error = EACCES;
}

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

#define COUNT (sizeof(cases) / sizeof(cases[0]))

TEST(each_case_has_its_status)
{
	cases_run(checks_target, cases, COUNT);
}

TEST(statuses_are_those_explained)
{
	cases_cover(checks_target, cases, COUNT);
}

TEST(the_error_is_told)
{
	struct readiness_finding finding = case_finding(checks_target, "PM-04", unreadable_file);

	assert_string_equal(finding.value, "Permission denied");
}

TEST(a_file_is_told_from_its_device)
{
	struct readiness_finding finding = case_finding(checks_target, "PM-01", on_disk);

	assert_string_equal(finding.value, "file, sda2");
}

/* A path may be anything, and is shown on terminals. */
static void hostile_path(struct facts *f)
{
	snprintf(f->target.path, sizeof(f->target.path), "/dev/\033[2J\n");
}

TEST(escapes_are_not_shown)
{
	struct readiness_finding finding = case_finding(checks_target, "PM-01", hostile_path);

	assert_string_equal(finding.source, "statx(/dev/?[2J?)");
}
