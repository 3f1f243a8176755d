/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remedies.c -- changes of facts, and the table of the checks that they mend.
 */
#include "remedies.h"

#include <stdio.h>
#include <string.h>

#include "chain.h"
#include "checks.h"
#include "platforms.h"

#define STEP(step, ...) snprintf((step)->text, sizeof((step)->text), __VA_ARGS__)

static bool activate_ports(struct readiness *r, struct advice_step *step)
{
	struct facts_device *device = &r->facts.device;

	(void)step;
	for (size_t i = 0; i < device->ports_count; i++) {
		struct facts_port *port = &device->ports[i];

		if (port->state[0] != '\0')
			snprintf(port->state, sizeof(port->state), "4: ACTIVE");
		if (port->phys_state[0] != '\0')
			snprintf(port->phys_state, sizeof(port->phys_state), "5: LinkUp");
	}
	return device->ports_count > 0;
}

static bool order_writes(struct readiness *r, struct advice_step *step)
{
	bool changed = false;

	(void)step;
	for (size_t i = 0; i < r->facts.pci.count; i++) {
		struct facts_chain *chain = &r->facts.pci.chains[i];

		for (size_t f = chain->count - chain->nics; f < chain->count; f++) {
			struct pci_config *config = &chain->functions[f].config;
			size_t at = pci_config_capability(config, PCI_CAP_ID_EXP);

			if (at == 0 || at + PCI_EXP_DEVCTL >= config->len)
				continue;
			config->bytes[at + PCI_EXP_DEVCTL] &= (uint8_t)~PCI_EXP_DEVCTL_RELAX_EN;
			changed = true;
		}
	}
	return changed;
}

static bool withdraw_statement(struct readiness *r, struct advice_step *step)
{
	r->facts.claims.ddio_assumed = KNOWN_NOT;
	STEP(step, "Leave out --assume-ddio: what was read or measured contradicts it.");
	return true;
}

static bool bind_driver(struct readiness *r, struct advice_step *step)
{
	(void)step;
	snprintf(r->facts.target.driver, sizeof(r->facts.target.driver), "device_dax");
	return r->facts.target.size_bytes > 0;
}

static bool mount_dax(struct readiness *r, struct advice_step *step)
{
	struct facts_target *target = &r->facts.target;

	(void)step;
	target->dax_queue = target->dax_queue == KNOWN_NO ? KNOWN_YES : target->dax_queue;
	target->dax_mount = target->dax_mount == KNOWN_NO ? KNOWN_YES : target->dax_mount;
	target->answer.dax = target->answer.dax == 0 ? 1 : target->answer.dax;
	target->answer.map_sync = target->answer.map_sync > 0 ? 0 : target->answer.map_sync;
	return true;
}

static bool make_namespace(struct readiness *r, struct advice_step *step)
{
	struct facts_target *target = &r->facts.target;

	(void)step;
	if (target->shape == TARGET_ON_FSDAX && target->dax_queue == KNOWN_NO)
		target->dax_queue = KNOWN_YES;
	for (size_t i = 0; i < target->namespaces_count; i++) {
		char *mode = target->namespaces[i].mode;

		if (mode[0] != '\0')
			snprintf(mode, sizeof(target->namespaces[i].mode), "%s",
				 target->shape == TARGET_ON_DEVDAX ? "dax" : "memory");
	}
	return true;
}

static bool state_pmem(struct readiness *r, struct advice_step *step)
{
	struct facts_claims *claims = &r->facts.claims;

	if (r->facts.platform.guest == KNOWN_NO)
		return false;
	snprintf(claims->pmem_why, sizeof(claims->pmem_why), "checked on the host");
	if (r->facts.platform.guest == KNOWN_YES)
		STEP(step, "Run rpma-ddio-check on the host of this virtual machine. If the memory "
			   "is persistent there, state it here: --assume-pmem WHY.");
	else
		STEP(step, "Run this as root, who can read more. If that does not tell whether it "
			   "is a virtual machine, and the memory is persistent, state it: "
			   "--assume-pmem WHY.");
	step->finds_out = true;
	return true;
}

/* A CXL property that no register tells; the registers have to be well. */
static bool state_cxl(struct readiness *r, struct advice_step *step)
{
	struct facts_claims *claims = &r->facts.claims;

	snprintf(claims->pmem_why, sizeof(claims->pmem_why), "as its makers document");
	STEP(step, "Ask the makers of platform and device whether a power failure starts a global "
		   "persistent flush (GPF) and there is energy for it. If so, state it: "
		   "--assume-pmem WHY.");
	step->finds_out = true;
	return checks_cxl_stated(&r->facts);
}

static bool repair_modules(struct readiness *r, struct advice_step *step)
{
	struct facts_target *target = &r->facts.target;

	(void)step;
	for (size_t i = 0; i < target->regions_count; i++) {
		for (size_t d = 0; d < target->regions[i].dimms_count; d++) {
			char *flags = target->regions[i].dimms[d].flags;

			if (flags[0] != '\0')
				snprintf(flags, sizeof(target->regions[i].dimms[d].flags), "none");
		}
	}
	return true;
}

