/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks_pmem.c -- PM-05 to PM-11: the namespaces and regions behind the
 * target; without a target all of the host, of which a part may be at fault
 * without any harm.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"

#define ALIGN_BYTES (2LL << 20)

/* How many have each rating; the names of the first few that are not good. */
struct ratings {
	size_t good, doubtful, bad, unknown;
	char names[128];
};

enum rating { GOOD, DOUBTFUL, BAD, NOT_KNOWN };

static void count(struct ratings *ratings, enum rating rating, const char *name, const char *what)
{
	size_t *const counts[] = {&ratings->good, &ratings->doubtful, &ratings->bad,
				  &ratings->unknown};
	size_t len = strlen(ratings->names);

	++*counts[rating];
	if (rating != GOOD)
		snprintf(ratings->names + len, sizeof(ratings->names) - len, "%s%.32s %.64s",
			 len > 0 ? ", " : "", name, what);
}

/* The status that follows from the worst rating. */
static enum readiness_status status_of(const struct ratings *ratings,
				       const struct facts_target *target)
{
	const bool all_bad = ratings->good + ratings->doubtful + ratings->unknown == 0;

	if (ratings->bad > 0 && (all_bad || target->shape != TARGET_NOT_GIVEN))
		return READINESS_FAIL;
	if (ratings->unknown > 0 || target->cut)
		return READINESS_UNKNOWN;
	return ratings->bad + ratings->doubtful > 0 ? READINESS_WARN : READINESS_PASS;
}

/* False: there is nothing to inspect, which is reported. */
static bool has_pmem(const struct facts_target *target, size_t number, const char *what,
		     struct readiness_finding *finding)
{
	if (target->shape == TARGET_MISSING || target->shape == TARGET_NOT_PMEM)
		finding_is(finding, SKIP, "The target is no persistent memory.");
	else if (target->shape == TARGET_NOT_GIVEN && number == 0)
		finding_say(finding, READINESS_SKIP,
			    target->regions_of_host > 0
				    ? "The persistent memory of the host has no namespace."
				    : "The host shows no persistent memory.",
			    NULL);
	else if (number == 0)
		finding_say(finding, READINESS_UNKNOWN, what, NULL);
	else
		return true;
	return false;
}

static bool has_regions(const struct facts_target *target, struct readiness_finding *finding)
{
	return has_pmem(target, target->regions_count,
			"Which region the target lies on cannot be seen.", finding);
}

struct texts {
	const char *good, *doubtful, *bad, *unknown; /* meanings */
	const char *fix;
};

static void say(const struct ratings *ratings, const struct facts_target *target,
		const struct texts *texts, struct readiness_finding *finding)
{
	enum readiness_status status = status_of(ratings, target);
	const char *meaning = texts->good;

	if (ratings->bad > 0)
		meaning = texts->bad;
	else if (status == READINESS_UNKNOWN)
		meaning = texts->unknown;
	else if (status == READINESS_WARN)
		meaning = texts->doubtful;
	finding_say(finding, status, meaning, status == READINESS_PASS ? NULL : texts->fix);
	if (status == READINESS_UNKNOWN && ratings->unknown == 0)
		finding_meaning(finding, "There are more than can be seen, or than this looks at.");
	if (ratings->names[0] != '\0')
		finding_value(finding, "%s", ratings->names);
}

static const struct facts_region *region_at(const struct facts *facts, size_t i)
{
	return &facts->target.regions[i];
}

static void inspect_mode(const struct facts *facts, struct readiness_finding *finding)
{
	static const struct texts texts = {
		"The namespace is made for direct access.",
		"A raw namespace cannot be mapped without page cache, and its device cannot be "
		"written to by RDMA.",
		"A sector namespace (BTT) is copied on write: it is never mapped directly.",
		"The mode of the namespace cannot be read.",
		"Create it again, which erases it: ndctl create-namespace -f -e NAMESPACE -m "
		"devdax (or fsdax).",
	};
	const struct facts_target *target = &facts->target;
	struct ratings ratings = {0};

	if (!has_pmem(target, target->namespaces_count,
		      "Which namespace the target is made of cannot be seen.", finding))
		return;
	for (size_t i = 0; i < target->namespaces_count; i++) {
		const struct facts_namespace *space = &target->namespaces[i];
		enum rating rating = NOT_KNOWN;

		if (strcmp(space->mode, "memory") == 0 || strcmp(space->mode, "dax") == 0)
			rating = GOOD;
		else if (strcmp(space->mode, "raw") == 0)
			rating = DOUBTFUL;
		else if (strcmp(space->mode, "safe") == 0)
			rating = BAD;
		count(&ratings, rating, space->name,
		      space->mode[0] != '\0' ? space->mode : "unknown");
	}
	finding_value(finding, "%s %s", target->namespaces[0].name, target->namespaces[0].mode);
	finding_source(finding, "/sys/bus/nd/devices/%s/mode", target->namespaces[0].name);
	say(&ratings, target, &texts, finding);
	if (finding->status != READINESS_PASS && target->namespaces_count == 1)
		finding_fix(finding,
			    "Create it again, which erases it: ndctl create-namespace -f -e %s -m "
			    "devdax (or fsdax).",
			    target->namespaces[0].name);
}

