/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks_cxl.c -- PM-12: what the kernel made of the persistent CXL memory.
 */
#include <inttypes.h>
#include <string.h>

#include "checks.h"

bool checks_is_cxl(const char *provider)
{
	return strncmp(provider, "CXL", 3) == 0 || strncmp(provider, "cxl", 3) == 0;
}

static bool target_is_cxl(const struct facts_target *target)
{
	for (size_t i = 0; i < target->regions_count; i++) {
		if (checks_is_cxl(target->regions[i].provider))
			return true;
	}
	return false;
}

static void judge(const struct facts_cxl *cxl, struct readiness_finding *finding)
{
	if (cxl->pmem_bytes < 0 || cxl->devices == 0)
		finding_say(finding, READINESS_UNKNOWN,
			    "Not all CXL memory devices can be looked at.",
			    "Run this where /sys/bus/cxl can be read.");
	else if (cxl->locked > 0)
		finding_say(finding, READINESS_WARN,
			    "A device is locked: what it holds cannot be reached.",
			    "ndctl load-keys, and reload the driver, unlock it.");
	else if (cxl->committed == 0)
		finding_say(finding, READINESS_WARN,
			    "No region of mode pmem is committed, so the capacity is not in use.",
			    "cxl create-region -t pmem -d DECODER -m MEM, then ndctl "
			    "create-namespace.");
	else if (!cxl->bridge)
		finding_say(finding, READINESS_WARN,
			    "The kernel does not hand it on as persistent memory: there is no "
			    "nvdimm-bridge.",
			    "modprobe cxl_pmem");
	else
		finding_say(finding, READINESS_INFO,
			    "The kernel decodes it as persistent memory. It does not tell whether "
			    "a power failure flushes it (GPF, PM-09), only how often that failed "
			    "(dirty shutdowns, PM-08).",
			    NULL);
}

static void inspect_devices(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_target *target = &facts->target;
	const struct facts_cxl *cxl = &target->cxl;

	finding_source(finding, "/sys/bus/cxl/devices: mem*/pmem/size, mem*/security/state, "
				"region*/mode, region*/commit, nvdimm-bridge*");
	if (target->shape != TARGET_NOT_GIVEN && !target_is_cxl(target)) {
		finding_say(finding, READINESS_SKIP, "The target is no CXL memory.", NULL);
		return;
	}
	if (!target_is_cxl(target) && cxl->devices == 0 && cxl->pmem_bytes == 0) {
		finding_say(finding, READINESS_SKIP, "The host shows no persistent CXL memory.",
			    NULL);
		return;
	}
	finding_value(finding,
		      "%zu devices, %" PRId64 " bytes; %zu regions of mode pmem, %zu committed; "
		      "%s nvdimm-bridge",
		      cxl->devices, cxl->pmem_bytes, cxl->regions, cxl->committed,
		      cxl->bridge ? "an" : "no");
	judge(cxl, finding);
}

const struct readiness_check checks_cxl[] = {
	{"PM-12", "CXL devices and regions", READINESS_ADVISES, READINESS_ADVISES, inspect_devices,
	 "Persistent capacity of CXL devices becomes persistent memory by a region of mode pmem\n"
	 "that is committed, and by a bridge to the kernel's NVDIMM drivers. The kernel tells\n"
	 "nothing of global persistent flush (GPF); see PM-09. Read from\n"
	 "/sys/bus/cxl/devices/memN/pmem/size, memN/security/state, regionN/mode,\n"
	 "regionN/commit and nvdimm-bridgeN.\n"
	 "INFO: it is in use.\n"
	 "WARN: a device is locked, no region is committed, or there is no bridge.\n"
	 "UNKNOWN: a device cannot be looked at, or there are more than 64.\n"
	 "SKIP: the target is not CXL memory, or the host has none.\n"},
	{0},
};
