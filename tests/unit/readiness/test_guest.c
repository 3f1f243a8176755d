/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_guest.c -- which evidence shows a virtual machine, which shows none, and what is
 * left unknown. Each name of a machine has a tree of its own: tests/system/ddio-check.
 *
 * The vendors of PCI functions are those of pci.ids.
 */
#include "readiness/gather.h"
#include "tests/lib/test.h"

#define INTEL  0x8086
#define AMPERE 0x1def

static struct guest_signs x86(const char *names)
{
	struct guest_signs signs = {.processor = GUEST_X86,
				    .flag = KNOWN_NO,
				    .smbios = KNOWN_NOT,
				    .dmi = true,
				    .port_vendor = INTEL};

	snprintf(signs.names, sizeof(signs.names), "%s", names);
	return signs;
}

static struct guest_signs arm(const char *names)
{
	struct guest_signs signs = {.processor = GUEST_ARM,
				    .flag = KNOWN_NOT,
				    .smbios = KNOWN_NOT,
				    .dmi = true,
				    .port_vendor = AMPERE};

	snprintf(signs.names, sizeof(signs.names), "%s", names);
	return signs;
}

static void assert_guest(const struct guest_signs *signs, enum known expected, const char *what)
{
	char why[160] = "";
	enum known got = guest_decide(signs, why, sizeof(why));

	if (got != expected || why[0] == '\0')
		fail_msg("%s: %d (%s) in place of %d", what, got, why, expected);
}

TEST(any_sign_shows_a_hypervisor)
{
	struct guest_signs signs[5];

	for (size_t i = 0; i < 5; i++)
		signs[i] = x86("Dell Inc.; PowerEdge R750");
	signs[0].flag = KNOWN_YES;
	signs[1].smbios = KNOWN_YES;
	snprintf(signs[2].interface, sizeof(signs[2].interface), "/sys/hypervisor/type");
	snprintf(signs[3].function, sizeof(signs[3].function), "0000:00:01.0 (1b36:000c)");
	signs[4] = x86("Amazon EC2; i3en.metal");
	signs[4].flag = KNOWN_YES;
	for (size_t i = 0; i < 5; i++)
		assert_guest(&signs[i], KNOWN_YES, "a sign");
}

TEST(what_is_missing_leaves_it_open_on_x86)
{
	struct guest_signs signs = x86("Dell Inc.; PowerEdge R750");

	signs.flag = KNOWN_NOT;
	assert_guest(&signs, KNOWN_NOT, "no flags");
	signs = x86("");
	signs.dmi = false;
	assert_guest(&signs, KNOWN_NOT, "no names");
	signs = x86("Dell Inc.");
	signs.without_port = true;
	assert_guest(&signs, KNOWN_NOT, "no port");
	signs = x86("Dell Inc.");
	snprintf(signs.doubtful, sizeof(signs.doubtful), "0000:00:02.0 (1af4:1041)");
	assert_guest(&signs, KNOWN_NOT, "virtio");
}

TEST(a_whole_machine_of_a_cloud_is_told_by_its_table)
{
	struct guest_signs signs = x86("Google; Google Compute Engine");

	signs.smbios = KNOWN_NO;
	assert_guest(&signs, KNOWN_NO, "bit 4 is 0");
	signs.smbios = KNOWN_YES;
	assert_guest(&signs, KNOWN_YES, "bit 4 is 1");
}

TEST(arm_takes_the_table_and_the_port)
{
	static const struct {
		enum known smbios;
		int port;
		enum known expected;
	} cases[] = {
		{KNOWN_NO, AMPERE, KNOWN_NO},	{KNOWN_NO, 0x10de, KNOWN_NO},
		{KNOWN_NOT, AMPERE, KNOWN_NOT}, {KNOWN_NO, -1, KNOWN_NOT},
		{KNOWN_NO, INTEL, KNOWN_NOT},	{KNOWN_YES, AMPERE, KNOWN_YES},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct guest_signs signs = arm("GIGABYTE; R272-P30-JG");

		signs.smbios = cases[i].smbios;
		signs.port_vendor = cases[i].port;
		assert_guest(&signs, cases[i].expected, "Arm");
	}
}

TEST(other_processors_are_unknown)
{
	struct guest_signs signs = x86("IBM; 9009-22A");

	signs.processor = GUEST_OTHER;
	signs.smbios = KNOWN_NO;
	assert_guest(&signs, KNOWN_NOT, "POWER");
}
