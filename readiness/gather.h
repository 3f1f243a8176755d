/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.h -- from files and answers to facts, a file for each struct of facts.h.
 *
 * Nothing here judges, and nothing fails: what cannot be read stays unknown.
 */
#pragma once

#include "facts.h"

struct gather {
	const struct sysroot *root;
	const struct answers *answers;
};

/* The PCI function that a link leads to or below; false: to none. */
bool gather_function_path(const struct sysroot *root, const char *link, char path[FACTS_PATH_MAX]);

/* device: NULL or "auto": hardware before software, an active port before none. */
void gather_device(const struct gather *g, const char *device, struct facts_device *facts);
/* The functions from a root port down to what a link leads to; false: to none. */
bool gather_chain(const struct sysroot *root, const char *link, struct facts_chain *chain);
void gather_pci(const struct gather *g, const struct facts_device *device, struct facts_pci *facts);
void gather_platform(const struct gather *g, const struct facts_device *device,
		     struct facts_platform *facts);
/* Tells a virtual machine; platform has been gathered. */
void gather_guest(const struct gather *g, const struct facts_pci *pci,
		  struct facts_platform *platform);
/* target: NULL is none: then the regions are all of the host. */
void gather_target(const struct gather *g, const char *target, struct facts_target *facts);
void gather_limits(const struct gather *g, struct facts_limits *facts);

/*
 * Is this a virtual machine? A question with evidence for both answers, and unknown between: what
 * a hypervisor reports does not prove persistence.
 */
enum guest_processor { GUEST_X86, GUEST_ARM, GUEST_OTHER };

/* The signs that were seen; a text is empty if there was none. */
struct guest_signs {
	enum guest_processor processor;
	enum known flag;    /* "hypervisor" of /proc/cpuinfo; of x86 alone */
	enum known smbios;  /* the bit "SMBIOS table describes a virtual machine" */
	bool dmi;	    /* vendor or product of the machine could be read */
	char names[256];    /* vendor, product, board and firmware */
	char vendor[64];    /* the machine's maker */
	char interface[96]; /* a hypervisor shows itself there: /sys/hypervisor, the device tree */
	char function[64];  /* a PCI function that only hypervisors have */
	char doubtful[64];  /* one that mostly hypervisors have */
	int port_vendor;    /* the root port's, above the NIC; -1: there is none, or unknown */
	bool without_port;  /* a NIC on PCI has nothing above it */
};

/* KNOWN_NOT: neither is shown. why: what tells, or what is missing. */
enum known guest_decide(const struct guest_signs *signs, char *why, size_t size);
