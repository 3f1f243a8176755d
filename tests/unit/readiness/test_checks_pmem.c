/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_checks_pmem.c -- PM-05 to PM-11: each status from the facts that lead
 * to it.
 */
#include "cases.h"

static void no_target(struct facts *f)
{
	f->target.shape = TARGET_NOT_GIVEN;
}

static void no_pmem(struct facts *f)
{
	no_target(f);
	f->target.regions_of_host = f->target.regions_count = f->target.namespaces_count = 0;
}

static void not_pmem(struct facts *f)
{
	no_pmem(f);
	f->target.shape = TARGET_NOT_PMEM;
}

static void missing(struct facts *f)
{
	not_pmem(f);
	f->target.shape = TARGET_MISSING;
}

static void not_found(struct facts *f)
{
	f->target.regions_count = f->target.namespaces_count = 0;
}

static void cut(struct facts *f)
{
	f->target.cut = true;
}

/* Another region and namespace like the first, and well. */
static struct facts_region *second(struct facts *f)
{
	struct facts_region *region = &f->target.regions[1];
	struct facts_namespace *space = &f->target.namespaces[1];

	f->target.regions_of_host = f->target.regions_count = f->target.namespaces_count = 2;
	*region = f->target.regions[0];
	snprintf(region->name, sizeof(region->name), "region1");
	*space = f->target.namespaces[0];
	snprintf(space->name, sizeof(space->name), "namespace1.0");
	return region;
}

static void mode(struct facts_namespace *space, const char *text)
{
	snprintf(space->mode, sizeof(space->mode), "%s", text);
}

static void mode_memory(struct facts *f)
{
	mode(&f->target.namespaces[0], "memory");
}

static void mode_raw(struct facts *f)
{
	mode(&f->target.namespaces[0], "raw");
}

static void mode_safe(struct facts *f)
{
	mode(&f->target.namespaces[0], "safe");
}

static void mode_unread(struct facts *f)
{
	mode(&f->target.namespaces[0], "");
}

static void second_safe(struct facts *f)
{
	second(f);
	mode(&f->target.namespaces[1], "safe");
}

static void host_second_safe(struct facts *f)
{
	second_safe(f);
	no_target(f);
}

static void host_all_safe(struct facts *f)
{
	host_second_safe(f);
	mode_safe(f);
}

static void domain(struct facts_region *region, const char *text)
{
	snprintf(region->persistence_domain, sizeof(region->persistence_domain), "%s", text);
}

static void domain_cache(struct facts *f)
{
	domain(&f->target.regions[0], "cpu_cache");
}

static void domain_absent(struct facts *f)
{
	domain(&f->target.regions[0], "");
}

static void domain_other(struct facts *f)
{
	domain(&f->target.regions[0], "hope");
}

static void domains_agree(struct facts *f)
{
	second(f);
}

static void domains_differ(struct facts *f)
{
	domain(second(f), "cpu_cache");
}

static void one_domain_absent(struct facts *f)
{
	domain(second(f), "");
}

static void host_domains_differ(struct facts *f)
{
	domains_differ(f);
	no_target(f);
}

static void host_one_domain_other(struct facts *f)
{
	domain(second(f), "hope");
	no_target(f);
}

static void provider(struct facts_region *region, const char *text)
{
	snprintf(region->provider, sizeof(region->provider), "%s", text);
}

static void provider_e820(struct facts *f)
{
	provider(&f->target.regions[0], "e820");
}

static void provider_virtio(struct facts *f)
{
	provider(&f->target.regions[0], "virtio-pmem");
}

static void provider_test(struct facts *f)
{
	provider(&f->target.regions[0], "nfit_test.0");
}

static void provider_cxl(struct facts *f)
{
	provider(&f->target.regions[0], "CXL");
}

static void provider_second_cxl(struct facts *f)
{
	provider(second(f), "CXL");
}

static void provider_other(struct facts *f)
{
	provider(&f->target.regions[0], "unknown");
}

static void provider_unread(struct facts *f)
{
	provider(&f->target.regions[0], "");
}

static void flags(struct facts_region *region, const char *text)
{
	snprintf(region->dimms[0].flags, sizeof(region->dimms[0].flags), "%s", text);
}

