/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks_ddio.c -- do device writes go into the cache? What the processor
 * offers, what its registers hold, what the operator states, what a probe saw.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "checks.h"
#include "ddio.h"
#include "platforms.h"

#define NEEDS_ROOT "Run as root (CAP_SYS_ADMIN): others are not shown the register."
static void inspect_platform(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_platform *p = &facts->platform;
	const struct platform *row = platform_find(p);

	if (facts->device.found && checks_without_dma(facts, finding))
		return;
	finding_source(finding, "/proc/cpuinfo");
	if (p->vendor[0] == '\0') {
		finding_is(finding, UNKNOWN, "The processor is not known.");
		return;
	}
	if (strncmp(p->vendor, "Arm", 3) == 0) {
		finding_value(finding, "%s%s%s", p->vendor,
			      p->arm_dcpop == KNOWN_YES ? ", dcpop" : "",
			      p->arm_dcpodp == KNOWN_YES ? ", dcpodp" : "");
		finding_say(
			finding, READINESS_INFO,
			p->arm_dcpop == KNOWN_YES
				? "Stashing of device writes differs by system, no register "
				  "tells; a flush by the CPU can reach persistence (DC CVAP)."
				: "Stashing of device writes differs by system, no register "
				  "tells; without dcpop no flush by the CPU reaches persistence.",
			NULL);
		return;
	}
	finding_value(finding, "%s, family %d, model 0x%02x, stepping %d",
		      row->name != NULL ? row->name : p->vendor, p->family,
		      (unsigned)p->model & 0xffff, p->stepping);
	finding_say(finding, READINESS_INFO, row->control, NULL);
}

static void inspect_ways(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_platform *p = &facts->platform;

	if (checks_without_dma(facts, finding))
		return;
	if (p->ddio_ways_source[0] != '\0')
		finding_source(finding, "/%s, register 0xc8b", p->ddio_ways_source);
	if (p->ddio_ways_msr < 0) {
		finding_say(finding, READINESS_SKIP,
			    "The register of the ways that device writes use cannot be read.",
			    p->ddio_ways_source[0] != '\0' ? "As root: modprobe msr. It is for "
							     "information only."
							   : NULL);
		return;
	}
	finding_value(finding, "0x%llx: %d ways", (unsigned long long)p->ddio_ways_msr,
		      __builtin_popcountll((unsigned long long)p->ddio_ways_msr));
	finding_is(finding, INFO,
		   "Ways of the last level cache that device writes may use; never none, so it "
		   "does not show whether they do.");
}

static void inspect_resctrl(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_platform *p = &facts->platform;

	if (facts->device.found && checks_without_dma(facts, finding))
		return;
	finding_source(finding,
		       "/sys/fs/resctrl/info/L3/{shareable_bits,cbm_mask,io_alloc,io_alloc_cbm}");
	if (p->l3_shareable_bits[0] == '\0' && p->l3_io_alloc[0] == '\0') {
		finding_say(finding, READINESS_SKIP,
			    "The kernel does not tell which ways of the cache devices share.",
			    "As root: mount -t resctrl resctrl /sys/fs/resctrl. It is for "
			    "information only.");
		return;
	}
	finding_value(finding, "%s%s%s%s%s%s%s%s", p->l3_shareable_bits[0] != '\0' ? "shared " : "",
		      p->l3_shareable_bits, p->l3_cbm_mask[0] != '\0' ? " of " : "", p->l3_cbm_mask,
		      p->l3_io_alloc[0] != '\0' ? " io_alloc " : "", p->l3_io_alloc,
		      p->l3_io_alloc_cbm[0] != '\0' ? " " : "", p->l3_io_alloc_cbm);
	finding_is(finding, INFO,
		   "Ways of the cache that devices share; it confines their writes and does not "
		   "turn allocation off.");
}

/* The remedy for a state: commands for this port, if its registers were read. */
static void advise(const struct ddio *ddio, const struct facts_platform *platform,
		   struct readiness_finding *finding)
{
	const char *port = ddio->port;