static bool clear_bad_blocks(struct readiness *r, struct advice_step *step)
{
	struct facts_target *target = &r->facts.target;

	(void)step;
	target->badblocks = target->badblocks > 0 ? 0 : target->badblocks;
	for (size_t i = 0; i < target->regions_count; i++) {
		int64_t *ranges = &target->regions[i].badblocks;

		*ranges = *ranges > 0 ? 0 : *ranges;
	}
	return true;
}

static bool make_writable(struct readiness *r, struct advice_step *step)
{
	struct facts_target *target = &r->facts.target;

	(void)step;
	target->read_only_mount = false;
	for (size_t i = 0; i < target->regions_count; i++) {
		int64_t *read_only = &target->regions[i].read_only;

		*read_only = *read_only > 0 ? 0 : *read_only;
	}
	return true;
}

static bool raise_memlock(struct readiness *r, struct advice_step *step)
{
	(void)step;
	r->facts.limits.memlock_bytes = INT64_MAX;
	return true;
}

static bool raise_open_files(struct readiness *r, struct advice_step *step)
{
	(void)step;
	r->facts.limits.open_files = INT64_MAX;
	return true;
}

/* --- DDIO --------------------------------------------------------------------------- */

/* The same as what rpma-ddio-check --set ddio=off writes; false: to no port. */
static bool switch_off(struct readiness *r, struct advice_step *step)
{
	bool changed = false, written = true;

	for (size_t i = 0; i < r->facts.pci.count; i++) {
		struct facts_chain *chain = &r->facts.pci.chains[i];
		uint8_t *byte = &chain->functions[0].config.bytes[DDIO_PERFCTRLSTS_0];
		struct ddio ddio;

		ddio_of_chain(&r->facts.platform, chain, &ddio);
		if (!ddio.read || (*byte & DDIO_SWITCHES) == 0)
			continue;
		*byte &= (uint8_t)~DDIO_SWITCHES;
		changed = true;
		written = written && !ddio.low_confidence;
	}
	if (changed && written)
		STEP(step,
		     "As root: rpma-ddio-check --device %s --set ddio=off. It lasts until the next "
		     "boot; the firmware's menu may have a switch that lasts.",
		     r->facts.device.name);
	else
		STEP(step, "Turn DDIO off in the firmware's menu.");
	return changed;
}

static bool switch_tph_off(struct readiness *r, struct advice_step *step)
{
	bool changed = false;

	for (size_t i = 0; i < r->facts.pci.count; i++) {
		struct facts_chain *chain = &r->facts.pci.chains[i];

		for (size_t f = chain->count - chain->nics; f < chain->count; f++) {
			struct pci_config *config = &chain->functions[f].config;
			size_t at = pci_config_extended(config, PCI_EXT_CAP_ID_TPH);

			if (at == 0 || pci_config_tph(config) <= 0)
				continue;
			config->bytes[at + 9] &= (uint8_t)~3; /* bits 9:8 of its control */
			changed = true;
		}
	}
	STEP(step, "%s", PLATFORM_TPH_OFF);
	return changed;
}

/* Steps that find out what only a measurement or the operator can tell. */
static bool find_out(struct readiness *r, struct advice_step *step)
{
	const bool root = r->ddio.needs_root;

	if (r->ddio.state != DDIO_UNKNOWN && r->ddio.evidence != DDIO_PROBE)
		return false;
	r->facts.claims.ddio_assumed = KNOWN_NO;
	if (root)
		STEP(step, "Run this as root, which can read the register of the root port %s.",
		     r->ddio.port);
	else
		STEP(step, "%s", platform_first(&r->facts.platform));
	step->finds_out = root || r->facts.platform.guest == KNOWN_YES ||
			  !platform_find(&r->facts.platform)->by_menu;
	return true;
}

static bool accept_doubt(struct readiness *r, struct advice_step *step)
{
	r->lenient = true;
	STEP(step,
	     "Measure it as root with --probe; or accept what the registers show with --lenient, "
	     "while nothing enables what is disabled in the NIC.");
	return true;
}

const struct remedy remedies[REMEDIES] = {
	{"DEV-02", activate_ports, false},  {"PM-02", bind_driver, false},
	{"PM-05", make_namespace, false},   {"PM-03", mount_dax, false},
	{"PM-04", mount_dax, false},	    {"PM-07", state_pmem, true},
	{"PM-09", state_cxl, true},	    {"PM-08", repair_modules, false},
	{"PM-10", clear_bad_blocks, false}, {"PM-11", make_writable, false},
	{"LIM-01", raise_memlock, false},   {"LIM-02", raise_open_files, false},
	{"PCI-04", order_writes, false},    {"DDIO-05", withdraw_statement, false},
	{DDIO_STATE, switch_off, false},    {DDIO_STATE, switch_tph_off, false},
	{DDIO_STATE, find_out, false},	    {DDIO_STATE, accept_doubt, false},
};
