/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * platforms.c -- the table of processors.
 *
 * Models are those of <asm/intel-family.h> and, of AMD, the families of arch/x86/kernel/
 * cpu/amd.c. Which events count writes: tools/perf/pmu-events of Linux. Where a control is
 * not in a public document, the row has none, and names no menu.
 */
#include "platforms.h"

#include <string.h>

#define BY_PORT	  "Each root port has a switch for device writes, and it can be read."
#define BY_PORT_L "Each root port has a switch for device writes; it is less well documented."
#define BY_MENU                                                                                    \
	"Cache allocation is set in the firmware's menu for the whole machine; no public "         \
	"register tells."
#define BY_NOTHING                                                                                 \
	"No public switch or register for cache allocation is known, in a menu or elsewhere; "     \
	"TPH of the NIC may steer writes into a cache."
#define BY_TPH                                                                                     \
	"Writes are injected into a cache where TPH tags ask for it; without TPH that is "         \
	"unlikely, and nothing proves it. There is no switch."
#define GPSPM "Or use the flush by a message (GPSPM), which needs neither."
#define STATE "or state what its maker documents: --assume-ddio off:WHY. " GPSPM
#define MENU                                                                                       \
	"Turn DDIO off in the firmware's menu, and state it: --assume-ddio off:WHY; or "           \
	"measure it as root on an idle machine: --probe. " GPSPM
#define PROBE                                                                                      \
	"There is no switch to look for on this processor: measure it as root on an idle "         \
	"machine with --probe, " STATE
#define PROBE_AMD                                                                                  \
	"There is no switch to look for on this processor: measure it as root on an idle "         \
	"machine with --probe (Linux 6.8 or newer), " STATE
#define NO_PROBE                                                                                   \
	"Nothing on this processor tells, and no probe can: ask the maker of the system, and "     \
	"state what it documents: --assume-ddio off:WHY. " GPSPM

#define INTEL(model, last, name, control, first, menu)                                             \
	{                                                                                          \
		"GenuineIntel", 6, model, last, name, control, first, menu                         \
	}
#define AMD(family, model, last, name, first)                                                      \
	{                                                                                          \
		"AuthenticAMD", family, model, last, name, BY_TPH, first, false                    \
	}

static const struct platform rows[] = {
	INTEL(0x55, 0x55, "Skylake-SP, Cascade Lake or Cooper Lake", BY_PORT, MENU, true),
	INTEL(0x3f, 0x3f, "Haswell-EP", BY_PORT_L, MENU, true),
	INTEL(0x4f, 0x4f, "Broadwell-EP", BY_PORT_L, MENU, true),
	INTEL(0x6a, 0x6a, "Ice Lake-SP", BY_MENU, MENU, true),
	INTEL(0x6c, 0x6c, "Ice Lake-D", BY_MENU, MENU, true),
	INTEL(0x8f, 0x8f, "Sapphire Rapids", BY_NOTHING, PROBE, false),
	INTEL(0xcf, 0xcf, "Emerald Rapids", BY_NOTHING, PROBE, false),
	INTEL(0xad, 0xae, "Granite Rapids", BY_NOTHING, PROBE, false),
	INTEL(0xaf, 0xaf, "Sierra Forest", BY_NOTHING, PROBE, false),
	{"GenuineIntel", -1, -1, -1, "Intel", BY_NOTHING, PROBE, false},
	AMD(0x17, 0x30, 0x3f, "AMD Zen 2", NO_PROBE),
	AMD(0x17, -1, -1, "AMD Zen", NO_PROBE),
	AMD(0x19, 0x10, 0x1f, "AMD Zen 4", PROBE_AMD),
	AMD(0x19, 0xa0, 0xaf, "AMD Zen 4c", PROBE_AMD),
	AMD(0x19, -1, -1, "AMD Zen 3", NO_PROBE),
	AMD(0x1a, -1, -1, "AMD Zen 5", PROBE_AMD),
	AMD(-1, -1, -1, "AMD", NO_PROBE),
	{"HygonGenuine", -1, -1, -1, "Hygon", BY_NOTHING, NO_PROBE, false},
	{"Arm", -1, -1, -1, NULL, BY_NOTHING, NO_PROBE, false},
	{NULL, -1, -1, -1, NULL, BY_NOTHING, NO_PROBE, false},
};

static bool fits(const struct platform *row, const struct facts_platform *facts)
{
	if (row->vendor == NULL)
		return true;
	/* Arm has the number of the implementer behind it */
	if (strncmp(facts->vendor, row->vendor, strlen(row->vendor)) != 0)
		return false;
	return (row->family < 0 || row->family == facts->family) &&
	       (row->model < 0 || (facts->model >= row->model && facts->model <= row->last_model));
}

const struct platform *platform_find(const struct facts_platform *facts)
{
	const struct platform *row = rows;

	while (!fits(row, facts))
		row++;
	return row;
}

const char *platform_first(const struct facts_platform *facts)
{
	if (facts->guest == KNOWN_YES)
		return "Run rpma-ddio-check on the host of this virtual machine, which has the "
		       "port and its switch, and state here what holds there: --assume-ddio "
		       "off:WHY. " GPSPM;
	return platform_find(facts)->first;
}