static bool is_domain(const char *domain)
{
	return strcmp(domain, "memory_controller") == 0 || strcmp(domain, "cpu_cache") == 0;
}

/* Reports which two; false: all agree. */
static bool domains_differ(const struct facts_target *target, struct readiness_finding *finding)
{
	const struct facts_region *first = &target->regions[0], *other;

	for (size_t i = 1; i < target->regions_count; i++) {
		other = &target->regions[i];
		if (strcmp(other->persistence_domain, first->persistence_domain) == 0)
			continue;
		finding_value(finding, "%s %s, %s %s", first->name, first->persistence_domain,
			      other->name, other->persistence_domain);
		return true;
	}
	return false;
}

static void inspect_domain(const struct facts *facts, struct readiness_finding *finding)
{
	static const struct texts texts = {
		"What has arrived there survives a power failure.",
		"",
		"The kernel names a domain that nothing is known of.",
		"The kernel does not say what survives a power failure: the firmware did not tell.",
		"Update the firmware; the platform's maker knows whether it has ADR or eADR.",
	};
	const struct facts_target *target = &facts->target;
	const char *domain = target->regions[0].persistence_domain;
	struct ratings ratings = {0};

	if (!has_regions(target, finding))
		return;
	finding_value(finding, "%s%s", domain,
		      strcmp(domain, "cpu_cache") == 0 ? " (eADR)"
		      : domain[0] == '\0'	       ? "absent"
						       : " (ADR)");
	for (size_t i = 0; i < target->regions_count; i++) {
		const char *one = region_at(facts, i)->persistence_domain;

		count(&ratings,
		      one[0] == '\0'   ? NOT_KNOWN
		      : is_domain(one) ? GOOD
				       : BAD,
		      region_at(facts, i)->name, one[0] != '\0' ? one : "absent");
	}
	finding_source(finding, "/sys/bus/nd/devices/%s/persistence_domain",
		       region_at(facts, 0)->name);
	say(&ratings, target, &texts, finding);
	if (finding->status == READINESS_PASS && domains_differ(target, finding))
		finding_say(finding,
			    target->shape == TARGET_NOT_GIVEN ? READINESS_UNKNOWN : READINESS_FAIL,
			    "The regions do not agree on what survives a power failure.",
			    "Take a target that lies on regions of one kind.");
}

/* On the firmware's bus there is memory that forgets, too. */
static enum rating rate_provider(const struct facts_region *region)
{
	const char *provider = region->provider;

	if (strcmp(provider, "ACPI.NFIT") == 0)
		return strcmp(region->devtype, "nd_pmem") == 0 ? GOOD : NOT_KNOWN;
	if (strncmp(provider, "e820", 4) == 0 || strncmp(provider, "nfit_test", 9) == 0 ||
	    strncmp(provider, "virtio", 6) == 0)
		return DOUBTFUL;
	return NOT_KNOWN;
}

