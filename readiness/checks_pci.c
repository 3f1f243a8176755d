/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks_pci.c -- the PCI Express path of the NIC: its root port, its links,
 * and how it may use them.
 *
 * A device of several NICs is judged by the worst of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "checks.h"

#define MRRS_MIN_BYTES 512
#define NEEDS_ROOT                                                                                 \
	"Run as root (CAP_SYS_ADMIN): others are shown the first 64 bytes of the configuration "   \
	"space alone."

/* Hardware without a path is nothing that a check of the path can tell of. */
static bool without_path(const struct facts *facts, struct readiness_finding *finding)
{
	if (checks_without_hardware(facts, finding))
		return true;
	if (facts->pci.count > 0)
		return false;
	finding_source(finding, "/sys/class/infiniband/%s/device", facts->device.name);
	finding_is(finding, UNKNOWN,
		   "The device has no PCI function behind it that could be found.");
	return true;
}

static void say_hidden(struct readiness_finding *finding)
{
	finding_say(
		finding, READINESS_UNKNOWN,
		"The device has, or may have, a NIC that cannot be seen: not all of its network "
		"interfaces lead to one.",
		"Run this where the interfaces of the device are, bonds and their parts "
		"included: on the host, not in a container's network namespace.");
}

static void source_of(const struct facts_function *function, struct readiness_finding *finding)
{
	finding_source(finding, "/%s/config", function->path);
}

static void inspect_root_port(const struct facts *facts, struct readiness_finding *finding)
{
	char text[sizeof(finding->value)] = "";
	size_t len = 0, unknown = 0, none = 0;

	if (without_path(facts, finding))
		return;
	for (size_t i = 0; i < facts->pci.count; i++) {
		const struct facts_chain *chain = &facts->pci.chains[i];
		const struct facts_function *top = chain_top(chain);
		enum known port = chain_has_root_port(chain);

		unknown += port == KNOWN_NOT || chain->cut;
		none += port == KNOWN_NO;
		if (len < sizeof(text))
			len += (size_t)snprintf(
				text + len, sizeof(text) - len, "%s%s > %s", i > 0 ? ", " : "",
				top != NULL ? top->address : "nothing", chain_nic(chain)->address);
		if (i == 0 || port != KNOWN_YES)
			source_of(top != NULL ? top : chain_nic(chain), finding);
	}
	finding_value(finding, "%s", text);
	if (none > 0)
		finding_is(finding, UNKNOWN,
			   "What is above the NIC is not a root port of PCI Express: the path "
			   "is ambiguous, or the NIC is part of the root complex.");
	else if (facts->pci.cut)
		say_hidden(finding);
	else if (unknown > 0)
		finding_say(finding, READINESS_UNKNOWN,
			    "The first bridge above the NIC could not be shown to be a root port.",
			    NEEDS_ROOT);
	else
		finding_is(finding, PASS, "The root port above the NIC is known.");
}

static void inspect_link(const struct facts *facts, struct readiness_finding *finding)
{
	struct chain_links links = {.known = true};

	if (without_path(facts, finding))
		return;
	for (size_t i = 0; i < facts->pci.count; i++)
		chain_judge_links(&facts->pci.chains[i], &links);
	if (links.shown == NULL)
		links.shown = chain_nic(&facts->pci.chains[0]);
	finding_source(finding, "/%s/{current,max}_link_{speed,width}", links.shown->path);
	if (links.shown->current_width > 0)
		finding_value(finding, "%s: %s x%d of %s x%d", links.shown->address,
			      links.shown->current_speed, links.shown->current_width,
			      links.shown->max_speed, links.shown->max_width);
	if (links.below)
		finding_say(finding, READINESS_WARN,
			    "A link of the path is slower or narrower than it can be.",
			    "Put the NIC into a slot of its speed and width; look for a riser or a "
			    "bifurcation in the way, and at the firmware's settings of the slot.");
	else if (facts->pci.cut)
		say_hidden(finding);
	else if (!links.known)
		finding_is(finding, UNKNOWN, "Speed or width of a link is not known.");
	else
		finding_is(finding, PASS, "The links are as fast and wide as they can be.");
}

