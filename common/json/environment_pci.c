/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment_pci.c -- how an RDMA device may use its PCI Express link, from
 * the configuration space. Only root sees enough of it; to others all of this
 * is unknown.
 */
#include <stdio.h>

#include "common/host/pci_config.h"
#include "environment.h"
#include "result.h"

static json_t *known_bytes(bool known, int bytes)
{
	return known && bytes > 0 ? json_integer(bytes) : json_null();
}

void environment_add_pci(const struct sysroot *root, json_t *nic, const char *device)
{
	struct pci_express express = {0};
	struct pci_config config;
	char directory[256];
	bool known;
	int tph;

	snprintf(directory, sizeof(directory), "sys/class/infiniband/%s/device", device);
	pci_config_read(root, directory, &config);
	known = pci_config_express(&config, &express);
	tph = pci_config_tph(&config);
	json_object_set_new(nic, "max_payload_bytes",
			    known_bytes(known, express.max_payload_bytes));
	json_object_set_new(nic, "max_read_request_bytes",
			    known_bytes(known, express.max_read_request_bytes));
	json_object_set_new(nic, "relaxed_ordering",
			    known ? json_boolean(express.relaxed_ordering) : json_null());
	json_object_set_new(nic, "no_snoop", known ? json_boolean(express.no_snoop) : json_null());
	json_object_set_new(nic, "tph",
			    tph != PCI_CONFIG_TPH_UNKNOWN ? json_boolean(tph) : json_null());
}
