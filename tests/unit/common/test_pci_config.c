/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_pci_config.c -- capabilities are found where the specification puts
 * them, and a space that is cut, broken or gone gives "unknown".
 */
#include "common/host/pci_config.h"
#include "tests/lib/config_space.h"
#include "tests/lib/scratch.h"

static struct config_space space;
static struct pci_config config;

#define ROOT_PORT	4
#define SWITCH_UP	5
#define SWITCH_DOWN	6
#define ID_PM		0x01
#define ID_MSI		0x05
#define ID_EXPRESS	0x10
#define ID_AER		0x0001
#define ID_SERIAL	0x0003
#define ID_VENDOR	0x000b
#define ID_ACS		0x000d
#define ID_TPH		0x0017
#define NOT_THERE	0x00
#define TPH_CONTROL	8
#define DEVICE_MELLANOX 0x15b3, 0x1017

/* So many bytes of the space are read. */
static void read_space(size_t len)
{
	config = (struct pci_config){.len = len};
	memcpy(config.bytes, space.bytes, len);
}

static void nic(void)
{
	config_space_begin(&space, DEVICE_MELLANOX, 0);
	config_space_add(&space, 0x40, ID_PM);
	config_space_add(&space, 0xc0, ID_MSI);
	/* relaxed ordering, 256 bytes of payload, no-snoop, 512 bytes of a read */
	config_space_add_express(&space, 0x60, 0, 1 << 4 | 1 << 5 | 1 << 11 | 2 << 12);
	config_space_link(&space, 0x60, 4, 16, 3, 8);
	config_space_add_extended(&space, 0x100, ID_AER, 2);
	config_space_add_extended(&space, 0x1c0, ID_ACS, 1);
	config_space_add_extended(&space, 0x150, ID_TPH, 1);
}

TEST(capabilities_are_found_in_any_order)
{
	uint16_t id = 0;

	nic();
	read_space(4096);
	EQUAL((pci_config_capability(&config, ID_PM), 0x40),
	      (pci_config_capability(&config, ID_MSI), 0xc0),
	      (pci_config_capability(&config, ID_EXPRESS), 0x60),
	      (pci_config_capability(&config, 0x11), NOT_THERE),
	      (pci_config_extended(&config, ID_AER), 0x100),
	      (pci_config_extended(&config, ID_TPH), 0x150),
	      (pci_config_extended(&config, ID_VENDOR), NOT_THERE),
	      (pci_config_extended_at(&config, 0x1c0, &id), true), (id, ID_ACS),
	      (pci_config_extended_at(&config, 0x180, &id), false));
}

TEST(a_walk_gives_the_list_in_its_order)
{
	static const struct pci_capability expected[] = {
		{0x100, ID_AER, 2, 1}, {0x1c0, ID_ACS, 1, 2}, {0x150, ID_TPH, 1, 3}};
	struct pci_capability capability = {0};

	nic();
	read_space(4096);
	for (size_t i = 0; i < 3; i++) {
		EQUAL((pci_config_next_extended(&config, &capability), true),
		      (capability.at, expected[i].at), (capability.id, expected[i].id),
		      (capability.version, expected[i].version));
	}
	assert_false(pci_config_next_extended(&config, &capability));
}

TEST(the_use_of_the_link_is_decoded)
{
	struct pci_express express;

	nic();
	read_space(256);
	EQUAL((pci_config_express(&config, &express), true), (express.at, 0x60),
	      (express.max_payload_bytes, 256), (express.max_read_request_bytes, 512),
	      (express.relaxed_ordering, true), (express.no_snoop, true), (express.max_speed, 4),
	      (express.max_width, 16), (express.speed, 3), (express.width, 8));
}

/* All eight codes; two are reserved. */
TEST(payload_and_read_sizes_are_powers_of_two)
{
	static const int bytes[] = {128, 256, 512, 1024, 2048, 4096, 0, 0};

	for (unsigned code = 0; code < 8; code++) {
		struct pci_express express;

		config_space_begin(&space, DEVICE_MELLANOX, 0);
		config_space_add_express(&space, 0x40, 0, (uint16_t)(code << 5 | code << 12));
		read_space(4096);
		EQUAL((pci_config_express(&config, &express), true),
		      (express.max_payload_bytes, bytes[code]),
		      (express.max_read_request_bytes, bytes[code]),
		      (express.relaxed_ordering, false), (express.no_snoop, false));
	}
}

