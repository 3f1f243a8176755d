/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_guest.c -- the signs of a hypervisor, and of none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "gather.h"
#include "guest.h"

#define FUNCTIONS_MAX 4096
/* DSP0134, 7.1: type 0 is "BIOS information", extension byte 2 at 13h, bit 4: a virtual machine */
#define SMBIOS_BYTE 0x13
#define SMBIOS_BIT  (1 << 4)

/*
 * From pci.ids, but for bhyve, whose framebuffer has a number of its own: FreeBSD,
 * usr.sbin/bhyve/pci_fbuf.c. -1: any device.
 */
static const struct {
	int vendor, device;
	bool doubtful; /* on cards of some makers, too */
} functions[] = {
	{0x1b36, -1, false},	 /* Red Hat: root ports and bridges of QEMU */
	{0x15ad, -1, false},	 /* VMware */
	{0x80ee, -1, false},	 /* VirtualBox */
	{0x5853, -1, false},	 /* Xen */
	{0x1ab8, -1, false},	 /* Parallels */
	{0xfb5d, -1, false},	 /* bhyve */
	{0x1414, 0x5353, false}, /* the display of Hyper-V */
	{0x1234, 0x1111, false}, /* the display of QEMU */
	{0x8086, 0x3420, false}, /* ioh3420, the other root port of QEMU */
	{0x8086, 0x7075, false}, /* cxl-rp of QEMU */
	{0x1af4, -1, true},	 /* virtio: of hypervisors, and of cards that show a host some */
};

static void add_name(const struct sysroot *root, const char *name, struct guest_signs *signs)
{
	size_t len = strlen(signs->names);
	char text[64];

	if (!sysroot_line(root, text, sizeof(text), "sys/class/dmi/id/%s", name))
		return;
	snprintf(signs->names + len, sizeof(signs->names) - len, "%s%s", len > 0 ? "; " : "", text);
}

static void read_names(const struct sysroot *root, struct guest_signs *signs)
{
	static const char *const names[] = {"sys_vendor", "product_name", "board_vendor",
					    "bios_vendor"};
	char tag[64];

	signs->dmi = sysroot_line(root, signs->vendor, sizeof(signs->vendor),
				  "sys/class/dmi/id/sys_vendor");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_name(root, names[i], signs);
	/* elsewhere it is free text, as "KVM switch, rack 7" */
	if (sysroot_line(root, tag, sizeof(tag), "sys/class/dmi/id/chassis_asset_tag") &&
	    strcmp(tag, "OracleCloud.com") == 0)
		add_name(root, "chassis_asset_tag", signs);
}

static enum known read_smbios(const struct sysroot *root)
{
	unsigned char table[SMBIOS_BYTE + 1];

	if (sysroot_pread(root, "sys/firmware/dmi/entries/0-0/raw", 0, table, sizeof(table)) !=
		    (long)sizeof(table) ||
	    table[0] != 0 || table[1] <= SMBIOS_BYTE)
		return KNOWN_NOT;
	return (table[SMBIOS_BYTE] & SMBIOS_BIT) != 0 ? KNOWN_YES : KNOWN_NO;
}

/* "fw-cfg@9020000", of QEMU */
static void find_fw_cfg(const struct sysroot *root, struct guest_signs *signs)
{
	DIR *directory = sysroot_directory(root, "proc/device-tree");
	const struct dirent *entry;

	for (int i = 0;
	     directory != NULL && i < FUNCTIONS_MAX && (entry = readdir(directory)) != NULL; i++) {
		if (strncmp(entry->d_name, "fw-cfg", 6) == 0)
			snprintf(signs->interface, sizeof(signs->interface),
				 "/proc/device-tree/%.64s", entry->d_name);
	}
	if (directory != NULL)
		closedir(directory);
}