static void say_unreadable(const struct facts_function *nic, struct readiness_finding *finding)
{
	finding_say(finding, READINESS_UNKNOWN,
		    "The PCI Express capability of the NIC cannot be read.",
		    pci_config_absent(&nic->config)
			    ? "The function answers with all ones: it has gone; look at the "
			      "kernel's log."
			    : NEEDS_ROOT);
}

/* Each NIC's; false, with the finding made: one of them cannot be read. */
static bool read_nics(const struct facts *facts, struct pci_express *express,
		      struct readiness_finding *finding)
{
	for (size_t i = 0; i < facts->pci.count; i++) {
		const struct facts_function *nic = chain_nic(&facts->pci.chains[i]);

		source_of(nic, finding);
		if (!pci_config_express(&nic->config, &express[i])) {
			say_unreadable(nic, finding);
			return false;
		}
	}
	if (facts->pci.cut)
		say_hidden(finding);
	return !facts->pci.cut;
}

static void inspect_sizes(const struct facts *facts, struct readiness_finding *finding)
{
	struct pci_express express[FACTS_CHAINS_MAX];
	const struct pci_express *least = express;

	if (without_path(facts, finding) || !read_nics(facts, express, finding))
		return;
	for (size_t i = 1; i < facts->pci.count; i++) {
		if (express[i].max_read_request_bytes < least->max_read_request_bytes)
			least = &express[i];
	}
	finding_value(finding, "payload %d, read request %d bytes", least->max_payload_bytes,
		      least->max_read_request_bytes);
	if (least->max_read_request_bytes < MRRS_MIN_BYTES)
		finding_say(finding, READINESS_WARN,
			    "The NIC reads memory in requests of less than 512 bytes: sending and "
			    "RDMA reads from this host are slowed down.",
			    "Set a larger read request in the firmware or with setpci, as the "
			    "vendor of the NIC recommends.");
	else
		finding_is(finding, INFO, "Sizes of what the NIC sends over the bus.");
}

/* Root ports of Haswell and Broadwell: the kernel's quirk_relaxedordering_disable. */
static bool breaks_ordering(const struct facts_function *port)
{
	return port != NULL && port->vendor == 0x8086 &&
	       ((port->device >= 0x2f01 && port->device <= 0x2f0e) ||
		(port->device >= 0x6f01 && port->device <= 0x6f0e));
}

/* The ports below which NICs relax the order of their writes. */
struct ordering {
	bool on, broken;
	const struct facts_function *unread;	/* a NIC that cannot be read */
	const struct facts_function *undecided; /* such a one below a port that may break it */
};

static bool keeps_ordering(const struct facts_function *port)
{
	return port != NULL && port->vendor >= 0 && port->device >= 0 && !breaks_ordering(port);
}

static void add_ordering(const struct facts_chain *chain, struct ordering *ordering)
{
	const struct facts_function *nic = chain_nic(chain), *port = chain_top(chain);
	struct pci_express express;

	if (!pci_config_express(&nic->config, &express)) {
		ordering->unread = nic;
		if (!keeps_ordering(port))
			ordering->undecided = nic;
	} else if (express.relaxed_ordering) {
		ordering->on = true;
		ordering->broken = ordering->broken || breaks_ordering(port);
	}
}