TEST(port_types_are_told)
{
	static const uint8_t types[] = {0, ROOT_PORT, SWITCH_UP, SWITCH_DOWN, 9};

	for (size_t i = 0; i < sizeof(types); i++) {
		config_space_begin(&space, 0x8086, 0x2030, types[i] == 0 ? 0 : 1);
		config_space_add_express(&space, 0x90, types[i], 0);
		read_space(4096);
		assert_int_equal(pci_config_express_type(&config), types[i]);
	}
}

/* Steering off, by interrupt vector, by device; and no such capability. */
TEST(the_use_of_tph_is_told)
{
	static const int modes[] = {0, 1, 3};

	for (size_t i = 0; i < 3; i++) {
		nic();
		config_space_put(&space, 0x150 + TPH_CONTROL, (uint32_t)modes[i] << 8 | 7, 4);
		read_space(4096);
		assert_int_equal(pci_config_tph(&config), modes[i]);
	}
	config_space_begin(&space, DEVICE_MELLANOX, 0);
	config_space_add_express(&space, 0x60, 0, 0);
	read_space(4096);
	assert_int_equal(pci_config_tph(&config), 0);
}

/* A file of zeros: that there is no list is not an answer there. */
TEST(a_space_without_express_says_nothing_of_tph)
{
	config_space_begin(&space, DEVICE_MELLANOX, 0);
	read_space(4096);
	EQUAL((pci_config_extended_seen(&config), false),
	      (pci_config_tph(&config), PCI_CONFIG_TPH_UNKNOWN));
}

/* Without privilege, or without access to the extended space. */
TEST(what_was_not_read_is_unknown)
{
	static const size_t lengths[] = {0, 1, 63, 64, 256};
	struct pci_express express;
	uint32_t dword;

	nic();
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		read_space(lengths[i]);
		EQUAL((pci_config_tph(&config), PCI_CONFIG_TPH_UNKNOWN),
		      (pci_config_extended(&config, ID_AER), NOT_THERE),
		      (pci_config_extended_seen(&config), false),
		      (pci_config_dword(&config, lengths[i], &dword), false),
		      (pci_config_dword(&config, lengths[i] - 3, &dword), false),
		      (pci_config_dword(&config, SIZE_MAX, &dword), false),
		      (pci_config_absent(&config), false));
		if (lengths[i] < 256) {
			EQUAL((pci_config_express_type(&config), -1),
			      (pci_config_express(&config, &express), false));
		}
	}
}

TEST(a_device_that_has_gone_has_nothing)
{
	static const size_t lengths[] = {4, 64, 256, 4096};
	uint32_t dword;

	memset(space.bytes, 0xff, sizeof(space.bytes));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		read_space(lengths[i]);
		EQUAL((pci_config_absent(&config), true),
		      (pci_config_capability(&config, 0xff), NOT_THERE),
		      (pci_config_extended(&config, 0xffff), NOT_THERE),
		      (pci_config_tph(&config), PCI_CONFIG_TPH_UNKNOWN),
		      (pci_config_dword(&config, 0, &dword), true), (dword, UINT32_MAX));
	}
}

/* SR-IOV, 9.3.4.1: vendor and device of a virtual function read as ones. */
TEST(a_virtual_function_has_not_gone)
{
	nic();
	config_space_put(&space, 0, UINT32_MAX, 4);
	read_space(4096);
	EQUAL((pci_config_absent(&config), false),
	      (pci_config_capability(&config, ID_EXPRESS), 0x60));
}

/* Ports of Ice Lake read 0x1901000b at 0x180: the head of a vendor's capability. */
TEST(a_header_in_the_place_of_a_register_is_seen)
{
	uint32_t dword;
	uint16_t id = 0;

	config_space_begin(&space, 0x8086, 0x347a, 1);
	config_space_add_express(&space, 0x40, ROOT_PORT, 0);
	config_space_add_extended(&space, 0x100, ID_AER, 1);
	config_space_add_extended(&space, 0x180, ID_VENDOR, 1);
	config_space_add_extended(&space, 0x190, ID_ACS, 1);
	read_space(4096);
	EQUAL((pci_config_dword(&config, 0x180, &dword), true), (dword, 0x1901000b),
	      (pci_config_extended_at(&config, 0x180, &id), true), (id, ID_VENDOR));
}

