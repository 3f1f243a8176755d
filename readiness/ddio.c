/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ddio.c -- the decision on cache allocation of device writes.
 *
 * Skylake-SP, Cascade Lake and Cooper Lake have perfctrlsts_0 and _1 at 0x180
 * and 0x184 of their root ports; on Haswell and Broadwell they are less well
 * documented. Elsewhere other things are at this place (on Ice Lake the header
 * of an extended capability, whose bits look like "off"), so every doubt about
 * the place ends in "unknown" before a bit is looked at.
 *
 * A switch for the whole processor (Disable_All_Allocating_Flows of iiomiscctrl)
 * is in no public document with its place, and is not read: bit 7 may be 1
 * although nothing allocates.
 */
#include "ddio.h"

#include <stdio.h>
#include <string.h>

#include "chain.h"
#include "checks.h"

#define INTEL	      0x8086
#define INTEL_NAME    "GenuineIntel"
#define PERFCTRLSTS_0 DDIO_PERFCTRLSTS_0
#define PERFCTRLSTS_1 0x184
#define TPH_DISABLED  (1U << 9) /* TPHDIS, of perfctrlsts_1 */

/* a probe's share of device writes that reached memory, in percent */
#define SHARE_ON	   20
#define SHARE_OFF	   80
#define PPM_PER_PERCENT	   10000
#define PROBE_WINDOW_BYTES (1 << 20) /* a larger one spills from the DDIO ways */

#define say(ddio, ...)	   snprintf((ddio)->why, sizeof((ddio)->why), __VA_ARGS__)

/* Processors whose root ports have the registers, and the ids of these ports. */
struct generation {
	int model;
	int first_port, last_port;
	bool low_confidence;
};

static const struct generation generations[] = {
	{0x55, 0x2030, 0x2033, false}, /* Skylake-SP, Cascade Lake, Cooper Lake */
	{0x3f, 0x2f00, 0x2f0f, true},  /* Haswell-EP */
	{0x4f, 0x6f00, 0x6f0f, true},  /* Broadwell-EP */
};

static const struct generation *find_generation(const struct facts_platform *platform)
{
	if (strcmp(platform->vendor, INTEL_NAME) != 0 || platform->family != 6)
		return NULL;
	for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
		if (generations[i].model == platform->model)
			return &generations[i];
	}
	return NULL;
}

/* A header that the list does not lead to is known by its look. */
static bool looks_like_header(uint32_t dword)
{
	uint32_t next = dword >> 20, version = dword >> 16 & 0xf, id = dword & 0xffff;

	return next >= 0x100 && (next & 3) == 0 && version != 0 && id != 0 && id < 0x40;
}

static bool header_as_documented(const struct pci_config *config)
{
	uint32_t dwords[2] = {0, 0};
	uint16_t id;

	pci_config_dword(config, PERFCTRLSTS_0, &dwords[0]);
	pci_config_dword(config, PERFCTRLSTS_1, &dwords[1]);
	return pci_config_extended_at(config, PERFCTRLSTS_0, &id) ||
	       pci_config_extended_at(config, PERFCTRLSTS_1, &id) || looks_like_header(dwords[0]) ||
	       looks_like_header(dwords[1]);
}

/* Is it a processor whose ports are known? */
static bool platform_is_known(const struct facts_platform *platform,
			      const struct facts_function *top, struct ddio *ddio)
{
	uint32_t dword = 0;

	if (find_generation(platform) != NULL)
		return true;
	if (platform->vendor[0] == '\0')
		say(ddio, "the processor is unknown");
	else if (strcmp(platform->vendor, INTEL_NAME) == 0 && top != NULL &&
		 header_as_documented(&top->config) &&
		 pci_config_dword(&top->config, PERFCTRLSTS_0, &dword))
		say(ddio,
		    "at 0x180 there is the header of an extended capability (0x%08x), not the "
		    "register; this processor (model 0x%02x) has no public switch",
		    dword, (unsigned)platform->model);
	else
		say(ddio,
		    "no public register tells on this processor (%s, family %d, model 0x%02x)",
		    platform->vendor, platform->family, (unsigned)platform->model);
	return false;
}

/* Is the first bridge a root port of the processor itself? */
static bool port_is_known(const struct facts_platform *platform, const struct facts_chain *chain,
			  struct ddio *ddio)
{
	const struct generation *generation = find_generation(platform);
	const struct facts_function *top = chain_top(chain);