/* The hypervisor's view of itself proves nothing about its host. */
static void hear_hypervisor(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_platform *platform = &facts->platform;
	const char *why = facts->claims.pmem_why;

	if (platform->guest == KNOWN_NO)
		return;
	if (why[0] != '\0')
		finding_value(finding, "ACPI.NFIT, hypervisor %.40s; stated: %s",
			      platform->emulated[0] != '\0' ? platform->emulated : "unknown", why);
	else
		finding_value(finding, "ACPI.NFIT, hypervisor %.40s: %.130s",
			      platform->emulated[0] != '\0' ? platform->emulated : "unknown",
			      platform->guest_why);
	finding_source(finding,
		       "/sys/bus/nd/devices/ndbus*/provider, /proc/cpuinfo, /sys/class/dmi/id, "
		       "/sys/firmware/dmi/entries/0-0/raw, /sys/bus/pci/devices/*/vendor%s",
		       why[0] != '\0' ? ", --assume-pmem" : "");
	if (why[0] != '\0')
		finding_is(finding, ASSUMED,
			   "The operator states that it is persistent on the host of this "
			   "virtual machine; if that is wrong, data is lost.");
	else if (platform->guest == KNOWN_YES)
		finding_say(finding, READINESS_WARN,
			    "A hypervisor shows it. Whether its host keeps the data when power "
			    "fails cannot be seen from here.",
			    "Run rpma-ddio-check on the host. If the memory is persistent there, "
			    "state it here: --assume-pmem WHY.");
	else
		finding_say(finding, READINESS_UNKNOWN,
			    "Whether a hypervisor shows it cannot be seen, and what a hypervisor "
			    "shows is no proof.",
			    "Run this as root, where /proc/cpuinfo, /sys/class/dmi and "
			    "/sys/firmware/dmi can be read. If the memory is persistent, state it: "
			    "--assume-pmem WHY.");
}

static bool all_cxl(const struct facts_target *target)
{
	for (size_t i = 0; i < target->regions_count; i++) {
		if (!checks_is_cxl(target->regions[i].provider))
			return false;
	}
	return target->regions_count > 0;
}

static void inspect_provider(const struct facts *facts, struct readiness_finding *finding)
{
	static const struct texts texts = {
		"The firmware describes it as persistent memory (NFIT).",
		"It is emulated: what is written there does not survive, or not without the host.",
		"",
		"Who provides it is not known to make it persistent.",
		"Trust it only where the platform's maker documents it as persistent.",
	};
	const struct facts_target *target = &facts->target;
	struct ratings ratings = {0};
	bool cxl = false;

	if (!has_regions(target, finding))
		return;
	finding_value(finding, "%s", region_at(facts, 0)->provider);
	finding_source(finding, "/sys/bus/nd/devices/ndbus*/provider");
	for (size_t i = 0; i < target->regions_count; i++) {
		const char *provider = region_at(facts, i)->provider;

		count(&ratings, rate_provider(region_at(facts, i)), region_at(facts, i)->name,
		      provider[0] != '\0' ? provider : "unknown");
		cxl = cxl || checks_is_cxl(provider);
	}
	say(&ratings, target, &texts, finding);
	if (all_cxl(target) && checks_cxl_stated(facts)) {
		finding_value(finding, "CXL; stated: %s", facts->claims.pmem_why);
		finding_is(finding, ASSUMED,
			   "It is CXL memory, which the operator states to be persistent (PM-09).");
	} else if (cxl && finding->status == READINESS_UNKNOWN)
		finding_say(finding, READINESS_UNKNOWN, "It is CXL memory: see PM-09.",
			    "What PM-09 asks for.");
	if (finding->status == READINESS_PASS)
		hear_hypervisor(facts, finding);
}

/* Words of drivers/acpi/nfit/core.c, flags_show(); another one may be a fault. */
static enum rating rate_flag(const char *word, size_t len)
{
	static const struct {
		const char *word;
		enum rating rating;
	} words[] = {
		{"none", GOOD},	       {"smart_notify", GOOD}, {"smart_event", DOUBTFUL},
		{"not_armed", BAD},    {"save_fail", BAD},     {"flush_fail", BAD},
		{"restore_fail", BAD}, {"map_fail", BAD},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) == len && strncmp(words[i].word, word, len) == 0)
			return words[i].rating;
	}
	return NOT_KNOWN;
}

/* A fault is one whatever else is there; of a word that is not known nothing follows. */
static enum rating worse(enum rating one, enum rating other)
{
	static const int gravity[] = {[GOOD] = 0, [DOUBTFUL] = 1, [NOT_KNOWN] = 2, [BAD] = 3};

	return gravity[one] > gravity[other] ? one : other;
}

static enum rating rate_dimm(const struct facts_dimm *dimm, bool cxl)
{
	enum rating rating = dimm->dirty_shutdown > 0 ? DOUBTFUL : GOOD;
	size_t len;

	/* CXL has no such words, but a count, from Linux 6.15 on */
	if (cxl)
		return dimm->dirty_shutdown < 0 ? NOT_KNOWN : rating;
	if (dimm->flags[0] == '\0')
		return NOT_KNOWN;
	for (const char *at = dimm->flags; *at != '\0'; at += len) {
		at += strspn(at, " ");
		len = strcspn(at, " ");
		if (len > 0)
			rating = worse(rating, rate_flag(at, len));
	}
	return rating;
}

