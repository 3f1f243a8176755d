/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment_pci.c -- how an RDMA device may use its PCI Express link, from
 * the configuration space.
 *
 * Offsets are those of the PCI Express base specification, chapter 7.5. Only
 * root sees more than the first 64 bytes; to others all of it is unknown.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "environment.h"
#include "result.h"

#define CONFIG_BYTES	 256
#define STATUS		 0x06
#define STATUS_HAS_LIST	 0x10
#define FIRST_CAPABILITY 0x34
#define ID_EXPRESS	 0x10
#define DEVICE_CONTROL	 8
#define CAPABILITIES_MAX 48 /* as many as fit: a loop ends here */

/* Where the capability is; 0: not seen. */
static size_t find_express(const uint8_t *config, size_t len)
{
	size_t at;

	if (len < 64 || (config[STATUS] & STATUS_HAS_LIST) == 0)
		return 0;
	at = config[FIRST_CAPABILITY] & ~3U;
	for (int i = 0; i < CAPABILITIES_MAX && at >= 64 && at + 12 <= len; i++) {
		if (config[at] == ID_EXPRESS)
			return at;
		at = config[at + 1] & ~3U;
	}
	return 0;
}

void environment_add_pci(const struct sysroot *root, json_t *nic, const char *device)
{
	uint8_t config[CONFIG_BYTES + 1];
	char path[256];
	unsigned control = 0;
	size_t at = 0;
	long len;

	snprintf(path, sizeof(path), "sys/class/infiniband/%s/device/config", device);
	len = sysroot_read(root, (char *)config, sizeof(config), path);
	if (len > 0)
		at = find_express(config, (size_t)len);
	if (at > 0)
		control = config[at + DEVICE_CONTROL] | (unsigned)config[at + DEVICE_CONTROL + 1]
								<< 8;
	json_object_set_new(nic, "max_payload_bytes",
			    at > 0 ? json_integer(128 << (control >> 5 & 7)) : json_null());
	json_object_set_new(nic, "max_read_request_bytes",
			    at > 0 ? json_integer(128 << (control >> 12 & 7)) : json_null());
	json_object_set_new(nic, "relaxed_ordering",
			    at > 0 ? json_boolean(control & 1U << 4) : json_null());
	json_object_set_new(nic, "no_snoop",
			    at > 0 ? json_boolean(control & 1U << 11) : json_null());
}