static void not_armed(struct facts *f)
{
	flags(&f->target.regions[0], "not_armed");
}

static void save_fail(struct facts *f)
{
	flags(&f->target.regions[0], "save_fail smart_event");
}

static void restore_fail(struct facts *f)
{
	flags(&f->target.regions[0], "restore_fail");
}

static void flush_fail(struct facts *f)
{
	flags(&f->target.regions[0], "smart_notify flush_fail");
}

static void map_fail(struct facts *f)
{
	flags(&f->target.regions[0], "map_fail");
}

static void smart_event(struct facts *f)
{
	flags(&f->target.regions[0], "smart_event");
}

static void smart_notify(struct facts *f)
{
	flags(&f->target.regions[0], "smart_notify");
}

/* A word that only holds another one is another word, of which nothing is known. */
static void other_word(struct facts *f)
{
	flags(&f->target.regions[0], "was_not_armed_once");
}

static void locked(struct facts *f)
{
	flags(&f->target.regions[0], "smart_notify locked");
}

static void fault_beside_a_word(struct facts *f)
{
	flags(&f->target.regions[0], "garbage flush_fail smart_event");
}

static void guest(struct facts *f)
{
	f->platform.guest = KNOWN_YES;
	snprintf(f->platform.emulated, sizeof(f->platform.emulated), "QEMU");
}

static void guest_assumed(struct facts *f)
{
	guest(f);
	snprintf(f->claims.pmem_why, sizeof(f->claims.pmem_why), "as on its host");
}

static void guest_or_not(struct facts *f)
{
	f->platform.guest = KNOWN_NOT;
}

static void assumed_of_e820(struct facts *f)
{
	guest_assumed(f);
	provider_e820(f);
}

static void type_unread(struct facts *f)
{
	f->target.regions[0].devtype[0] = '\0';
}

static void list_of_a_disk_unread(struct facts *f)
{
	f->target.badblocks = 0;
	f->target.badblocks_cut = true;
	f->target.regions[0].badblocks = -1;
}

static void dirty(struct facts *f)
{
	f->target.regions[0].dimms[0].dirty_shutdown = 3;
}

static void dirty_unread(struct facts *f)
{
	f->target.regions[0].dimms[0].dirty_shutdown = -1;
}

static void flags_unread(struct facts *f)
{
	flags(&f->target.regions[0], "");
}

static void no_modules(struct facts *f)
{
	f->target.regions[0].dimms_count = 0;
}

static void host_second_not_armed(struct facts *f)
{
	flags(second(f), "not_armed");
	no_target(f);
}

static void second_not_armed(struct facts *f)
{
	flags(second(f), "not_armed");
}

static void cxl_with_gpf(struct facts *f)
{
	provider_cxl(f);
	f->target.cxl = (struct facts_cxl){.pmem_bytes = 1LL << 38, .devices = 1, .gpf_yes = 2};
}

static void cxl_with_gpf_stated(struct facts *f)
{
	cxl_with_gpf(f);
	snprintf(f->claims.pmem_why, sizeof(f->claims.pmem_why), "as its makers document");
}

static void cxl_without_gpf(struct facts *f)
{
	cxl_with_gpf_stated(f);
	f->target.cxl.gpf_no = 1;
}

static void cxl_with_half_seen_gpf(struct facts *f)
{
	cxl_with_gpf_stated(f);
	f->target.cxl.gpf_unknown = 1;
}

static void cxl_counted(struct facts *f)
{
	provider_cxl(f);
	f->target.regions[0].dimms[0].flags[0] = '\0';
}

static void cxl_dirty(struct facts *f)
{
	cxl_counted(f);
	f->target.regions[0].dimms[0].dirty_shutdown = 1;
}

static void cxl_not_counted(struct facts *f)
{
	cxl_counted(f);
	f->target.regions[0].dimms[0].dirty_shutdown = -1;
}

static void host_cxl(struct facts *f)
{
	no_pmem(f);
	f->target.cxl.pmem_bytes = 1LL << 38;
}

static void target_beside_cxl(struct facts *f)
{
	f->target.cxl.pmem_bytes = 1LL << 38;
}

static void bad_blocks(struct facts *f)
{
	f->target.regions[0].badblocks = 2;
}

