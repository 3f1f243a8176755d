/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_pci_config.c -- a configuration space of any bytes.
 *
 * What is found lies within what was read, a walk ends, and the searches say
 * what the walks say. The serial number's removal leaves the lists as they are.
 */
#include "common/host/anonymise.h"
#include "common/host/pci_config.h"
#include "fuzz.h"
#include "tests/lib/config_space.h"

static void walk(const struct pci_config *config)
{
	struct pci_capability capability = {0};
	unsigned steps = 0;

	while (pci_config_next(config, &capability)) {
		hold(++steps <= 48);
		hold(capability.at >= 64 && capability.at % 4 == 0 && capability.at < 256);
		hold(capability.at + 2 <= config->len);
		hold(config->bytes[capability.at] == capability.id);
		hold(pci_config_capability(config, (uint8_t)capability.id) != 0);
	}
}

static void walk_extended(const struct pci_config *config)
{
	struct pci_capability capability = {0};
	unsigned steps = 0;
	uint16_t id = 0;

	while (pci_config_next_extended(config, &capability)) {
		hold(++steps <= 480);
		hold(capability.at >= 256 && capability.at % 4 == 0);
		hold(capability.at + 4 <= config->len);
		hold(pci_config_extended(config, capability.id) != 0);
		if (steps < 8)
			hold(pci_config_extended_at(config, capability.at, &id) &&
			     id == capability.id);
	}
}

static void decode(const struct pci_config *config)
{
	struct pci_express express;
	int type = pci_config_express_type(config);
	int tph = pci_config_tph(config);

	hold(type >= -1 && type <= 15);
	hold(tph >= PCI_CONFIG_TPH_UNKNOWN && tph <= 3);
	if (!pci_config_express(config, &express))
		return;
	hold(type == express.type && express.at + 10 <= config->len);
	hold(express.max_payload_bytes == 0 || express.max_payload_bytes >= 128);
	hold(express.max_read_request_bytes <= 4096);
	hold(express.speed <= 15 && express.width <= 63);
}

static void clean(const struct pci_config *config)
{
	static const uint8_t key[ANONYMISE_KEY_BYTES] = {1};
	struct pci_capability before = {0}, after = {0};
	struct pci_config other = *config;
	size_t serial = pci_config_extended(config, PCI_EXT_CAP_ID_DSN);

	hold(anonymise_file(key, "config", (char *)other.bytes, other.len) == other.len);
	for (size_t i = 0; i < config->len; i++)
		hold(other.bytes[i] == config->bytes[i] ||
		     (serial != 0 && i >= serial + 4 && i < serial + 12));
	while (pci_config_next(config, &before))
		hold(pci_config_next(&other, &after) && after.at == before.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pci_config config = {.len = size < PCI_CONFIG_BYTES ? size : PCI_CONFIG_BYTES};

	memcpy(config.bytes, data, config.len);
	walk(&config);
	walk_extended(&config);
	decode(&config);
	clean(&config);
	return 0;
}

/* A port as of Cascade Lake, a NIC, the Ice Lake port with its trap, and circles. */
size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	static const uint16_t extended[][5] = {
		{1, 0xb, 0xd, 0x19, 3}, {1, 0xe, 0x10, 0x17, 3}, {1, 0xd, 0xb, 0xb, 0x19}};
	struct config_space space;

	if (index >= 4)
		return 0;
	config_space_begin(&space, 0x8086, 0x2030, (uint8_t)(index % 2));
	config_space_add(&space, 0x40, 0x0d);
	config_space_add(&space, 0x60, 0x05);
	config_space_add_express(&space, 0x90, index % 2 == 0 ? 4 : 0, 0x2810);
	config_space_add(&space, 0xe0, 0x01);
	for (size_t i = 0; i < 5; i++)
		config_space_add_extended(&space, 0x100 + i * 0x40, extended[index % 3][i], 1);
	if (index == 3) {
		space.bytes[0xe1] = 0x60;
		config_space_put(&space, 0x202, 0x1401, 2);
	}
	memcpy(input, space.bytes, sizeof(space.bytes));
	return sizeof(space.bytes);
}