/* The files that a hypervisor provides for its guests; the first found is told. */
static void find_interface(const struct sysroot *root, struct guest_signs *signs)
{
	static const char *const interfaces[] = {
		"sys/hypervisor/type",
		"proc/device-tree/hypervisor",
		"sys/bus/acpi/devices/QEMU0002:00",
		"sys/bus/acpi/devices/QEMUVGID:00",
		"sys/bus/acpi/devices/VMGENCTR:00",
		"sys/bus/vmbus/devices",
		"sys/firmware/qemu_fw_cfg/rev", /* the directory is there without one, too */
	};
	char compatible[256];
	long len;

	for (size_t i = 0; i < sizeof(interfaces) / sizeof(interfaces[0]); i++) {
		if (sysroot_exists(root, "%s", interfaces[i])) {
			snprintf(signs->interface, sizeof(signs->interface), "/%s", interfaces[i]);
			return;
		}
	}
	find_fw_cfg(root, signs);
	len = sysroot_read(root, compatible, sizeof(compatible), "proc/device-tree/compatible");
	if (len > 0 && strncmp(compatible, "linux,dummy-virt", 16) == 0)
		snprintf(signs->interface, sizeof(signs->interface),
			 "linux,dummy-virt of /proc/device-tree/compatible");
}

static void judge_function(const char *address, int vendor, int device, struct guest_signs *signs)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		char *to = functions[i].doubtful ? signs->doubtful : signs->function;

		if (functions[i].vendor == vendor &&
		    (functions[i].device < 0 || functions[i].device == device) && to[0] == '\0')
			snprintf(to, sizeof(signs->function), "%.20s (%04x:%04x)", address,
				 (unsigned)vendor & 0xffff, (unsigned)device & 0xffff);
	}
}

static void find_functions(const struct sysroot *root, struct guest_signs *signs)
{
	DIR *directory = sysroot_directory(root, "sys/bus/pci/devices");
	const struct dirent *entry;
	int64_t vendor, device;

	for (int i = 0;
	     directory != NULL && i < FUNCTIONS_MAX && (entry = readdir(directory)) != NULL; i++) {
		if (entry->d_name[0] == '.' ||
		    !sysroot_number(root, &vendor, "sys/bus/pci/devices/%s/vendor",
				    entry->d_name) ||
		    !sysroot_number(root, &device, "sys/bus/pci/devices/%s/device", entry->d_name))
			continue;
		judge_function(entry->d_name, (int)vendor, (int)device, signs);
	}
	if (directory != NULL)
		closedir(directory);
}

/* Those above the NIC, by what was read of them: they may be all that a tree has. */
static void judge_chains(const struct facts_pci *pci, struct guest_signs *signs)
{
	signs->port_vendor = -1;
	for (size_t i = 0; i < pci->count; i++) {
		const struct facts_chain *chain = &pci->chains[i];
		const struct facts_function *top = chain_top(chain);

		for (size_t f = 0; f < chain->count; f++)
			judge_function(chain->functions[f].address, chain->functions[f].vendor,
				       chain->functions[f].device, signs);
		signs->without_port = signs->without_port || top == NULL;
		if (i == 0 && top != NULL)
			signs->port_vendor = top->vendor;
	}
}

void gather_guest(const struct gather *g, const struct facts_pci *pci,
		  struct facts_platform *platform)
{
	struct guest_signs signs = {.flag = platform->hypervisor_flag};

	signs.processor = strncmp(platform->vendor, "Arm", 3) == 0 ? GUEST_ARM
			  : signs.flag != KNOWN_NOT		   ? GUEST_X86
								   : GUEST_OTHER;
	signs.smbios = read_smbios(g->root);
	read_names(g->root, &signs);
	find_interface(g->root, &signs);
	find_functions(g->root, &signs);
	judge_chains(pci, &signs);
	platform->guest = guest_decide(&signs, platform->guest_why, sizeof(platform->guest_why));
	if (platform->guest == KNOWN_YES)
		snprintf(platform->emulated, sizeof(platform->emulated), "%s",
			 signs.dmi && guest_is_named(signs.names) ? signs.vendor
								  : "of unknown make");
}