static void inspect_ordering(const struct facts *facts, struct readiness_finding *finding)
{
	struct ordering ordering = {0};

	if (without_path(facts, finding))
		return;
	for (size_t i = 0; i < facts->pci.count; i++)
		add_ordering(&facts->pci.chains[i], &ordering);
	source_of(chain_nic(&facts->pci.chains[0]), finding);
	finding_value(finding, "%s",
		      ordering.on		? "on"
		      : ordering.unread == NULL ? "off"
						: "unknown");
	if (ordering.broken)
		finding_say(finding, READINESS_FAIL,
			    "Relaxed ordering is on, and the root port is one that is known to do "
			    "it wrong: writes are slow, and may be seen out of order.",
			    "Clear Enable Relaxed Ordering of the NIC: by its firmware, or with "
			    "setpci CAP_EXP+8.w=0:10.");
	else if (facts->pci.cut)
		say_hidden(finding);
	else if (ordering.undecided != NULL)
		say_unreadable(ordering.undecided, finding);
	else if (ordering.unread != NULL)
		finding_is(finding, INFO,
			   "Whether writes may overtake each other cannot be read; the root "
			   "port handles them well either way.");
	else if (ordering.on)
		finding_is(finding, INFO,
			   "Writes may overtake each other: polling the last byte of a message "
			   "proves nothing, a flush by a read does.");
	else
		finding_is(finding, PASS, "Writes keep their order.");
}

static void inspect_no_snoop(const struct facts *facts, struct readiness_finding *finding)
{
	struct pci_express express[FACTS_CHAINS_MAX];
	bool on = false;

	if (without_path(facts, finding) || !read_nics(facts, express, finding))
		return;
	for (size_t i = 0; i < facts->pci.count; i++)
		on = on || express[i].no_snoop;
	finding_value(finding, "%s", on ? "enabled" : "disabled");
	finding_say(finding, READINESS_INFO,
		    on ? "The NIC may mark writes as No Snoop; where the root port has "
			 "NoSnoopOpWrEn set, these may allocate in the cache (DDIO-04)."
		       : "The NIC marks no writes as No Snoop, but software can enable it.",
		    NULL);
}

static void inspect_tph(const struct facts *facts, struct readiness_finding *finding)
{
	static const char *const words[] = {[CHAIN_CANNOT] = "none",
					    [CHAIN_DISABLED] = "disabled",
					    [CHAIN_NOT_SEEN] = "unknown",
					    [CHAIN_ENABLED] = "enabled"};
	enum chain_ability worst = CHAIN_CANNOT;
	/* an older kernel does not know the word, and a newer one leaves on what is on */
	bool told = facts->platform.tph_disabled == KNOWN_YES;

	if (without_path(facts, finding))
		return;
	for (size_t i = 0; i < facts->pci.count; i++) {
		enum chain_ability tph = chain_tph(&facts->pci.chains[i]);

		if (i == 0 || tph > worst) {
			worst = tph;
			source_of(chain_nic(&facts->pci.chains[i]), finding);
		}
	}
	finding_value(finding, "%s%s", words[worst], told ? ", pci=notph" : "");
	if (worst == CHAIN_ENABLED)
		finding_say(
			finding, READINESS_WARN,
			"The NIC may send TPH: hints that steer its writes into a cache.",
			"Turn TPH off in the NIC's firmware or driver, or start the kernel with "
			"pci=notph (Linux 6.13 or newer).");
	else if (facts->pci.cut)
		say_hidden(finding);
	else if (worst == CHAIN_CANNOT)
		finding_is(finding, PASS, "The NIC cannot send TPH.");
	else if (worst == CHAIN_DISABLED)
		finding_is(finding, INFO,
			   "The NIC sends no TPH, but software can enable it; where the root "
			   "port heeds TPH, writes may then go to a cache (DDIO-04).");
	else
		finding_say(finding, READINESS_UNKNOWN, "Whether the NIC sends TPH cannot be read.",
			    NEEDS_ROOT);
}

static void describe_acs(const struct facts_function *bridge, char *text, size_t size)
{
	size_t at = pci_config_extended(&bridge->config, PCI_EXT_CAP_ID_ACS);
	uint16_t control;

	if (at == 0 && !pci_config_extended_seen(&bridge->config))
		snprintf(text, size, "unknown");
	else if (at == 0 || !pci_config_word(&bridge->config, at + PCI_ACS_CTRL, &control))
		snprintf(text, size, "none");
	else
		snprintf(text, size, "%s%s%s%s", (control & PCI_ACS_RR) != 0 ? "RR" : "",
			 (control & PCI_ACS_CR) != 0 ? "CR" : "",
			 (control & PCI_ACS_UF) != 0 ? "UF" : "",
			 (control & (PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_UF)) == 0 ? "off" : "");
}