	if (ddio->state == DDIO_ON)
		finding_fix(finding,
			    "Turn DDIO off for this port in the firmware's menu, or as root: "
			    "setpci -s %s 180.b=0:88 (until the next boot; all devices below the "
			    "port get slower). If it is off for the whole processor "
			    "(Disable_All_Allocating_Flows), which is not read, show it with "
			    "--probe. Or use GPSPM.",
			    port);
	else if (ddio->state == DDIO_ON_POSSIBLE && !ddio->read)
		finding_fix(finding, "%s", PLATFORM_TPH_OFF);
	else if (ddio->state == DDIO_ON_POSSIBLE)
		finding_fix(finding,
			    "Close the way around: as root setpci -s %s 180.b=0:8, and turn TPH of "
			    "the NIC off (pci=notph); where its configuration space could not be "
			    "read, run as root.",
			    port);
	else if (ddio->state == DDIO_OFF_WARN)
		finding_fix(finding,
			    "Measure it with --probe, or accept it with --lenient while nothing "
			    "enables what is disabled in the NIC. Where bit 3 is 1, as root: "
			    "setpci -s %s 180.b=0:8.",
			    port);
	else if (ddio->state == DDIO_OFF && ddio->low_confidence)
		finding_fix(finding, "Measure it with --probe, or take the register's word with "
				     "--lenient.");
	else if (ddio->state == DDIO_UNKNOWN)
		finding_fix(finding, "%s",
			    ddio->needs_root ? NEEDS_ROOT : platform_first(platform));
}

static enum readiness_status status_of(const struct ddio *ddio)
{
	static const enum readiness_status statuses[] = {
		[DDIO_UNKNOWN] = READINESS_UNKNOWN, [DDIO_OFF] = READINESS_PASS,
		[DDIO_OFF_WARN] = READINESS_WARN,   [DDIO_ON_POSSIBLE] = READINESS_WARN,
		[DDIO_ON] = READINESS_WARN,
	};

	if (ddio->state == DDIO_OFF && ddio->low_confidence)
		return READINESS_WARN;
	return statuses[ddio->state];
}

static void inspect_registers(const struct facts *facts, struct readiness_finding *finding)
{
	static const char *const meanings[] = {
		[DDIO_UNKNOWN] =
			"Whether device writes allocate in the cache is not known, which is "
			"never the same as off.",
		[DDIO_OFF] = "Device writes do not allocate in the cache: they go to memory.",
		[DDIO_OFF_WARN] =
			"Device writes do not allocate, as long as nothing enables what is "
			"disabled in the NIC.",
		[DDIO_ON_POSSIBLE] = "Device writes do not allocate in general, but some may.",
		[DDIO_ON] =
			"Device writes end in the cache: a read that flushes does not make them "
			"persistent, unless the cache itself is.",
	};
	const bool intel = strcmp(facts->platform.vendor, "GenuineIntel") == 0;
	struct ddio ddio;

	if (checks_without_dma(facts, finding))
		return;
	ddio_of_registers(facts, &ddio);
	if (ddio.read)
		finding_value(finding, "%s: perfctrlsts 0x%08x 0x%08x, %s",
			      ddio_state_name(ddio.state), ddio.perfctrlsts[0], ddio.perfctrlsts[1],
			      ddio.why);
	else
		finding_value(finding, "%s: %s", ddio_state_name(ddio.state), ddio.why);
	if (ddio.port[0] != '\0' && intel)
		finding_source(finding, "/sys/bus/pci/devices/%s/config, bytes 0x180 to 0x187",
			       ddio.port);
	finding_say(finding, status_of(&ddio), meanings[ddio.state], NULL);
	if (ddio.state == DDIO_ON_POSSIBLE && !ddio.read)
		finding_meaning(finding,
				"TPH of the NIC can steer its writes into a cache, whatever "
				"else is set.");
	if (ddio.state == DDIO_OFF && ddio.low_confidence)
		finding_meaning(finding, "Device writes do not allocate in the cache, according to "
					 "a register that is "
					 "not well documented for this processor.");
	advise(&ddio, &facts->platform, finding);
}

