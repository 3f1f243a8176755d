/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guest.c -- decides whether this is a virtual machine.
 *
 * On x86 the processor tells by a flag, which a hypervisor can hide: then its ports, its
 * firmware's tables or its names give it away. Arm has no flag, so that silence shows
 * nothing there. The facts are those that systemd-detect-virt looks at, and the vendors of
 * PCI functions, as pci.ids has them.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "gather.h"

#define say(...) snprintf(why, size, __VA_ARGS__)

/* Names of machines that are nothing but virtual. */
static const char *const hypervisors[] = {
	"QEMU",
	"KVM",
	"VMware",
	"VMW",
	"VirtualBox",
	"innotek",
	"Xen",
	"Bochs",
	"Parallels",
	"BHYVE",
	"Virtual Machine",
	"OpenStack",
	"KubeVirt",
	"Hyper-V",
	"RHEV",
	"oVirt",
	"OpenShift Virt",
	"Cloud Hypervisor",
	"cloud-hypervisor",
	"crosvm",
	"Firecracker",
	"ACRN",
	"CloudStack",
	"Droplet",
	"DigitalOcean",
	"vServer",
	"Apple Virtual",
	"; AHV",
	"Virtual Platform",
	"VirtualMac",
	"Development Kit II",
	"SeaBIOS",
};

/* Clouds: most of their machines are virtual, and some are not. */
static const char *const clouds[] = {
	"Amazon EC2", "Google",	  "Alibaba Cloud", "Tencent Cloud", "Huawei Cloud", "HUAWEICLOUD",
	"Microsoft",  "Scaleway", "Hetzner",	   "Vultr",	    "Linode",	    "Akamai",
	"IBM:VPC",    "Yandex",	  "UpCloud",	   "Exoscale",	    "OracleCloud",  "OVHcloud",
	"Nutanix",    "Kamatera", "Nebius",	   "Baidu Cloud",   "VolcEngine",
};

/* Makers of processors for servers on Arm: pci.ids has their root ports. */
static const int arm_ports[] = {
	0x1def, /* Ampere Computing */
	0x19e5, /* Huawei: Kunpeng */
	0x177d, /* Cavium: ThunderX */
	0x14e4, /* Broadcom: Vulcan, later ThunderX2 */
	0x10de, /* NVIDIA: Grace */
	0x1c36, /* Annapurna Labs: Graviton */
	0x17cb, /* Qualcomm */
	0x1db7, /* Phytium */
	0x11ab, /* Marvell */
};

static const char *find_name(const char *names, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcasestr(names, list[i]) != NULL)
			return list[i];
	}
	return NULL;
}

#define FIND(names, list) find_name(names, list, sizeof(list) / sizeof((list)[0]))

/* Do these names have one of a hypervisor? */
static bool guest_is_named(const char *names)
{
	return FIND(names, hypervisors) != NULL;
}

/* "i3en.metal", "m6g.metal-24xl": instances of Amazon that are whole machines. */
static bool is_metal(const struct guest_signs *signs)
{
	return strcasestr(signs->names, "Amazon EC2") != NULL &&
	       strstr(signs->names, ".metal") != NULL;
}

static bool has_arm_port(const struct guest_signs *signs)
{
	for (size_t i = 0; i < sizeof(arm_ports) / sizeof(arm_ports[0]); i++) {
		if (arm_ports[i] == signs->port_vendor)
			return true;
	}
	return false;
}

/* Any of these shows a hypervisor, whatever else there is. */
static bool is_shown(const struct guest_signs *signs, char *why, size_t size)
{
	const char *name = FIND(signs->names, hypervisors);

	if (signs->flag == KNOWN_YES)
		say("/proc/cpuinfo has the flag hypervisor");
	else if (signs->smbios == KNOWN_YES)
		say("the SMBIOS table describes a virtual machine");
	else if (signs->interface[0] != '\0')
		say("%s is there", signs->interface);
	else if (signs->function[0] != '\0')
		say("%s is a PCI function of hypervisors", signs->function);
	else if (name != NULL)
		say("the machine's names have %s", name);
	else
		return false;
	return true;
}