static void inspect_acs(const struct facts *facts, struct readiness_finding *finding)
{
	char text[sizeof(finding->value)] = "", one[16];
	size_t len = 0, bridges = 0, unknown = 0;

	if (without_path(facts, finding))
		return;
	for (size_t i = 0; i < facts->pci.count; i++) {
		const struct facts_chain *chain = &facts->pci.chains[i];

		for (size_t j = 0; j + chain->nics < chain->count; j++, bridges++) {
			describe_acs(&chain->functions[j], one, sizeof(one));
			unknown += strcmp(one, "unknown") == 0;
			if (len < sizeof(text))
				len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %s",
							bridges > 0 ? ", " : "",
							chain->functions[j].address, one);
		}
	}
	source_of(&facts->pci.chains[0].functions[0], finding);
	finding_value(finding, "%s", bridges > 0 ? text : "no bridge above the NIC");
	if (unknown > 0)
		finding_say(finding, READINESS_UNKNOWN,
			    "Access control of the bridges above the NIC cannot be read.",
			    NEEDS_ROOT);
	else
		finding_is(finding, INFO,
			   "Redirection by access control matters where devices write to each "
			   "other; writes to memory take the same path with it and without.");
}

static void inspect_iommu(const struct facts *facts, struct readiness_finding *finding)
{
	const char *type = facts->device.iommu_type;

	if (checks_without_hardware(facts, finding))
		return;
	finding_source(finding, "/sys/class/infiniband/%s/device/iommu_group/type",
		       facts->device.name);
	finding_value(finding, "%s", type);
	if (strcmp(type, "identity") == 0 || strcmp(type, "none") == 0)
		finding_is(finding, PASS, "No translation stands between the NIC and memory.");
	else if (strcmp(type, "DMA") == 0 || strcmp(type, "DMA-FQ") == 0)
		finding_say(finding, READINESS_WARN,
			    "The IOMMU translates each address the NIC uses: latency grows, most "
			    "of all over large regions.",
			    "Start the kernel with iommu=pt, or write identity to the group's type "
			    "while no driver is bound.");
	else
		finding_is(finding, UNKNOWN, "The type of the IOMMU group is not known.");
}