	if (platform->emulated[0] != '\0')
		say(ddio, "the root port is one of a hypervisor (%s)", platform->emulated);
	else if (top == NULL)
		say(ddio, "%s has no root port above it", chain_nic(chain)->address);
	else if (chain->cut)
		say(ddio, "the path to the NIC cannot be followed as a whole");
	else if (top->config.len == 0)
		say(ddio, "the configuration space of %s cannot be read", top->address);
	else if (pci_config_absent(&top->config))
		say(ddio, "%s reads as all ones: it is absent", top->address);
	else if (top->vendor != INTEL || top->device < generation->first_port ||
		 top->device > generation->last_port)
		say(ddio, "%s (%04x:%04x) is no root port of this processor", top->address,
		    (unsigned)top->vendor & 0xffff, (unsigned)top->device & 0xffff);
	else if (top->config.len <= PCI_STD_HEADER_SIZEOF) {
		ddio->needs_root = true;
		say(ddio, "only %zu bytes of the configuration space of %s can be read: needs root",
		    top->config.len, top->address);
	} else if (top->config.len < PCI_CONFIG_BYTES)
		say(ddio, "the configuration space of %s ends at byte %zu", top->address,
		    top->config.len);
	else if (chain_has_root_port(chain) != KNOWN_YES)
		say(ddio, "%s is not a root port", top->address);
	else
		return true;
	return false;
}

static bool registers_are_there(const struct facts_function *top, struct ddio *ddio)
{
	if (header_as_documented(&top->config)) {
		say(ddio,
		    "at 0x180 or 0x184 of %s there is the header of an extended capability, not "
		    "the register",
		    top->address);
		return false;
	}
	if (!pci_config_extended_seen(&top->config)) {
		say(ddio,
		    "the extended capabilities of %s are a broken list: what is at 0x180 cannot be "
		    "told",
		    top->address);
		return false;
	}
	if (!pci_config_dword(&top->config, PERFCTRLSTS_0, &ddio->perfctrlsts[0]) ||
	    !pci_config_dword(&top->config, PERFCTRLSTS_1, &ddio->perfctrlsts[1]))
		return false;
	if (ddio->perfctrlsts[0] == UINT32_MAX || ddio->perfctrlsts[1] == UINT32_MAX) {
		say(ddio, "the register of %s reads as all ones: it is absent", top->address);
		return false;
	}
	return true;
}

/* Device writes do not allocate, unless by a way around that the port leaves open. */
static void judge_escapes(const struct facts_chain *chain, struct ddio *ddio)
{
	static const enum ddio_state states[] = {
		[CHAIN_CANNOT] = DDIO_OFF,
		[CHAIN_DISABLED] = DDIO_OFF_WARN,
		[CHAIN_NOT_SEEN] = DDIO_ON_POSSIBLE,
		[CHAIN_ENABLED] = DDIO_ON_POSSIBLE,
	};
	static const char *const words[] = {
		[CHAIN_DISABLED] = "disabled in the NIC, but software can enable it",
		[CHAIN_NOT_SEEN] = "not known of the NIC, as it cannot be read",
		[CHAIN_ENABLED] = "enabled in the NIC",
	};
	bool tph_heeded = (ddio->perfctrlsts[1] & TPH_DISABLED) == 0;
	bool no_snoop_allocates = (ddio->perfctrlsts[0] & DDIO_NO_SNOOP_ALLOCATES) != 0;
	enum chain_ability tph = tph_heeded ? chain_tph(chain) : CHAIN_CANNOT;
	enum chain_ability no_snoop = no_snoop_allocates ? chain_no_snoop(chain) : CHAIN_CANNOT;

	ddio->state = states[tph > no_snoop ? tph : no_snoop];
	if (ddio->state == DDIO_OFF)
		say(ddio, "bit 7 and bit 3 are 0, and no TPH can come from the NIC");
	else if (tph >= no_snoop)
		say(ddio,
		    "bit 7 is 0, but the port heeds TPH (bit 9 of perfctrlsts_1 is 0), which is %s",
		    words[tph]);
	else
		say(ddio,
		    "bit 7 is 0, but bit 3 is 1: No Snoop writes allocate, and No Snoop is %s",
		    words[no_snoop]);
}