static const char *statement_text(const struct facts_claims *claims, char text[192])
{
	snprintf(text, 192, "%s%s%s%s%s%s", claims->ddio_assumed == KNOWN_NO ? "off" : "on",
		 claims->why[0] != '\0' ? ": " : "", claims->why,
		 claims->by[0] != '\0' ? " (by " : "", claims->by,
		 claims->by[0] != '\0' ? ")" : "");
	return text;
}

/* The registers of the NIC contradict "off"; they are heeded, and the statement is not. */
static bool steers(const struct facts *facts)
{
	struct ddio ddio;

	ddio_of_registers(facts, &ddio);
	return facts->claims.ddio_assumed == KNOWN_NO && ddio.steered;
}

/* Does the operator's statement contradict what is known? */
static bool contradicted(const struct facts *facts)
{
	enum ddio_state seen = ddio_seen(facts);
	struct ddio ddio;

	ddio_of_registers(facts, &ddio);
	if (facts->claims.ddio_assumed == KNOWN_NO)
		return seen == DDIO_ON || (ddio.state == DDIO_ON && seen != DDIO_OFF);
	return ddio.state == DDIO_OFF || seen == DDIO_OFF;
}

static void inspect_statement(const struct facts *facts, struct readiness_finding *finding)
{
	const struct facts_claims *claims = &facts->claims;
	char text[192];

	finding_source(finding, "--assume-ddio");
	if (claims->ddio_assumed == KNOWN_NOT) {
		finding_is(finding, SKIP, "The operator states nothing about DDIO.");
		return;
	}
	finding_value(finding, "%s", statement_text(claims, text));
	if (facts->device.found && checks_placement(facts) != ADAPTER_BY_CPU && contradicted(facts))
		finding_say(finding, READINESS_FAIL,
			    "The operator's statement contradicts what was read or measured.",
			    "Find out which is wrong: another setting took effect, or another port "
			    "is meant. If allocation is off for the whole processor, bit 7 does "
			    "not show it: confirm the statement with --probe.");
	else if (facts->device.found && steers(facts))
		finding_say(finding, READINESS_WARN,
			    "TPH is enabled in the NIC, which can steer writes into a cache: that "
			    "contradicts the statement, and wins.",
			    "Turn TPH of the NIC off (PCI-06); then the statement is heeded.");
	else
		finding_say(finding, READINESS_ASSUMED,
			    claims->ddio_assumed == KNOWN_NO
				    ? "Taken for true where nothing else is known; if it is wrong, "
				      "data is lost."
				    : "Taken for true: device writes end in the cache.",
			    NULL);
}

static void value_of_probe(const struct answers_probe *probe, struct readiness_finding *finding)
{
	finding_source(finding, "%s", probe->events[0] != '\0' ? probe->events : "--probe");
	if (probe->done && probe->phases > 0)
		finding_value(
			finding,
			"%.2f bytes written to memory for each by RDMA (95 %% interval %.2f to "
			"%.2f, %lld phases), window of %lld bytes",
			(double)probe->memory_write_bytes / (double)probe->rdma_bytes,
			(double)probe->share_low_ppm / 1e6, (double)probe->share_high_ppm / 1e6,
			(long long)probe->phases, (long long)probe->window_bytes);
	else if (probe->done)
		finding_value(finding,
			      "%lld bytes written to memory for %lld by RDMA, window of %lld bytes",
			      (long long)probe->memory_write_bytes, (long long)probe->rdma_bytes,
			      (long long)probe->window_bytes);
	else
		finding_value(finding, "%s", probe->why);
}

static void judge_probe(const struct facts *facts, enum ddio_state seen,
			struct readiness_finding *finding)
{
	const enum known said = facts->claims.ddio_assumed;
	struct ddio ddio;