static void count_dimms(const struct facts_region *region, struct ratings *ratings)
{
	char what[192];

	for (size_t i = 0; i < region->dimms_count; i++) {
		const struct facts_dimm *dimm = &region->dimms[i];
		const char *flags = dimm->flags[0] != '\0' ? dimm->flags : "unknown";

		if (dimm->dirty_shutdown > 0 && checks_is_cxl(region->provider))
			snprintf(what, sizeof(what), "%" PRId64 " dirty shutdowns",
				 dimm->dirty_shutdown);
		else if (dimm->dirty_shutdown > 0)
			snprintf(what, sizeof(what), "%s, %" PRId64 " dirty shutdowns", flags,
				 dimm->dirty_shutdown);
		else
			snprintf(what, sizeof(what), "%s", flags);
		count(ratings, rate_dimm(dimm, checks_is_cxl(region->provider)), dimm->name, what);
	}
}

/* The one thing that is known of the health of CXL memory. */
static bool lacks_count(const struct facts_target *target)
{
	for (size_t i = 0; i < target->regions_count; i++) {
		const struct facts_region *region = &target->regions[i];

		for (size_t d = 0; checks_is_cxl(region->provider) && d < region->dimms_count;
		     d++) {
			if (region->dimms[d].dirty_shutdown < 0)
				return true;
		}
	}
	return false;
}

static void inspect_health(const struct facts *facts, struct readiness_finding *finding)
{
	static const struct texts texts = {
		"The memory modules report no fault.",
		"A module has lost power without saving its data before, or reports an event: if "
		"the count grows, data was lost.",
		"A module would not, or did not, save or restore its data.",
		"The health of a module cannot be read, or a word of it is not known.",
		"ndctl list -DH tells more; a module that is not armed has to be replaced, or its "
		"energy source.",
	};
	struct ratings ratings = {0};

	if (!has_regions(&facts->target, finding))
		return;
	finding_source(finding, "/sys/bus/nd/devices/nmem*/{nfit/flags,nfit/dirty_shutdown,"
				"cxl/dirty_shutdown}");
	for (size_t i = 0; i < facts->target.regions_count; i++)
		count_dimms(region_at(facts, i), &ratings);
	if (ratings.good + ratings.doubtful + ratings.bad + ratings.unknown == 0) {
		finding_is(finding, SKIP, "The region has no memory modules to ask.");
		return;
	}
	finding_value(finding, "%zu without a fault", ratings.good);
	say(&ratings, &facts->target, &texts, finding);
	if (finding->status == READINESS_UNKNOWN && lacks_count(&facts->target)) {
		finding_meaning(finding, "How often a CXL device lost power without saving its "
					 "data is not told by kernels before Linux 6.15.");
		finding_fix(finding, "Boot Linux 6.15 or newer, which has the count in "
				     "/sys/bus/nd/devices/nmem*/cxl/dirty_shutdown.");
	}
}

static void inspect_bad_blocks(const struct facts *facts, struct readiness_finding *finding)
{
	static const struct texts texts = {
		"No part of it is known to be broken.",
		"",
		"Parts of it are broken: reading them kills the program, or ends the connection.",
		"Whether parts of it are broken cannot be read.",
		"ndctl list --media-errors shows where; ndctl clear-errors NAMESPACE clears them, "
		"and what was there is lost.",
	};
	const struct facts_target *target = &facts->target;
	const bool by_disk =
		target->badblocks > 0 || (target->badblocks == 0 && !target->badblocks_cut);
	struct ratings ratings = {0};
	char what[64];

	if (!has_regions(target, finding))
		return;
	finding_value(finding, "none");
	finding_source(finding, "/sys/bus/nd/devices/%s/badblocks", region_at(facts, 0)->name);
	if (by_disk) {
		snprintf(what, sizeof(what), "%" PRId64 " ranges", target->badblocks);
		count(&ratings, target->badblocks > 0 ? BAD : GOOD, target->device, what);
		finding_source(finding, "/sys/block/%s/badblocks", target->device);
	}
	for (size_t i = 0; i < target->regions_count && !by_disk; i++) {
		const int64_t bad = region_at(facts, i)->badblocks;

		snprintf(what, sizeof(what), "%" PRId64 " ranges", bad);
		count(&ratings,
		      bad > 0	? BAD
		      : bad < 0 ? NOT_KNOWN
				: GOOD,
		      region_at(facts, i)->name, bad < 0 ? "unknown" : what);
	}
	say(&ratings, target, &texts, finding);
	if (finding->status == READINESS_FAIL && target->namespaces_count == 1)
		finding_fix(finding,
			    "ndctl list --media-errors shows where; ndctl clear-errors %s clears "
			    "them, and what was there is lost.",
			    target->namespaces[0].name);
}