static void bad_blocks_unread(struct facts *f)
{
	f->target.regions[0].badblocks = -1;
}

/* The list of the block device is about it alone. */
static void bad_blocks_elsewhere(struct facts *f)
{
	bad_blocks(f);
	f->target.badblocks = 0;
}

static void bad_blocks_of_disk(struct facts *f)
{
	f->target.badblocks = 1;
}

static void host_second_bad_blocks(struct facts *f)
{
	second(f)->badblocks = 1;
	no_target(f);
}

static void read_only(struct facts *f)
{
	f->target.regions[0].read_only = 1;
}

static void mounted_read_only(struct facts *f)
{
	f->target.shape = TARGET_ON_FSDAX;
	f->target.read_only_mount = true;
}

static void host_second_read_only(struct facts *f)
{
	second(f)->read_only = 1;
	no_target(f);
}

static void unaligned(struct facts *f)
{
	f->target.regions[0].size_bytes += 4096;
}

static void small_pages(struct facts *f)
{
	f->target.align_bytes = 4096;
}

static void align_unread(struct facts *f)
{
	f->target.align_bytes = -1;
}

static void read_only_unread(struct facts *f)
{
	f->target.regions[0].read_only = -1;
}

static void size_unread(struct facts *f)
{
	f->target.regions[0].size_bytes = -1;
}

