/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pci_config.h -- the configuration space of a PCI function, as bytes.
 *
 * Only root sees more than the first 64 of them. Walks never loop and never
 * leave what was read. Numbers are those of <linux/pci_regs.h>, offsets those
 * of the PCI Express Base Specification, chapter 7. No I/O but the reading.
 */
#pragma once

#include <linux/pci_regs.h>
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

/* One of a list of capabilities; zeroed before the first, it is the cursor of the walk. */
struct pci_capability {
	size_t at;
	uint16_t id;
	uint8_t version; /* set in an extended one */
	unsigned steps;
};

/* The next of the list in the first 256 bytes, or of the extended ones; false at its end. */
bool pci_config_next(const struct pci_config *config, struct pci_capability *capability);
bool pci_config_next_extended(const struct pci_config *config, struct pci_capability *capability);

/* The offset of the capability; 0: not there, or not seen. */
size_t pci_config_capability(const struct pci_config *config, uint8_t id);
size_t pci_config_extended(const struct pci_config *config, uint16_t id);
/* True if the header of an extended capability is at this offset; gives its id. */
bool pci_config_extended_at(const struct pci_config *config, size_t at, uint16_t *id);
/* True if the list was read to a proper end, so that what was not found is not there. */
bool pci_config_extended_seen(const struct pci_config *config);

/* The offset of the DVSEC of that vendor and id; 0: not there, or not seen. */
size_t pci_config_dvsec(const struct pci_config *config, uint16_t vendor, uint16_t id);

/* PCI_EXP_TYPE_ROOT_PORT and the like; -1: no PCI Express capability seen. */
int pci_config_express_type(const struct pci_config *config);

/* How the function may use its link. */
struct pci_express {
	size_t at;
	int type;	       /* PCI_EXP_TYPE_... */
	int max_payload_bytes; /* as set, not as possible; 0: a value that is reserved */
	int max_read_request_bytes;
	bool relaxed_ordering;
	bool no_snoop;
	int speed, max_speed; /* 1: 2.5 GT/s, 2: 5, 3: 8, ...; 0: no link, or unknown */
	int width, max_width; /* lanes */
};

/* False where there is no such capability, or it was not read. */
bool pci_config_express(const struct pci_config *config, struct pci_express *express);

/* TPH requests: PCI_CONFIG_TPH_UNKNOWN or the control's bits 9:8; 0: off, or no capability. */
#define PCI_CONFIG_TPH_UNKNOWN (-1)
int pci_config_tph(const struct pci_config *config);
