/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guest.h -- is this a virtual machine? A question with evidence for both answers, and
 * unknown between: what a hypervisor reports does not prove persistence.
 */
#ifndef READINESS_GUEST_H
#define READINESS_GUEST_H

#include "facts.h"

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
#endif /* READINESS_GUEST_H */
