/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pci_config.c -- reads a configuration space and walks its two lists of
 * capabilities.
 *
 * What is read may be anything: a device that has gone gives ones, a broken or
 * hostile one a list that is a circle or leads out of the space. A walk takes
 * no more steps than capabilities would fit.
 */
#include "pci_config.h"

#include <stdio.h>

#define HEADER_BYTES	64
#define CLASSIC_BYTES	256
#define CLASSIC_MAX	((CLASSIC_BYTES - HEADER_BYTES) / 4)
#define EXTENDED_MAX	((PCI_CONFIG_BYTES - CLASSIC_BYTES) / 8)
#define CARDBUS_LIST_AT 0x14

void pci_config_read(const struct sysroot *root, const char *directory, struct pci_config *config)
{
	char path[PATH_MAX];
	long len = -1;

	if (snprintf(path, sizeof(path), "%s/config", directory) < PATH_MAX)
		len = sysroot_pread(root, path, 0, config->bytes, sizeof(config->bytes));
	config->len = len > 0 ? (size_t)len : 0;
}

bool pci_config_word(const struct pci_config *config, size_t at, uint16_t *value)
{
	if (config->len < 2 || at > config->len - 2)
		return false;
	*value = (uint16_t)(config->bytes[at] | config->bytes[at + 1] << 8);
	return true;
}

bool pci_config_dword(const struct pci_config *config, size_t at, uint32_t *value)
{
	uint16_t low, high;

	if (!pci_config_word(config, at, &low) || !pci_config_word(config, at + 2, &high))
		return false;
	*value = (uint32_t)high << 16 | low;
	return true;
}

/* The vendor alone does not tell: that of a virtual function is all ones by design. */
bool pci_config_absent(const struct pci_config *config)
{
	size_t len = config->len < HEADER_BYTES ? config->len : HEADER_BYTES;

	for (size_t i = 0; i < len; i++) {
		if (config->bytes[i] != 0xff)
			return false;
	}
	return len > 0;
}

/* The offset at which the list begins; 0: there is none. */
static size_t first_of_list(const struct pci_config *config)
{
	bool cardbus;
	uint16_t status;

	if (config->len < HEADER_BYTES || pci_config_absent(config) ||
	    !pci_config_word(config, PCI_STATUS, &status) || (status & PCI_STATUS_CAP_LIST) == 0)
		return 0;
	cardbus = (config->bytes[PCI_HEADER_TYPE] & 0x7f) == PCI_HEADER_TYPE_CARDBUS;
	return config->bytes[cardbus ? CARDBUS_LIST_AT : PCI_CAPABILITY_LIST];
}

bool pci_config_next(const struct pci_config *config, struct pci_capability *capability)
{
	size_t at = capability->steps == 0 ? first_of_list(config)
					   : config->bytes[capability->at + PCI_CAP_LIST_NEXT];
	uint16_t header;

	at &= ~(size_t)3;
	if (at < HEADER_BYTES || capability->steps >= CLASSIC_MAX ||
	    !pci_config_word(config, at, &header) || (header & 0xff) == 0xff)
		return false;
	*capability = (struct pci_capability){at, header & 0xff, 0, capability->steps + 1};
	return true;
}

bool pci_config_next_extended(const struct pci_config *config, struct pci_capability *capability)
{
	size_t at = CLASSIC_BYTES;
	uint32_t header = 0;

	if (capability->steps > 0) {
		pci_config_dword(config, capability->at, &header);
		at = PCI_EXT_CAP_NEXT(header);
	}
	if (at < CLASSIC_BYTES || capability->steps >= EXTENDED_MAX || pci_config_absent(config) ||
	    !pci_config_dword(config, at, &header) || header == 0 || header == UINT32_MAX)
		return false;
	*capability = (struct pci_capability){at, PCI_EXT_CAP_ID(header), PCI_EXT_CAP_VER(header),
					      capability->steps + 1};
	return true;
}

size_t pci_config_capability(const struct pci_config *config, uint8_t id)
{
	struct pci_capability capability = {0};

	while (pci_config_next(config, &capability)) {
		if (capability.id == id)
			return capability.at;
	}
	return 0;
}

size_t pci_config_extended(const struct pci_config *config, uint16_t id)
{
	struct pci_capability capability = {0};

	while (pci_config_next_extended(config, &capability)) {
		if (capability.id == id)
			return capability.at;
	}
	return 0;
}