static void rate_region(const struct facts_region *region, struct ratings *ratings)
{
	if (region->read_only > 0)
		count(ratings, BAD, region->name, "read-only");
	else if (region->read_only < 0 || region->size_bytes < 0)
		count(ratings, NOT_KNOWN, region->name, "unknown");
	else if (region->size_bytes % ALIGN_BYTES != 0)
		count(ratings, DOUBTFUL, region->name, "not of 2 MiB pages");
	else
		count(ratings, GOOD, region->name, "");
}

static void inspect_region(const struct facts *facts, struct readiness_finding *finding)
{
	static const struct texts texts = {
		"It can be written to, in pages of 2 MiB.",
		"It does not come in pages of 2 MiB: the device and the CPU translate more "
		"addresses.",
		"It cannot be written to.",
		"Whether it can be written to cannot be read.",
		"Mount it writable (mount -o remount,rw); a region is read-only while a module is "
		"not armed (PM-08), or until 0 is written to its file read_only.",
	};
	const struct facts_target *target = &facts->target;
	struct ratings ratings = {0};

	if (!has_regions(target, finding))
		return;
	finding_value(finding, "%" PRId64 " bytes, writable", region_at(facts, 0)->size_bytes);
	finding_source(finding, "/sys/bus/nd/devices/%s/{read_only,size}",
		       region_at(facts, 0)->name);
	for (size_t i = 0; i < target->regions_count; i++)
		rate_region(region_at(facts, i), &ratings);
	if (target->read_only_mount)
		count(&ratings, BAD, target->device, "mounted read-only");
	if (target->shape == TARGET_ON_DEVDAX &&
	    ((target->align_bytes > 0 && target->align_bytes % ALIGN_BYTES != 0) ||
	     (target->size_bytes > 0 && target->size_bytes % ALIGN_BYTES != 0)))
		count(&ratings, DOUBTFUL, target->device, "not of 2 MiB pages");
	say(&ratings, target, &texts, finding);
	if (finding->status == READINESS_WARN)
		finding_fix(finding,
			    "ndctl create-namespace -f -e %s --align=2M, which erases it; a region "
			    "has the size that its modules give it.",
			    target->namespaces_count == 1 ? target->namespaces[0].name
							  : "NAMESPACE");
}

