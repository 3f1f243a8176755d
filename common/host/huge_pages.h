/* SPDX-License-Identifier: BSD-3-Clause */
/* huge_pages.h -- memory of huge pages that were reserved, and the remedy where they were not. */
#pragma once

#include <stddef.h>

/* The size of one; 0: this kernel has none. */
size_t huge_page_bytes(void);

/*
 * Maps whole huge pages, private and zero. The error message names how many are needed,
 * how many are free, and what reserves them; step is its step.
 */
int huge_pages_map(size_t bytes, const char *step, void **memory);
