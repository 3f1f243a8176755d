/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept.h -- what the acceptance tests of librpmem and rpmemd share with the client of
 * accept_work.c. The setting comes from the environment: what the library reads itself, and
 *	RPMEM_ACCEPT_TARGET     the target
 *	RPMEM_ACCEPT_DIR        the pool set directory of the daemon; this host can see it
 *	RPMEM_ACCEPT_DEVDAX     a device that may be overwritten; else not set
 */
#pragma once

#include <librpmem.h>

#include "tests/lib/test.h"

#define MIB    ((size_t)1 << 20)
#define PART   (8 * MIB) /* the size of each part of most sets */
#define HEADER ((size_t)4096)

/* The options of a set with two parts. */
enum kind { HEADERS, SINGLEHDR, NOHDRS, KINDS };

/* NULL, where there are no headers. */
const struct rpmem_pool_attr *kind_attr(enum kind kind);

const char *setting(const char *name); /* a variable, that must be set */

/* Local memory, of zeros. */
unsigned char *memory_new(size_t size);
void fill(unsigned char *bytes, size_t count, uint64_t seed);
