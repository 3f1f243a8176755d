/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain.c -- what the functions between a root port and a NIC may do.
 *
 * Used by the DDIO decision and by the PCI checks. What was not read is not
 * known, and nothing is taken for "no" only because it was not seen.
 */
#include "chain.h"

#include <linux/pci_regs.h>

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

enum known chain_no_snoop(const struct facts_chain *chain)
{
	struct pci_express express;

	if (!pci_config_express(&chain_nic(chain)->config, &express))
		return KNOWN_NOT;
	return express.no_snoop ? KNOWN_YES : KNOWN_NO;
}

enum known chain_tph(const struct facts_chain *chain)
{
	enum known answer = KNOWN_NO;

	for (size_t i = chain->count - chain->nics; i < chain->count; i++) {
		int bits = pci_config_tph(&chain->functions[i].config);

		if (bits > 0)
			return KNOWN_YES;
		if (bits == PCI_CONFIG_TPH_UNKNOWN)
			answer = KNOWN_NOT;
	}
	return answer;
}