const struct readiness_check checks_pmem[] = {
	{"PM-05", "namespace mode", READINESS_BLOCKS, READINESS_BLOCKS, inspect_mode,
	 "A namespace is made for device DAX (dax), for a DAX file system (memory), as a plain "
	 "disk (raw), or as a disk with atomic sectors (safe), which copies every block. Read from "
	 "/sys/bus/nd/devices/namespaceX.Y/mode.\n"
	 "PASS: memory or dax.\n"
	 "WARN: raw; without a target: some are safe, and others are not.\n"
	 "FAIL: safe.\n"
	 "UNKNOWN: the namespace or its mode is not known.\n"
	 "SKIP: the target is no persistent memory, or the host has none.\n"},
	{"PM-06", "persistence domain", READINESS_BLOCKS, READINESS_BLOCKS, inspect_domain,
	 "What the platform saves when power fails: memory_controller (ADR: what has reached the "
	 "memory controller) or cpu_cache (eADR: CPU caches too, so that it does not matter "
	 "whether device writes go there). All regions behind the target must agree. Read from "
	 "/sys/bus/nd/devices/regionN/persistence_domain, which the kernel hides where the "
	 "firmware does not tell.\n"
	 "PASS: memory_controller or cpu_cache.\n"
	 "WARN: without a target: some regions name another domain.\n"
	 "FAIL: another domain, or regions behind the target that differ.\n"
	 "UNKNOWN: it is not told, or, without a target, the host's regions differ.\n"
	 "SKIP: the target is no persistent memory, or the host has none.\n"},
	{"PM-07", "provider", READINESS_BLOCKS, READINESS_BLOCKS, inspect_provider,
	 "Who describes the region: ACPI.NFIT is the firmware, and what it describes is taken for "
	 "persistent. e820 is ordinary memory named so at boot (memmap=), virtio-pmem a file of "
	 "the host that only a flush of the guest's kernel makes durable, nfit_test a kernel test. "
	 "In a virtual machine the firmware is the hypervisor's, and what it shows may be any "
	 "memory of its host: it is not a proof. Read from provider of the bus and devtype of the "
	 "region in /sys/bus/nd/devices. A hypervisor is shown by the flag of /proc/cpuinfo, the "
	 "SMBIOS table (type 0, byte 0x13, bit 4), names in /sys/class/dmi/id, /sys/hypervisor, "
	 "the device tree, and the vendors of PCI functions. None is shown by an x86 processor "
	 "without the flag where none of these speaks against it, by the name of a whole machine "
	 "of a cloud (.metal), and on Arm, where nothing else tells, by the SMBIOS table (as root) "
	 "and a root port of the processor's maker above the NIC. Between them it is unknown.\n"
	 "PASS: ACPI.NFIT, and it is shown that there is no hypervisor.\n"
	 "ASSUMED: ACPI.NFIT of a hypervisor, or of an unknown one, or CXL (see PM-09), which "
	 "--assume-pmem takes for true.\n"
	 "WARN: ACPI.NFIT of a hypervisor, e820, virtio-pmem or nfit_test.\n"
	 "UNKNOWN: CXL (see PM-09), another provider, or none; the region's type, or whether there "
	 "is a hypervisor, cannot be seen.\n"
	 "SKIP: the target is no persistent memory, or the host has none.\n"},
	{"PM-08", "health of the modules", READINESS_BLOCKS, READINESS_ADVISES, inspect_health,
	 "A module that is not armed, or that failed to save, flush or restore, loses data at the "
	 "next power failure. dirty_shutdown counts power failures in which it could not save all; "
	 "if it grows, data was lost. Modules of CXL have the count alone, from Linux 6.15 on. "
	 "Read from /sys/bus/nd/devices/nmemN/nfit/flags and nfit/ or cxl/dirty_shutdown.\n"
	 "PASS: no fault.\n"
	 "WARN: dirty shutdowns were counted, or an event is reported; without a target: a fault "
	 "of some regions, but not of all.\n"
	 "FAIL: not_armed, save_fail, flush_fail, restore_fail or map_fail.\n"
	 "UNKNOWN: the flags cannot be read, or have another word.\n"
	 "SKIP: the region has no modules that the kernel shows, or there is no region.\n"},
	{"PM-09", "persistent CXL memory", READINESS_BLOCKS, READINESS_BLOCKS, checks_cxl_gpf,
	 "On CXL the data is safe only if platform and device do a global persistent flush (GPF) "
	 "when power fails. Device and ports tell by a register whether they take part (DVSEC 5 "
	 "and 4 of vendor 0x1e98, CXL specification 8.1); whether the platform starts it, and has "
	 "the energy, is for --assume-pmem. Read from /sys/bus/cxl/devices/mem*/pmem/size, the "
	 "configuration space of the devices and the ports above, and the provider of the region. "
	 "Needs root.\n"
	 "ASSUMED: all of them take part, and the rest is stated.\n"
	 "FAIL: one takes no part; a statement does not help.\n"
	 "UNKNOWN: all take part and nothing is stated, or the registers cannot be read.\n"
	 "SKIP: the target is no persistent CXL memory, or the host has none.\n"},
	{"PM-10", "bad blocks", READINESS_BLOCKS, READINESS_ADVISES, inspect_bad_blocks,
	 "Reading a broken place is a machine check: a program dies of it, and a device ends the "
	 "connection. Read from badblocks of the block device, else of the region, of which only "
	 "those within the namespace count where root may see where that lies.\n"
	 "PASS: none.\n"
	 "WARN: without a target: some regions have them.\n"
	 "FAIL: there are some.\n"
	 "UNKNOWN: the list cannot be read.\n"
	 "SKIP: the target is no persistent memory, or the host has none.\n"},
	{"PM-11", "writable, and aligned", READINESS_BLOCKS, READINESS_ADVISES, inspect_region,
	 "A region may be read-only, by its label or because a module is not armed. Pages of 2 MiB "
	 "cost far fewer translations than pages of 4 KiB. Read from regionN/read_only, "
	 "regionN/size and, of a device DAX, size and align.\n"
	 "PASS: it can be written to, and its size is a multiple of 2 MiB.\n"
	 "WARN: it is not; without a target: some regions are read-only.\n"
	 "FAIL: it is read-only, or its file system is mounted so.\n"
	 "UNKNOWN: that cannot be read.\n"
	 "SKIP: the target is no persistent memory, or the host has none.\n"},
	{0},
};
