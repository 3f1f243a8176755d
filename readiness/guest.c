/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guest.c -- decides whether this is a virtual machine.
 *
 * On x86 the processor tells by a flag, which a hypervisor can hide: then its ports, its
 * firmware's tables or its names give it away. Arm has no flag, so that silence shows
 * nothing there. The facts are those that systemd-detect-virt looks at, and the vendors of
 * PCI functions, as pci.ids has them.
 */
#include "guest.h"

#include <stdio.h>
#include <string.h>

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

bool guest_is_named(const char *names)
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