/* The reasons why finding no sign does not mean that there is no hypervisor. */
static bool is_doubtful(const struct guest_signs *signs, char *why, size_t size)
{
	const char *cloud = FIND(signs->names, clouds);

	if (cloud != NULL && !is_metal(signs) && signs->smbios != KNOWN_NO)
		say("%s has virtual machines and others, and the SMBIOS table cannot be read",
		    cloud);
	else if (signs->doubtful[0] != '\0')
		say("%s is a PCI function that mostly hypervisors have", signs->doubtful);
	else if (!signs->dmi)
		say("the machine's names cannot be read");
	else if (signs->processor == GUEST_X86 && signs->without_port)
		say("the NIC has no root port above it, as in virtual machines");
	else
		return false;
	return true;
}

enum known guest_decide(const struct guest_signs *signs, char *why, size_t size)
{
	if (is_shown(signs, why, size))
		return KNOWN_YES;
	if (is_doubtful(signs, why, size))
		return KNOWN_NOT;
	if (signs->processor == GUEST_X86 && signs->flag == KNOWN_NO) {
		say("the processor's flags have no hypervisor, and nothing else shows one");
		return KNOWN_NO;
	}
	if (signs->processor == GUEST_ARM && is_metal(signs)) {
		say("the instance is a whole machine (.metal)");
		return KNOWN_NO;
	}
	if (signs->processor == GUEST_ARM && signs->smbios == KNOWN_NO && has_arm_port(signs)) {
		say("the SMBIOS table describes no virtual machine, and the root port is of the "
		    "processor's maker (%04x)",
		    (unsigned)signs->port_vendor);
		return KNOWN_NO;
	}
	if (signs->processor == GUEST_ARM)
		say("this processor has no flag for it: it takes the SMBIOS table, which root can "
		    "read, and a root port of the processor's maker above the NIC");
	else
		say("nothing shows whether there is a hypervisor");
	return KNOWN_NOT;
}

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

	if (!sysroot_text(root, text, "sys/class/dmi/id/%s", name))
		return;
	snprintf(signs->names + len, sizeof(signs->names) - len, "%s%s", len > 0 ? "; " : "", text);
}

static void read_names(const struct sysroot *root, struct guest_signs *signs)
{
	static const char *const names[] = {"sys_vendor", "product_name", "board_vendor",
					    "bios_vendor"};
	char tag[64];

	signs->dmi = sysroot_text(root, signs->vendor, "sys/class/dmi/id/sys_vendor");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_name(root, names[i], signs);
	/* elsewhere it is free text, as "KVM switch, rack 7" */
	if (sysroot_text(root, tag, "sys/class/dmi/id/chassis_asset_tag") &&
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
	struct sysroot_walk nodes = sysroot_walk(root, FUNCTIONS_MAX, "proc/device-tree");
	const char *name;

	while ((name = sysroot_next(&nodes)) != NULL) {
		if (strncmp(name, "fw-cfg", 6) == 0)
			snprintf(signs->interface, sizeof(signs->interface),
				 "/proc/device-tree/%.64s", name);
	}
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
	struct sysroot_walk devices = sysroot_walk(root, FUNCTIONS_MAX, "sys/bus/pci/devices");
	int64_t vendor, device;
	const char *name;

	while ((name = sysroot_next(&devices)) != NULL) {
		if (sysroot_number(root, &vendor, "sys/bus/pci/devices/%s/vendor", name) &&
		    sysroot_number(root, &device, "sys/bus/pci/devices/%s/device", name))
			judge_function(name, (int)vendor, (int)device, signs);
	}
}

/* Judges the ports above the NIC by what was read of them: a tree may have no others. */
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