static const struct check_case cases[] = {
	{"PM-05", READINESS_PASS, NULL},
	{"PM-05", READINESS_PASS, mode_memory},
	{"PM-05", READINESS_WARN, mode_raw},
	{"PM-05", READINESS_WARN, host_second_safe},
	{"PM-05", READINESS_FAIL, mode_safe},
	{"PM-05", READINESS_FAIL, second_safe},
	{"PM-05", READINESS_FAIL, host_all_safe},
	{"PM-05", READINESS_UNKNOWN, mode_unread},
	{"PM-05", READINESS_UNKNOWN, not_found},
	{"PM-05", READINESS_UNKNOWN, cut},
	{"PM-05", READINESS_SKIP, no_pmem},
	{"PM-05", READINESS_SKIP, not_pmem},
	{"PM-05", READINESS_SKIP, missing},
	{"PM-06", READINESS_PASS, NULL},
	{"PM-06", READINESS_PASS, domain_cache},
	{"PM-06", READINESS_PASS, domains_agree},
	{"PM-06", READINESS_WARN, host_one_domain_other},
	{"PM-06", READINESS_FAIL, domain_other},
	{"PM-06", READINESS_FAIL, domains_differ},
	{"PM-06", READINESS_UNKNOWN, domain_absent},
	{"PM-06", READINESS_UNKNOWN, one_domain_absent},
	{"PM-06", READINESS_UNKNOWN, host_domains_differ},
	{"PM-06", READINESS_UNKNOWN, not_found},
	{"PM-06", READINESS_SKIP, no_pmem},
	{"PM-06", READINESS_SKIP, not_pmem},
	{"PM-07", READINESS_PASS, NULL},
	{"PM-07", READINESS_WARN, provider_e820},
	{"PM-07", READINESS_WARN, provider_virtio},
	{"PM-07", READINESS_WARN, provider_test},
	{"PM-07", READINESS_UNKNOWN, provider_cxl},
	{"PM-07", READINESS_UNKNOWN, provider_second_cxl},
	{"PM-07", READINESS_UNKNOWN, provider_other},
	{"PM-07", READINESS_UNKNOWN, provider_unread},
	{"PM-07", READINESS_WARN, guest},
	{"PM-07", READINESS_ASSUMED, guest_assumed},
	{"PM-07", READINESS_WARN, assumed_of_e820},
	{"PM-07", READINESS_UNKNOWN, guest_or_not},
	{"PM-07", READINESS_UNKNOWN, type_unread},
	{"PM-07", READINESS_SKIP, not_pmem},
	{"PM-08", READINESS_PASS, NULL},
	{"PM-08", READINESS_PASS, smart_notify},
	{"PM-08", READINESS_UNKNOWN, other_word},
	{"PM-08", READINESS_UNKNOWN, locked},
	{"PM-08", READINESS_FAIL, fault_beside_a_word},
	{"PM-08", READINESS_PASS, dirty_unread},
	{"PM-08", READINESS_WARN, smart_event},
	{"PM-08", READINESS_WARN, dirty},
	{"PM-08", READINESS_WARN, host_second_not_armed},
	{"PM-08", READINESS_FAIL, not_armed},
	{"PM-08", READINESS_FAIL, save_fail},
	{"PM-08", READINESS_FAIL, restore_fail},
	{"PM-08", READINESS_FAIL, flush_fail},
	{"PM-08", READINESS_FAIL, map_fail},
	{"PM-08", READINESS_FAIL, second_not_armed},
	{"PM-08", READINESS_UNKNOWN, flags_unread},
	{"PM-08", READINESS_SKIP, no_modules},
	{"PM-08", READINESS_SKIP, no_pmem},
	{"PM-07", READINESS_ASSUMED, cxl_with_gpf_stated},
	{"PM-07", READINESS_UNKNOWN, cxl_with_gpf},
	{"PM-07", READINESS_UNKNOWN, cxl_without_gpf},
	{"PM-08", READINESS_PASS, cxl_counted},
	{"PM-08", READINESS_WARN, cxl_dirty},
	{"PM-08", READINESS_UNKNOWN, cxl_not_counted},
	{"PM-09", READINESS_ASSUMED, cxl_with_gpf_stated},
	{"PM-09", READINESS_FAIL, cxl_without_gpf},
	{"PM-09", READINESS_UNKNOWN, cxl_with_gpf},
	{"PM-09", READINESS_UNKNOWN, cxl_with_half_seen_gpf},
	{"PM-09", READINESS_UNKNOWN, provider_cxl},
	{"PM-09", READINESS_UNKNOWN, provider_second_cxl},
	{"PM-09", READINESS_UNKNOWN, host_cxl},
	{"PM-09", READINESS_SKIP, NULL},
	{"PM-09", READINESS_SKIP, target_beside_cxl},
	{"PM-09", READINESS_SKIP, no_pmem},
	{"PM-10", READINESS_PASS, NULL},
	{"PM-10", READINESS_PASS, bad_blocks_elsewhere},
	{"PM-10", READINESS_WARN, host_second_bad_blocks},
	{"PM-10", READINESS_FAIL, bad_blocks},
	{"PM-10", READINESS_FAIL, bad_blocks_of_disk},
	{"PM-10", READINESS_UNKNOWN, bad_blocks_unread},
	{"PM-10", READINESS_UNKNOWN, list_of_a_disk_unread},
	{"PM-10", READINESS_SKIP, not_pmem},
	{"PM-11", READINESS_PASS, NULL},
	{"PM-11", READINESS_PASS, align_unread},
	{"PM-11", READINESS_WARN, unaligned},
	{"PM-11", READINESS_WARN, small_pages},
	{"PM-11", READINESS_WARN, host_second_read_only},
	{"PM-11", READINESS_FAIL, read_only},
	{"PM-11", READINESS_FAIL, mounted_read_only},
	{"PM-11", READINESS_UNKNOWN, read_only_unread},
	{"PM-11", READINESS_UNKNOWN, size_unread},
	{"PM-11", READINESS_SKIP, not_pmem},
};

#define COUNT (sizeof(cases) / sizeof(cases[0]))

TEST(each_case_has_its_status)
{
	cases_run(checks_pmem, cases, COUNT);
}

TEST(statuses_are_those_explained)
{
	cases_cover(checks_pmem, cases, COUNT);
}

TEST(the_faulty_one_is_named)
{
	struct readiness_finding finding = case_finding(checks_pmem, "PM-08", second_not_armed);

	assert_string_equal(finding.value, "nmem0 not_armed");
	finding = case_finding(checks_pmem, "PM-05", second_safe);
	assert_string_equal(finding.value, "namespace1.0 safe");
}

TEST(domains_that_differ_are_named)
{
	struct readiness_finding finding = case_finding(checks_pmem, "PM-06", domains_differ);

	assert_string_equal(finding.value, "region0 memory_controller, region1 cpu_cache");
}

TEST(eadr_is_named)
{
	struct readiness_finding finding = case_finding(checks_pmem, "PM-06", domain_cache);

	assert_string_equal(finding.value, "cpu_cache (eADR)");
}