const struct readiness_check checks_pci[] = {
	{"PCI-01", "root port of the NIC", READINESS_WEIGHED, READINESS_ADVISES, inspect_root_port,
	 "The root port is where device writes enter the processor, and where it is set\n"
	 "whether they allocate in the cache. It is the first PCI function of the real path of\n"
	 "the NIC, below the host bridge; it must be of class 0604 and say in its PCI Express\n"
	 "capability that it is a root port. Of a virtual function the physical one is looked\n"
	 "at, and of a bond each NIC. Reading the capability needs root.\n"
	 "PASS: each NIC has one.\n"
	 "UNKNOWN: it could not be read, the first bridge is something else, or there is none.\n"
	 "SKIP: no device, or a software transport.\n"},
	{"PCI-02", "speed and width of the links", READINESS_ADVISES, READINESS_ADVISES,
	 inspect_link,
	 "A NIC in a slot that is too narrow or too slow cannot reach its line rate. Read from\n"
	 "current_link_* and max_link_* of the NIC and of the bridges above it. The NIC should\n"
	 "reach its own best; a port that could do more than what is below it is no fault.\n"
	 "PASS: all links do.\n"
	 "WARN: one is below what its ends can do.\n"
	 "UNKNOWN: speed or width is not known, as in many virtual machines.\n"
	 "SKIP: no device, or a software transport.\n"},
	{"PCI-03", "payload and read request size", READINESS_ADVISES, READINESS_ADVISES,
	 inspect_sizes,
	 "How much the NIC puts into one write, and asks for in one read, over the bus. Small\n"
	 "read requests limit sends and RDMA reads. Read from the device control register of\n"
	 "the NIC (bits 7:5 and 14:12), of a virtual function from that of its physical one.\n"
	 "Needs root.\n"
	 "INFO: the sizes.\n"
	 "WARN: read requests are smaller than 512 bytes.\n"
	 "UNKNOWN: cannot be read.\n"
	 "SKIP: no device, or a software transport.\n"},
	{"PCI-04", "relaxed ordering", READINESS_BLOCKS, READINESS_ADVISES, inspect_ordering,
	 "With relaxed ordering writes may overtake each other on the bus. Then the last byte\n"
	 "of a message may come first; the read that librpma flushes with still pushes all\n"
	 "writes ahead of it. Root ports of Haswell and Broadwell (8086:2f01 to 2f0e, 6f01 to\n"
	 "6f0e) handle it wrongly. Read from bit 4 of the NIC's device control. Needs root.\n"
	 "PASS: off.\n"
	 "INFO: on, or not readable, below a root port that handles it well.\n"
	 "FAIL: on below such a root port.\n"
	 "UNKNOWN: it cannot be read below one of these or an unknown one, or a NIC is hidden.\n"
	 "SKIP: no device, or a software transport.\n"},
	{"PCI-05", "No Snoop", READINESS_WEIGHED, READINESS_WEIGHED, inspect_no_snoop,
	 "A NIC with Enable No Snoop may mark writes as such. Where the root port lets these\n"
	 "allocate, they end in the cache although DDIO is off; the decision of DDIO-04 takes\n"
	 "both into account, and counts what is disabled as what software can enable. Read from "
	 "bit 11 of the NIC's device control. Needs root.\n"
	 "INFO: enabled or disabled.\n"
	 "UNKNOWN: cannot be read.\n"
	 "SKIP: no device, or a software transport.\n"},
	{"PCI-06", "TPH of the NIC", READINESS_WEIGHED, READINESS_WEIGHED, inspect_tph,
	 "TLP processing hints let a NIC steer its writes into the cache of a core, also where\n"
	 "the root port does not allocate by itself. Read from the TPH requester capability of\n"
	 "the NIC (extended capability 0x17, control bits 9:8). pci=notph of the kernel's command\n"
	 "line is shown and proves nothing: kernels before 6.13 do not know it, and none turns\n"
	 "off what the firmware has turned on. Needs root.\n"
	 "PASS: there is no such capability.\n"
	 "INFO: it is there and disabled; software can enable it at any time.\n"
	 "WARN: enabled.\n"
	 "UNKNOWN: cannot be read.\n"
	 "SKIP: no device, or a software transport.\n"},
	{"PCI-07", "access control of the bridges", READINESS_ADVISES, READINESS_ADVISES,
	 inspect_acs,
	 "Bridges may redirect what devices send to each other up to the root port (ACS): it\n"
	 "costs where a GPU or an NVMe drive is the target, and nothing where memory is. Shown\n"
	 "of each bridge: RR and CR, redirection of requests and completions, UF, upstream\n"
	 "forwarding. Read from extended capability 0x0d. Needs root.\n"
	 "INFO: the bits that are set, or that there is no bridge.\n"
	 "UNKNOWN: cannot be read.\n"
	 "SKIP: no device, or a software transport.\n"},
	{"PCI-08", "IOMMU", READINESS_ADVISES, READINESS_ADVISES, inspect_iommu,
	 "An IOMMU that translates costs a look-up for each page the NIC touches. Read from\n"
	 "the type of the NIC's IOMMU group.\n"
	 "PASS: identity, or the NIC is in no group.\n"
	 "WARN: DMA or DMA-FQ.\n"
	 "UNKNOWN: any other type, or it cannot be read.\n"
	 "SKIP: no device, or a software transport.\n"},
	{0},
};