size_t pci_config_dvsec(const struct pci_config *config, uint16_t vendor, uint16_t id)
{
	struct pci_capability capability = {0};
	uint16_t found_vendor, found_id;

	while (pci_config_next_extended(config, &capability)) {
		if (capability.id == PCI_EXT_CAP_ID_DVSEC &&
		    pci_config_word(config, capability.at + PCI_DVSEC_HEADER1, &found_vendor) &&
		    pci_config_word(config, capability.at + PCI_DVSEC_HEADER2, &found_id) &&
		    found_vendor == vendor && found_id == id)
			return capability.at;
	}
	return 0;
}

bool pci_config_extended_at(const struct pci_config *config, size_t at, uint16_t *id)
{
	struct pci_capability capability = {0};

	while (pci_config_next_extended(config, &capability)) {
		if (capability.at == at) {
			*id = capability.id;
			return true;
		}
	}
	return false;
}

/* A list may lead anywhere: all of the space must be read, and the last one must be marked. */
bool pci_config_extended_seen(const struct pci_config *config)
{
	struct pci_capability last = {.at = CLASSIC_BYTES};
	uint32_t header;

	/* without PCI Express there is no extended space, only bytes that look like an empty one */
	if (config->len < PCI_CONFIG_BYTES || pci_config_express_type(config) < 0)
		return false;
	while (pci_config_next_extended(config, &last))
		;
	/* 7.6.1: that there are none is said by a header of 0 */
	return pci_config_dword(config, last.at, &header) && PCI_EXT_CAP_NEXT(header) == 0 &&
	       (header == 0) == (last.steps == 0);
}

int pci_config_express_type(const struct pci_config *config)
{
	size_t at = pci_config_capability(config, PCI_CAP_ID_EXP);
	uint16_t flags;

	if (at == 0 || !pci_config_word(config, at + PCI_EXP_FLAGS, &flags))
		return -1;
	return (flags & PCI_EXP_FLAGS_TYPE) >> 4;
}

/* Six powers of two from 128 on; the rest is reserved. */
static int bytes_of(unsigned code)
{
	return code <= 5 ? 128 << code : 0;
}

static void read_link(const struct pci_config *config, struct pci_express *express)
{
	uint32_t can;
	uint16_t is;

	if (express->type == PCI_EXP_TYPE_RC_END || express->type == PCI_EXP_TYPE_RC_EC ||
	    !pci_config_dword(config, express->at + PCI_EXP_LNKCAP, &can) ||
	    !pci_config_word(config, express->at + PCI_EXP_LNKSTA, &is))
		return;
	express->max_speed = (int)(can & PCI_EXP_LNKCAP_SLS);
	express->max_width = (int)((can & PCI_EXP_LNKCAP_MLW) >> 4);
	express->speed = is & PCI_EXP_LNKSTA_CLS;
	express->width = (is & PCI_EXP_LNKSTA_NLW) >> PCI_EXP_LNKSTA_NLW_SHIFT;
}

bool pci_config_express(const struct pci_config *config, struct pci_express *express)
{
	size_t at = pci_config_capability(config, PCI_CAP_ID_EXP);
	unsigned control;
	uint16_t word;

	if (at == 0 || !pci_config_word(config, at + PCI_EXP_DEVCTL, &word))
		return false;
	control = word;
	*express = (struct pci_express){
		.at = at,
		.type = pci_config_express_type(config),
		.max_payload_bytes = bytes_of((control & PCI_EXP_DEVCTL_PAYLOAD) >> 5),
		.max_read_request_bytes = bytes_of((control & PCI_EXP_DEVCTL_READRQ) >> 12),
		.relaxed_ordering = (control & PCI_EXP_DEVCTL_RELAX_EN) != 0,
		.no_snoop = (control & PCI_EXP_DEVCTL_NOSNOOP_EN) != 0,
	};
	read_link(config, express);
	return true;
}

int pci_config_tph(const struct pci_config *config)
{
	size_t at = pci_config_extended(config, PCI_EXT_CAP_ID_TPH);
	uint32_t control;

	if (at == 0)
		return pci_config_extended_seen(config) ? 0 : PCI_CONFIG_TPH_UNKNOWN;
	/* the register is in bits 9:8 of the dword after the capability's */
	if (!pci_config_dword(config, at + 8, &control))
		return PCI_CONFIG_TPH_UNKNOWN;
	return (int)(control >> 8 & 3);
}
