/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain.c -- what the functions between a root port and a NIC may do.
 *
 * Used by the DDIO decision and by the PCI checks. What was not read is not
 * known, and nothing is taken for "no" only because it was not seen.
 */
#include "chain.h"

#include <linux/pci_regs.h>
#include <stdlib.h>

#define CLASS_BRIDGE_PCI 0x0604

const struct facts_function *chain_top(const struct facts_chain *chain)
{
	return chain->count > chain->nics ? &chain->functions[0] : NULL;
}

const struct facts_function *chain_nic(const struct facts_chain *chain)
{
	return &chain->functions[chain->count - chain->nics];
}

enum known chain_has_root_port(const struct facts_chain *chain)
{
	const struct facts_function *top = chain_top(chain);
	uint16_t class;
	int type;

	if (top == NULL)
		return KNOWN_NO;
	if (!pci_config_word(&top->config, PCI_CLASS_DEVICE, &class) ||
	    pci_config_absent(&top->config))
		return KNOWN_NOT;
	if (class != CLASS_BRIDGE_PCI)
		return KNOWN_NO;
	type = pci_config_express_type(&top->config);
	if (type < 0 && top->config.len <= PCI_STD_HEADER_SIZEOF)
		return KNOWN_NOT;
	return type == PCI_EXP_TYPE_ROOT_PORT ? KNOWN_YES : KNOWN_NO;
}

enum chain_ability chain_no_snoop(const struct facts_chain *chain)
{
	struct pci_express express;

	if (!pci_config_express(&chain_nic(chain)->config, &express))
		return CHAIN_NOT_SEEN;
	return express.no_snoop ? CHAIN_ENABLED : CHAIN_DISABLED;
}

static enum chain_ability tph_of(const struct pci_config *config)
{
	int bits = pci_config_tph(config);

	if (bits == PCI_CONFIG_TPH_UNKNOWN)
		return CHAIN_NOT_SEEN;
	if (bits > 0)
		return CHAIN_ENABLED;
	return pci_config_extended(config, PCI_EXT_CAP_ID_TPH) != 0 ? CHAIN_DISABLED : CHAIN_CANNOT;
}

enum chain_ability chain_tph(const struct facts_chain *chain)
{
	enum chain_ability worst = CHAIN_CANNOT;

	for (size_t i = chain->count - chain->nics; i < chain->count; i++) {
		enum chain_ability one = tph_of(&chain->functions[i].config);

		worst = one > worst ? one : worst;
	}
	return worst;
}

static double speed_of(const char *text)
{
	return strtod(text, NULL); /* "16.0 GT/s PCIe"; of "Unknown" 0 */
}

/*
 * A link can do no more than the lesser of its ends. A NIC should reach all of its
 * own, whatever is above it; between bridges the lesser end is the measure.
 */
static void judge_link(const struct facts_function *upper, const struct facts_function *lower,
		       bool is_nic, struct chain_links *links)
{
	double speed = speed_of(lower->current_speed), best = speed_of(lower->max_speed);
	int width = lower->current_width, widest = lower->max_width;

	if (upper != NULL && !is_nic && speed_of(upper->max_speed) > 0 &&
	    speed_of(upper->max_speed) < best)
		best = speed_of(upper->max_speed);
	if (upper != NULL && !is_nic && upper->max_width > 0 && upper->max_width < widest)
		widest = upper->max_width;
	/* both ends of a link are equal, unless one of them is wrong */
	if (upper != NULL && speed_of(upper->current_speed) > 0 &&
	    speed_of(upper->current_speed) < speed)
		speed = speed_of(upper->current_speed);
	if (upper != NULL && upper->current_width > 0 && upper->current_width < width)
		width = upper->current_width;
	if (speed <= 0 || best <= 0 || width <= 0 || widest <= 0) {
		links->known = false;
		return;
	}
	if (speed >= best && width >= widest)
		return;
	if (!links->below)
		links->shown = lower;
	links->below = true;
}

/* Root port to endpoint or switch, each downstream port to what is below it: every second. */
void chain_judge_links(const struct facts_chain *chain, struct chain_links *links)
{
	size_t nic = chain->count - chain->nics;

	if (nic == 0) {
		judge_link(NULL, &chain->functions[0], true, links);
		return;
	}
	for (size_t i = nic % 2 == 1 ? 1 : 2; i <= nic; i += 2)
		judge_link(&chain->functions[i - 1], &chain->functions[i], i == nic, links);
}