/* Hints steer writes into a cache on any processor that heeds them, allocation or not. */
static void judge_steering(const struct facts_chain *chain, struct ddio *ddio)
{
	bool ignored = ddio->read && (ddio->perfctrlsts[1] & TPH_DISABLED) != 0;

	ddio->steered = !ignored && chain_tph(chain) == CHAIN_ENABLED;
	if (!ddio->steered || ddio->state != DDIO_UNKNOWN)
		return;
	ddio->state = DDIO_ON_POSSIBLE;
	ddio->evidence = DDIO_REGISTERS;
	say(ddio, "TPH is enabled in the NIC %s, and nothing shows that the processor ignores it",
	    chain_nic(chain)->address);
}

static void judge_port(const struct facts_platform *platform, const struct facts_chain *chain,
		       struct ddio *ddio)
{
	const struct facts_function *top = chain_top(chain);

	memset(ddio, 0, sizeof(*ddio));
	if (top != NULL)
		snprintf(ddio->port, sizeof(ddio->port), "%s", top->address);
	if (!platform_is_known(platform, top, ddio) || !port_is_known(platform, chain, ddio) ||
	    !registers_are_there(top, ddio))
		return;
	ddio->read = true;
	ddio->evidence = DDIO_REGISTERS;
	ddio->low_confidence = find_generation(platform)->low_confidence;
	if ((ddio->perfctrlsts[0] & DDIO_ALLOCATING) == 0) {
		judge_escapes(chain, ddio);
		return;
	}
	ddio->state = DDIO_ON;
	say(ddio, "bit 7 of perfctrlsts_0 is 1: device writes allocate in the cache, unless that "
		  "is off for the whole processor, which is not read");
}

void ddio_of_chain(const struct facts_platform *platform, const struct facts_chain *chain,
		   struct ddio *ddio)
{
	judge_port(platform, chain, ddio);
	judge_steering(chain, ddio);
}

enum ddio_state ddio_of_probe(const struct answers_probe *probe)
{
	double share;

	if (!probe->done || probe->rdma_bytes < DDIO_PROBE_BYTES_MIN ||
	    probe->memory_write_bytes < 0)
		return DDIO_UNKNOWN;
	share = 100.0 * (double)probe->memory_write_bytes / (double)probe->rdma_bytes;
	if (share < SHARE_ON)
		return DDIO_ON;
	/* that next to nothing was written is shown by any phase: others only add */
	if (share > SHARE_OFF && share <= 100 * DDIO_PROBE_RATIO_MAX && probe->window_bytes > 0 &&
	    probe->window_bytes <= PROBE_WINDOW_BYTES && probe->phases >= DDIO_PROBE_PHASES_MIN &&
	    probe->share_low_ppm > SHARE_OFF * PPM_PER_PERCENT &&
	    (double)probe->share_high_ppm <= 100 * DDIO_PROBE_RATIO_MAX * PPM_PER_PERCENT)
		return DDIO_OFF;
	return DDIO_UNKNOWN;
}

static bool has_one_root_port(const struct facts_pci *pci)
{
	for (size_t i = 1; i < pci->count; i++) {
		if (strcmp(pci->chains[i].functions[0].path, pci->chains[0].functions[0].path) != 0)
			return false;
	}
	return !pci->cut;
}

enum ddio_state ddio_seen(const struct facts *facts)
{
	enum ddio_state seen = ddio_of_probe(&facts->claims.probe);

	return seen == DDIO_OFF && !has_one_root_port(&facts->pci) ? DDIO_UNKNOWN : seen;
}

/* Nothing takes away what is read of the NIC: traffic or words without hints show no hints. */
static void overrule(struct ddio *ddio, enum ddio_state state, enum ddio_evidence evidence,
		     const char *why)
{
	if (state == DDIO_OFF && ddio->steered) {
		state = DDIO_ON_POSSIBLE;
		evidence = DDIO_REGISTERS;
		why = "TPH is enabled in the NIC, and nothing shows that the processor ignores it";
	}
	ddio->state = state;
	ddio->evidence = evidence;
	ddio->low_confidence = false;
	say(ddio, "%s", why);
}

/*
 * It sees what the registers leave open; a way around that is open stays open.
 * Off where bit 7 is 1 may be the switch that is not read, or a false probe: the
 * operator has to say which.
 */
static void hear_probe(enum ddio_state seen, struct ddio *ddio)
{
	if (seen == DDIO_ON && ddio->state != DDIO_ON)
		overrule(ddio, DDIO_ON, DDIO_PROBE,
			 "the probe saw device writes stay in the cache");
	else if (seen == DDIO_OFF && (ddio->state == DDIO_UNKNOWN || ddio->state == DDIO_OFF_WARN ||
				      (ddio->state == DDIO_OFF && ddio->low_confidence)))
		overrule(ddio, DDIO_OFF, DDIO_PROBE, "the probe saw device writes reach memory");
	else if (seen == DDIO_OFF && ddio->state == DDIO_ON)
		overrule(ddio, DDIO_ON_POSSIBLE, DDIO_PROBE,
			 "bit 7 is 1, but the probe saw device writes reach memory: allocation may "
			 "be off for the whole processor, which is not read");
}

