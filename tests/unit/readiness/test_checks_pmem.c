/* SPDX-License-Identifier: BSD-3-Clause */
/* test_checks_pmem.c -- PM-05 to PM-11: each status from the facts that lead to it. */
#include "cases.h"

CHANGE(no_target, f->target.shape = TARGET_NOT_GIVEN)
CHANGE(no_pmem, no_target(f),
       f->target.regions_of_host = f->target.regions_count = f->target.namespaces_count = 0)
CHANGE(not_pmem, no_pmem(f), f->target.shape = TARGET_NOT_PMEM)
CHANGE(missing, not_pmem(f), f->target.shape = TARGET_MISSING)
CHANGE(not_found, f->target.regions_count = f->target.namespaces_count = 0)
CHANGE(cut, f->target.cut = true)

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

CHANGE(mode_memory, mode(&f->target.namespaces[0], "memory"))
CHANGE(mode_raw, mode(&f->target.namespaces[0], "raw"))
CHANGE(mode_safe, mode(&f->target.namespaces[0], "safe"))
CHANGE(mode_unread, mode(&f->target.namespaces[0], ""))
CHANGE(second_safe, second(f), mode(&f->target.namespaces[1], "safe"))
CHANGE(host_second_safe, second_safe(f), no_target(f))
CHANGE(host_all_safe, host_second_safe(f), mode_safe(f))

static void domain(struct facts_region *region, const char *text)
{
	snprintf(region->persistence_domain, sizeof(region->persistence_domain), "%s", text);
}

CHANGE(domain_cache, domain(&f->target.regions[0], "cpu_cache"))
CHANGE(domain_absent, domain(&f->target.regions[0], ""))
CHANGE(domain_other, domain(&f->target.regions[0], "hope"))
CHANGE(domains_agree, second(f))
CHANGE(domains_differ, domain(second(f), "cpu_cache"))
CHANGE(one_domain_absent, domain(second(f), ""))
CHANGE(host_domains_differ, domains_differ(f), no_target(f))
CHANGE(host_one_domain_other, domain(second(f), "hope"), no_target(f))

static void provider(struct facts_region *region, const char *text)
{
	snprintf(region->provider, sizeof(region->provider), "%s", text);
}

CHANGE(provider_e820, provider(&f->target.regions[0], "e820"))
CHANGE(provider_virtio, provider(&f->target.regions[0], "virtio-pmem"))
CHANGE(provider_test, provider(&f->target.regions[0], "nfit_test.0"))
CHANGE(provider_cxl, provider(&f->target.regions[0], "CXL"))
CHANGE(provider_second_cxl, provider(second(f), "CXL"))
CHANGE(provider_other, provider(&f->target.regions[0], "unknown"))
CHANGE(provider_unread, provider(&f->target.regions[0], ""))

static void flags(struct facts_region *region, const char *text)
{
	snprintf(region->dimms[0].flags, sizeof(region->dimms[0].flags), "%s", text);
}

CHANGE(not_armed, flags(&f->target.regions[0], "not_armed"))
CHANGE(save_fail, flags(&f->target.regions[0], "save_fail smart_event"))
CHANGE(restore_fail, flags(&f->target.regions[0], "restore_fail"))
CHANGE(flush_fail, flags(&f->target.regions[0], "smart_notify flush_fail"))
CHANGE(map_fail, flags(&f->target.regions[0], "map_fail"))
CHANGE(smart_event, flags(&f->target.regions[0], "smart_event"))
CHANGE(smart_notify, flags(&f->target.regions[0], "smart_notify"))
/* A word that only holds another one is another word, of which nothing is known. */
CHANGE(other_word, flags(&f->target.regions[0], "was_not_armed_once"))
CHANGE(locked, flags(&f->target.regions[0], "smart_notify locked"))
CHANGE(fault_beside_a_word, flags(&f->target.regions[0], "garbage flush_fail smart_event"))
CHANGE(guest, f->platform.guest = KNOWN_YES,
       snprintf(f->platform.emulated, sizeof(f->platform.emulated), "QEMU"))