	ddio_of_registers(facts, &ddio);
	if (seen == DDIO_ON ? ddio.state == DDIO_OFF || said == KNOWN_NO : said == KNOWN_YES)
		finding_say(finding, READINESS_FAIL,
			    "What the probe saw contradicts the registers or the operator.",
			    "Trust none of them: repeat the probe on an idle machine, and look at "
			    "the firmware's menu.");
	else if (seen == DDIO_ON)
		finding_say(finding, READINESS_WARN,
			    "Far fewer bytes went to memory than came by RDMA: writes stay in the "
			    "cache.",
			    "Turn DDIO off in the firmware's menu, or use GPSPM.");
	else if (ddio.state == DDIO_ON && said != KNOWN_NO)
		finding_say(finding, READINESS_UNKNOWN,
			    "Writes reach memory although bit 7 of the root port is 1: allocation "
			    "may be off for the whole processor, which is not read.",
			    "If it is (Disable_All_Allocating_Flows of iiomiscctrl), state that: "
			    "--assume-ddio off:WHY. If not, repeat the probe on an idle machine.");
	else
		finding_is(finding, PASS,
			   "As many bytes went to memory as came by RDMA: writes do not stay in "
			   "the cache.");
}

static void inspect_probe(const struct facts *facts, struct readiness_finding *finding)
{
	const struct answers_probe *probe = &facts->claims.probe;
	enum ddio_state seen = ddio_seen(facts);

	if (!probe->done && probe->why[0] == '\0') {
		finding_source(finding, "--probe");
		finding_is(finding, SKIP, "No probe was asked for.");
		return;
	}
	if (checks_without_dma(facts, finding))
		return;
	value_of_probe(probe, finding);
	if (!probe->done)
		finding_is(finding, UNKNOWN, "The probe could not run.");
	else if (seen != ddio_of_probe(probe))
		finding_say(finding, READINESS_UNKNOWN,
			    "Writes reach memory below one root port, and the device has several, "
			    "or may have: nothing is shown of the others.",
			    "Probe each NIC of the bond by itself, with --device, before they are "
			    "bonded.");
	else if (seen == DDIO_UNKNOWN && probe->phases < DDIO_PROBE_PHASES_MIN)
		finding_say(
			finding, READINESS_UNKNOWN,
			"A single phase of traffic is no proof that writes reach memory: another "
			"program may have written meanwhile.",
			"Repeat it with this release, which alternates traffic and silence.");
	else if (seen == DDIO_UNKNOWN)
		finding_say(
			finding, READINESS_UNKNOWN,
			"The probe shows neither that writes reach memory nor that they do not.",
			"Repeat it on an idle machine, with a window of 1 MiB or less, at least "
			"256 MB of RDMA traffic, and as much as the link carries.");
	else
		judge_probe(facts, seen, finding);
}