/* "Off" where nothing else decides; "on" is believed against everything. */
static void hear_statement(const struct facts_claims *claims, struct ddio *ddio)
{
	bool open = ddio->state == DDIO_UNKNOWN ||
		    (ddio->state == DDIO_OFF && ddio->low_confidence) ||
		    (ddio->state == DDIO_ON_POSSIBLE && ddio->evidence == DDIO_PROBE);

	if (claims->ddio_assumed == KNOWN_NO && open)
		overrule(ddio, DDIO_OFF, DDIO_STATEMENT, "the operator states that it is off");
	else if (claims->ddio_assumed == KNOWN_YES && ddio->state != DDIO_ON)
		overrule(ddio, DDIO_ON, DDIO_STATEMENT, "the operator states that it is on");
}

/* The less it lets one hope for, the higher; of "off", the less it was seen. */
static int gravity(const struct ddio *ddio)
{
	static const int gravities[] = {
		[DDIO_OFF] = 0,	    [DDIO_OFF_WARN] = 3, [DDIO_ON_POSSIBLE] = 4,
		[DDIO_UNKNOWN] = 5, [DDIO_ON] = 6,
	};

	if (ddio->state != DDIO_OFF)
		return gravities[ddio->state];
	return ddio->evidence == DDIO_STATEMENT ? 2 : ddio->evidence == DDIO_PROBE ? 1 : 0;
}

/* Combines the ports; the worst so far wins, among equal ones the first. */
static void add(const struct facts *facts, bool hear, struct ddio *one, struct ddio *worst)
{
	const bool steered = one->steered || worst->steered;

	if (hear) {
		hear_probe(ddio_seen(facts), one);
		hear_statement(&facts->claims, one);
	}
	if (worst->why[0] == '\0' || gravity(one) > gravity(worst))
		*worst = *one;
	worst->steered = steered;
}

/* Others are heard on each NIC by itself: what they say of one closes no way around of another. */
static void weigh(const struct facts *facts, bool hear, struct ddio *ddio)
{
	const struct facts_pci *pci = &facts->pci;
	struct ddio one;

	memset(ddio, 0, sizeof(*ddio));
	for (size_t i = 0; i < pci->count; i++) {
		ddio_of_chain(&facts->platform, &pci->chains[i], &one);
		add(facts, hear, &one, ddio);
	}
	memset(&one, 0, sizeof(one));
	say(&one, "%s",
	    pci->cut ? "the device has, or may have, more NICs than could be looked at"
		     : "the device has no PCI parent");
	if (pci->cut || pci->count == 0)
		add(facts, hear, &one, ddio);
}

/* False, with the reason: nothing of it is in registers. */
static bool writes_by_dma(const struct facts *facts, struct ddio *ddio)
{
	memset(ddio, 0, sizeof(*ddio));
	if (!facts->device.found)
		say(ddio, "there is no device");
	else if (checks_placement(facts) == ADAPTER_BY_CPU)
		say(ddio, "the CPU copies the data");
	else
		return true;
	return false;
}

void ddio_of_registers(const struct facts *facts, struct ddio *ddio)
{
	if (writes_by_dma(facts, ddio))
		weigh(facts, false, ddio);
}

void ddio_decide(const struct facts *facts, struct ddio *ddio)
{
	if (writes_by_dma(facts, ddio))
		weigh(facts, true, ddio);
}

const char *ddio_state_name(enum ddio_state state)
{
	static const char *const names[] = {
		[DDIO_UNKNOWN] = "UNKNOWN",
		[DDIO_OFF] = "OFF",
		[DDIO_OFF_WARN] = "OFF_WARN",
		[DDIO_ON_POSSIBLE] = "ON_POSSIBLE",
		[DDIO_ON] = "ON",
	};

	return names[state];
}

const char *ddio_evidence_name(enum ddio_evidence evidence)
{
	static const char *const names[] = {
		[DDIO_NO_EVIDENCE] = "none",
		[DDIO_REGISTERS] = "registers",
		[DDIO_STATEMENT] = "statement",
		[DDIO_PROBE] = "probe",
	};

	return names[evidence];
}