/* Each is a place to go from the last capability: itself, one back, outside, odd, unread. */
TEST(a_broken_list_ends)
{
	static const uint8_t next[] = {0x40, 0x44, 0x04, 0x3f, 0xfc, 0xff, 0x01};

	for (size_t i = 0; i < sizeof(next); i++) {
		config_space_begin(&space, DEVICE_MELLANOX, 0);
		config_space_add(&space, 0x44, ID_MSI);
		config_space_add(&space, 0x40, ID_PM);
		space.bytes[0x41] = next[i];
		read_space(254);
		EQUAL((pci_config_capability(&config, ID_PM), 0x40),
		      (pci_config_capability(&config, ID_EXPRESS), NOT_THERE));
	}
}

TEST(a_broken_extended_list_ends)
{
	static const uint16_t next[] = {0x100, 0x140, 0x0fc, 0x004, 0xffc, 0xfff, 0x102, 0x180};

	for (size_t i = 0; i < sizeof(next) / sizeof(next[0]); i++) {
		config_space_begin(&space, DEVICE_MELLANOX, 0);
		config_space_add_express(&space, 0x60, 0, 0);
		config_space_add_extended(&space, 0x100, ID_AER, 1);
		config_space_add_extended(&space, 0x140, ID_SERIAL, 1);
		read_space(4096);
		assert_true(pci_config_extended_seen(&config));
		config_space_put(&space, 0x142, (uint32_t)next[i] << 4 | 1, 2);
		read_space(4096);
		EQUAL((pci_config_extended(&config, ID_SERIAL), 0x140),
		      (pci_config_extended(&config, ID_TPH), NOT_THERE));
		/* which is not to say that there is none */
		EQUAL((pci_config_extended_seen(&config), false),
		      (pci_config_tph(&config), PCI_CONFIG_TPH_UNKNOWN));
	}
}

/* The list is as long as it can be: one each 8 bytes, the last of them found. */
TEST(the_longest_list_is_walked_to_its_end)
{
	struct pci_express express;

	config_space_begin(&space, DEVICE_MELLANOX, 0);
	for (size_t at = 0x40; at < 0x100; at += 4)
		config_space_add(&space, at, at == 0xfc ? ID_EXPRESS : ID_PM);
	for (size_t at = 0x100; at < 0x1000; at += 8)
		config_space_add_extended(&space, at, at == 0xff8 ? ID_TPH : ID_AER, 1);
	read_space(4096);
	EQUAL((pci_config_capability(&config, ID_EXPRESS), 0xfc),
	      (pci_config_extended(&config, ID_TPH), 0xff8));
	/* whose control would be beyond the space, as that of Express in the first 256 bytes */
	assert_int_equal(pci_config_tph(&config), PCI_CONFIG_TPH_UNKNOWN);
	read_space(256);
	assert_false(pci_config_express(&config, &express));
}

/* 7.5.1.1.4: without the bit the pointer means nothing. */
TEST(without_the_status_bit_there_is_no_list)
{
	nic();
	space.bytes[0x06] = 0;
	read_space(4096);
	EQUAL((pci_config_capability(&config, ID_PM), NOT_THERE),
	      (pci_config_express_type(&config), -1));
}

SCRATCH_TEST(the_file_is_read_to_the_end_of_the_space)
{
	struct sysroot root;
	char path[PATH_MAX];
	FILE *file = fopen(scratch_path("sys/f/config", path), "we");

	nic();
	assert_non_null(file);
	EQUAL((fwrite(space.bytes, 1, 4096, file), 4096),
	      (fwrite(space.bytes, 1, 4096, file), 4096), (fclose(file), 0),
	      (sysroot_open(&root, scratch), 0));
	pci_config_read(&root, "sys/f", &config);
	assert_int_equal(config.len, 4096);
	assert_memory_equal(config.bytes, space.bytes, 4096);
	pci_config_read(&root, "sys/none", &config);
	assert_int_equal(config.len, 0);
	sysroot_close(&root);
}