const struct readiness_check checks_ddio[] = {
	{"DDIO-01", "processor", READINESS_WEIGHED, READINESS_ADVISES, inspect_platform,
	 "Where cache allocation of device writes is set, and whether that can be read,\n"
	 "depends on the processor: on Skylake-SP, Cascade Lake and Cooper Lake (family 6,\n"
	 "model 0x55) a register of each root port, less surely on Haswell-EP and Broadwell-EP\n"
	 "(0x3f, 0x4f); on Ice Lake (0x6a, 0x6c) the firmware's menu alone; on newer ones of\n"
	 "Intel, on AMD and on Arm nothing public. Read from /proc/cpuinfo.\n"
	 "INFO: the processor, and what is known of it.\n"
	 "UNKNOWN: it cannot be read.\n"
	 "SKIP: a software transport.\n"},
	{"DDIO-02", "cache ways for device writes", READINESS_ADVISES, READINESS_ADVISES,
	 inspect_ways,
	 "Model specific register 0xc8b (IIO_LLC_WAYS) of Intel's servers: the ways of the\n"
	 "last level cache that device writes may fill. It is never empty, and it is not the\n"
	 "switch: it proves neither on nor off. Read from /dev/cpu/N/msr of the first CPU of\n"
	 "the NIC's node; needs root and the module msr.\n"
	 "INFO: the mask and how many ways it has.\n"
	 "SKIP: not Intel, not readable, no device, or a software transport.\n"},
	{"DDIO-03", "cache ways, as the kernel tells", READINESS_ADVISES, READINESS_ADVISES,
	 inspect_resctrl,
	 "With resctrl mounted the kernel tells which ways of the L3 cache devices share\n"
	 "(shareable_bits), and on AMD since Linux 6.19 whether and where injected writes are\n"
	 "confined (io_alloc, io_alloc_cbm). It proves neither on nor off.\n"
	 "INFO: what the files say.\n"
	 "SKIP: they are not there, or a software transport.\n"},
	{"DDIO-04", "allocation of device writes in the cache", READINESS_WEIGHED,
	 READINESS_WEIGHED, inspect_registers,
	 "If device writes allocate in the cache, an RDMA read after them finds them there,\n"
	 "and power failing then loses them although the flush was reported done. Read, never\n"
	 "written, from the configuration space of the root port above the NIC: perfctrlsts_0\n"
	 "at 0x180 (bit 7: writes allocate; bit 3: No Snoop writes may) and perfctrlsts_1 at\n"
	 "0x184 (bit 9: TPH is not heeded); against these the NIC's No Snoop and TPH. Only on\n"
	 "processors that are known to have the registers, and only where no capability header\n"
	 "is at their place: on Ice Lake one is, and its bits look like \"off\". Of several NICs\n"
	 "the worst counts: on, unknown, possibly on, off with a warning, off. The switch for\n"
	 "the whole processor (Disable_All_Allocating_Flows of iiomiscctrl) is not read: where\n"
	 "it is used, bit 7 may be 1 all the same. Needs root.\n"
	 "PASS: OFF, that is, bit 7 and bit 3 are 0, and the NIC has no TPH or the port does\n"
	 "not heed it.\n"
	 "WARN: ON (bit 7 is 1); ON_POSSIBLE (bit 7 is 0, but the port lets No Snoop or TPH get\n"
	 "around it, which is enabled in the NIC, or the NIC could not be read); OFF_WARN (the\n"
	 "same, but it is disabled in the NIC, where software can enable it at any time); or OFF\n"
	 "by registers that are not well documented (models 0x3f and 0x4f).\n"
	 "UNKNOWN: any doubt about the register: another processor, a virtual machine, a port\n"
	 "of the chipset, a header in its place, no privilege. Unknown is never off.\n"
	 "SKIP: no device, or a software transport.\n"},
	{"DDIO-05", "what the operator states", READINESS_BLOCKS, READINESS_ADVISES,
	 inspect_statement,
	 "Where no register tells, the operator may know. --assume-ddio off:WHY is recorded with\n"
	 "its reason and believed where neither registers nor a probe tell, and where bit 7 is 1\n"
	 "but a probe saw device writes reach memory; it closes no way around that the registers\n"
	 "leave open (ON_POSSIBLE, OFF_WARN), nor TPH that is enabled in the NIC: evidence wins.\n"
	 "If it is wrong, data is lost. --assume-ddio on is believed always. Who stated it, and\n"
	 "when, is recorded.\n"
	 "ASSUMED: what was stated; never PASS.\n"
	 "WARN: TPH is enabled in the NIC, so that off is not believed.\n"
	 "FAIL: registers or a probe contradict it.\n"
	 "SKIP: nothing was stated.\n"},
	{"DDIO-06", "what a probe saw", READINESS_WEIGHED, READINESS_WEIGHED, inspect_probe,
	 "RDMA writes are streamed into a small window while the memory controllers count what\n"
	 "is written: with DDIO on the bytes stay in the cache. It works where no register is\n"
	 "public. Traffic of two speeds alternates with silence; where silence is not quiet, it\n"
	 "is refused. Less than 0.2 bytes written to memory for each by RDMA is on; a 95 %\n"
	 "interval above 0.8 is off. Between them, above 1.5 (other traffic), by less than 256 MB\n"
	 "of RDMA, by fewer than four phases, or off with a window of more than 1 MiB, which\n"
	 "spills from the cache anyway, nothing is shown; nor by off where the device has several "
	 "root ports, of which the traffic takes one, or\n"
	 "where bit 7 of the root port is 1 and the operator does not state that it is off. Needs\n"
	 "--probe, performance events and traffic of rpma-bench.\n"
	 "PASS: off.\n"
	 "WARN: on.\n"
	 "FAIL: it contradicts the registers or the operator.\n"
	 "UNKNOWN: it could not run, or shows nothing.\n"
	 "SKIP: not asked for, no device, or a software transport.\n"},
	{0},
};
