/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memlock.h -- how much memory this process may pin for RDMA.
 */
#ifndef COMMON_HOST_MEMLOCK_H
#define COMMON_HOST_MEMLOCK_H

#include <stdint.h>

#include "common/base/units.h"
#include "sysroot.h"

/* 1: CAP_IPC_LOCK, so that no limit holds; 0: without it; -1: not known. */
int memlock_exempt(const struct sysroot *root);

/* The bytes of RLIMIT_MEMLOCK; UINT64_MAX: no limit holds, or it is not known. */
uint64_t memlock_limit(void);
/* The same for an error message; gives `text`. */
const char *memlock_print_limit(char text[UNITS_TEXT_BYTES]);

#endif /* COMMON_HOST_MEMLOCK_H */
