/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.h -- from files and answers to facts, a file for each struct of facts.h.
 *
 * Nothing here judges, and nothing fails: what cannot be read stays unknown.
 */
#ifndef READINESS_GATHER_H
#define READINESS_GATHER_H

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

#endif /* READINESS_GATHER_H */
