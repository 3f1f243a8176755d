/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pci_config.h -- the configuration space of a PCI function, as bytes.
 *
 * Only root sees more than the first 64 of them. Walks never loop and never
 * leave what was read. Numbers are those of <linux/pci_regs.h>.
 */
#ifndef PCI_CONFIG_H
#define PCI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sysroot.h"

#define PCI_CONFIG_BYTES 4096

struct pci_config {
	size_t len;
	uint8_t bytes[PCI_CONFIG_BYTES];
};

/* directory: "sys/bus/pci/devices/0000:17:00.0"; what cannot be read gives a length of 0. */
void pci_config_read(const struct sysroot *root, const char *directory, struct pci_config *config);

/* False beyond what was read. All ones are a value like any other. */
bool pci_config_word(const struct pci_config *config, size_t at, uint16_t *value);
bool pci_config_dword(const struct pci_config *config, size_t at, uint32_t *value);
/* All ones: the function has gone, or does not answer. */
bool pci_config_absent(const struct pci_config *config);

/* Where the capability begins; 0: not there, or not seen. */
size_t pci_config_capability(const struct pci_config *config, uint8_t id);
size_t pci_config_extended(const struct pci_config *config, uint16_t id);
/* Whether the header of an extended capability is at this place; its id. */
bool pci_config_extended_at(const struct pci_config *config, size_t at, uint16_t *id);

/* PCI_EXP_TYPE_ROOT_PORT and the like; -1: no PCI Express capability seen. */
int pci_config_express_type(const struct pci_config *config);

#endif /* PCI_CONFIG_H */
