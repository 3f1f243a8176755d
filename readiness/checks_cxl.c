/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks_cxl.c -- PM-09 and PM-12: does persistent CXL memory take part in a flush when power
 * fails, and what did the kernel make of it?
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"

bool checks_is_cxl(const char *provider)
{
	return strncmp(provider, "CXL", 3) == 0 || strncmp(provider, "cxl", 3) == 0;
}

const char *checks_cxl_region(const struct facts_cxl *cxl, char text[CHECKS_COMMAND_BYTES])
{
	if (cxl->memory[0] == '\0' || cxl->decoder[0] == '\0')
		return "cxl create-region -t pmem -d DECODER -m MEM (cxl list -MD shows both)";
	snprintf(text, CHECKS_COMMAND_BYTES, "cxl create-region -t pmem -d %s -m %s", cxl->decoder,
		 cxl->memory);
	return text;
}

static bool target_is_cxl(const struct facts_target *target)
{
	for (size_t i = 0; i < target->regions_count; i++) {
		if (checks_is_cxl(target->regions[i].provider))
			return true;
	}
	return false;
}

/* CXL memory: its devices and ports take part in a flush, as the operator states of the rest. */
bool checks_cxl_stated(const struct facts *facts)
{
	const struct facts_cxl *cxl = &facts->target.cxl;

	return facts->claims.pmem_why[0] != '\0' && cxl->gpf_yes > 0 && cxl->gpf_no == 0 &&
	       cxl->gpf_unknown == 0 && cxl->locked == 0;
}

static void judge_gpf(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_cxl *cxl = &facts->target.cxl;

	finding_source(finding, "/sys/bus/cxl/devices/mem*, DVSECs 4 and 5 of vendor 1e98%s",
		       checks_cxl_stated(facts) ? ", --assume-pmem" : "");
	if (cxl->gpf_no > 0) {
		finding_value(finding, "%s has none", cxl->gpf_function);
		finding_say(finding, READINESS_FAIL,
			    "A device, or a port above it, takes no part in the global persistent "
			    "flush (GPF): when power fails nothing tells it to save what it holds.",
			    "Take a device and a slot with GPF; no statement replaces it.");
	} else if (cxl->gpf_yes == 0 || cxl->gpf_unknown > 0) {
		finding_say(
			finding, READINESS_UNKNOWN,
			"Whether device and ports take part in the global persistent flush (GPF) "
			"cannot be read.",
			"Run this as root, where the configuration space can be read.");
	} else if (checks_cxl_stated(facts)) {
		finding_value(finding, "%zu functions with GPF; stated: %s", cxl->gpf_yes,
			      facts->claims.pmem_why);
		finding_is(finding, ASSUMED,
			   "Device and ports take part in the global persistent flush; that the "
			   "platform starts it and has the energy for it is stated.");
	} else {
		finding_value(finding, "%zu functions with GPF", cxl->gpf_yes);
		finding_say(
			finding, READINESS_UNKNOWN,
			"Device and ports take part in the global persistent flush; whether the "
			"platform starts it when power fails, and has the energy for it, no "
			"register tells.",
			"Ask the makers of platform and device. If both support GPF, state it: "
			"--assume-pmem WHY.");
	}
}

void checks_cxl_gpf(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_target *target = &facts->target;
	const bool given = target->shape != TARGET_NOT_GIVEN;
	bool cxl = false;

	for (size_t i = 0; i < target->regions_count; i++)
		cxl = cxl || checks_is_cxl(target->regions[i].provider);
	finding_source(finding, "/sys/bus/cxl/devices/mem*/pmem/size");
	if (target->cxl.pmem_bytes > 0)
		finding_value(finding, "%" PRId64 " bytes on the host", target->cxl.pmem_bytes);
	if (cxl || (!given && target->cxl.pmem_bytes != 0))
		judge_gpf(facts, finding);
	else if (given)
		finding_is(finding, SKIP, "The target is no persistent CXL memory.");
	else
		finding_is(finding, SKIP, "The host shows no persistent CXL memory.");
}

static void judge(const struct facts_cxl *cxl, struct readiness_finding *finding)
{
	char command[CHECKS_COMMAND_BYTES];

	if (cxl->pmem_bytes < 0 || cxl->devices == 0)
		finding_say(finding, READINESS_UNKNOWN,
			    "Not all CXL memory devices can be looked at.",
			    "Run this where /sys/bus/cxl can be read.");
	else if (cxl->locked > 0)
		finding_say(finding, READINESS_WARN,
			    "A device is locked: what it holds cannot be reached.",
			    "ndctl load-keys, and reload the driver, unlock it.");
	else if (cxl->committed == 0) {
		finding_is(finding, WARN,
			   "No region of mode pmem is committed, so the capacity is not in use.");
		finding_fix(finding, "As root: %s, then ndctl create-namespace.",
			    checks_cxl_region(cxl, command));
	} else if (!cxl->bridge)
		finding_say(finding, READINESS_WARN,
			    "The kernel does not hand it on as persistent memory: there is no "
			    "nvdimm-bridge.",
			    "modprobe cxl_pmem");
	else
		finding_is(finding, INFO,
			   "The kernel decodes it as persistent memory. Whether a power failure "
			   "flushes it is PM-09 (GPF), how often that failed PM-08 (dirty "
			   "shutdowns).");
}

static void inspect_devices(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_target *target = &facts->target;
	const struct facts_cxl *cxl = &target->cxl;

	finding_source(finding, "/sys/bus/cxl/devices: mem*/pmem/size, mem*/security/state, "
				"region*/mode, region*/commit, nvdimm-bridge*");
	if (target->shape != TARGET_NOT_GIVEN && !target_is_cxl(target)) {
		finding_is(finding, SKIP, "The target is no persistent CXL memory.");
		return;
	}
	if (!target_is_cxl(target) && cxl->devices == 0 && cxl->pmem_bytes == 0) {
		finding_is(finding, SKIP, "The host shows no persistent CXL memory.");
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
