/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * platforms.h -- by processor: which control of cache allocation exists, what to do first,
 * and what to state where nothing tells. The checks and the advice have the same words.
 */
#pragma once

#include "facts.h"

struct platform {
	const char *vendor;
	int family;	       /* -1: any */
	int model, last_model; /* -1: any */
	const char *name;
	const char *control; /* what there is, one or two sentences */
	const char *first;   /* what to do where the state is unknown */
	bool by_menu;	     /* a switch exists in the firmware's menu */
};

#define PLATFORM_TPH_OFF                                                                           \
	"Turn TPH of the NIC off: boot with pci=notph (Linux 6.13 or newer), or in the setup of "  \
	"its firmware."

/* Never NULL; the last row fits any processor. */
const struct platform *platform_find(const struct facts_platform *facts);
/* The advice if the state of DDIO is unknown: for a guest, what to do on its host. */
const char *platform_first(const struct facts_platform *facts);
