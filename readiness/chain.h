/* SPDX-License-Identifier: BSD-3-Clause */
/* chain.h -- questions to the way from a root port to a NIC. */
#pragma once

#include "facts.h"

/* The bridge next to the CPU; NULL: nothing is above the NIC. */
const struct facts_function *chain_top(const struct facts_chain *chain);
/* The physical function of the NIC. */
const struct facts_function *chain_nic(const struct facts_chain *chain);

/* True if the top is a root port: a bridge with that PCI Express type. */
enum known chain_has_root_port(const struct facts_chain *chain);

/* How a NIC may treat its writes; software can turn on what is disabled. The worst is last. */
enum chain_ability { CHAIN_CANNOT, CHAIN_DISABLED, CHAIN_NOT_SEEN, CHAIN_ENABLED };

/* The NIC's physical function; in a virtual one this bit is reserved. Never CHAIN_CANNOT. */
enum chain_ability chain_no_snoop(const struct facts_chain *chain);
/* All functions of the NIC, whatever the kernel was told. */
enum chain_ability chain_tph(const struct facts_chain *chain);

/* The links of one path after another; .known begins as true. */
struct chain_links {
	bool known;			    /* speed and width of all of them */
	bool below;			    /* one is less than it can be */
	const struct facts_function *shown; /* the lower end of that; NULL: none */
};

void chain_judge_links(const struct facts_chain *chain, struct chain_links *links);