CHANGE(guest_assumed, guest(f),
       snprintf(f->claims.pmem_why, sizeof(f->claims.pmem_why), "as on its host"))
CHANGE(guest_or_not, f->platform.guest = KNOWN_NOT)
CHANGE(assumed_of_e820, guest_assumed(f), provider_e820(f))
CHANGE(type_unread, f->target.regions[0].devtype[0] = '\0')
CHANGE(list_of_a_disk_unread, f->target.badblocks = 0, f->target.badblocks_cut = true,
       f->target.regions[0].badblocks = -1)
CHANGE(dirty, f->target.regions[0].dimms[0].dirty_shutdown = 3)
CHANGE(dirty_unread, f->target.regions[0].dimms[0].dirty_shutdown = -1)
CHANGE(flags_unread, flags(&f->target.regions[0], ""))
CHANGE(no_modules, f->target.regions[0].dimms_count = 0)
CHANGE(host_second_not_armed, flags(second(f), "not_armed"), no_target(f))
CHANGE(second_not_armed, flags(second(f), "not_armed"))
CHANGE(cxl_with_gpf, provider_cxl(f),
       f->target.cxl = (struct facts_cxl){.pmem_bytes = 1LL << 38, .devices = 1, .gpf_yes = 2})
CHANGE(cxl_with_gpf_stated, cxl_with_gpf(f),
       snprintf(f->claims.pmem_why, sizeof(f->claims.pmem_why), "as its makers document"))
CHANGE(cxl_without_gpf, cxl_with_gpf_stated(f), f->target.cxl.gpf_no = 1)
CHANGE(cxl_with_half_seen_gpf, cxl_with_gpf_stated(f), f->target.cxl.gpf_unknown = 1)
CHANGE(cxl_counted, provider_cxl(f), f->target.regions[0].dimms[0].flags[0] = '\0')
CHANGE(cxl_dirty, cxl_counted(f), f->target.regions[0].dimms[0].dirty_shutdown = 1)
CHANGE(cxl_not_counted, cxl_counted(f), f->target.regions[0].dimms[0].dirty_shutdown = -1)
CHANGE(host_cxl, no_pmem(f), f->target.cxl.pmem_bytes = 1LL << 38)
CHANGE(target_beside_cxl, f->target.cxl.pmem_bytes = 1LL << 38)
CHANGE(bad_blocks, f->target.regions[0].badblocks = 2)
CHANGE(bad_blocks_unread, f->target.regions[0].badblocks = -1)
/* The list of the block device is about it alone. */
CHANGE(bad_blocks_elsewhere, bad_blocks(f), f->target.badblocks = 0)
CHANGE(bad_blocks_of_disk, f->target.badblocks = 1)
CHANGE(host_second_bad_blocks, second(f)->badblocks = 1, no_target(f))
CHANGE(read_only, f->target.regions[0].read_only = 1)
CHANGE(mounted_read_only, f->target.shape = TARGET_ON_FSDAX, f->target.read_only_mount = true)
CHANGE(host_second_read_only, second(f)->read_only = 1, no_target(f))
CHANGE(unaligned, f->target.regions[0].size_bytes += 4096)
CHANGE(small_pages, f->target.align_bytes = 4096)
CHANGE(align_unread, f->target.align_bytes = -1)
CHANGE(read_only_unread, f->target.regions[0].read_only = -1)
CHANGE(size_unread, f->target.regions[0].size_bytes = -1)

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

CASES_OF(checks_pmem)

TEST(what_decides_is_named)
{
	CASE_VALUE(checks_pmem, "PM-05", second_safe, "namespace1.0 safe");
	CASE_VALUE(checks_pmem, "PM-06", domains_differ,
		   "region0 memory_controller, region1 cpu_cache");
	CASE_VALUE(checks_pmem, "PM-06", domain_cache, "cpu_cache (eADR)");
	CASE_VALUE(checks_pmem, "PM-08", second_not_armed, "nmem0 not_armed");
}
