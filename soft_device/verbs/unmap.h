/* SPDX-License-Identifier: BSD-3-Clause */
/* unmap.h -- registered memory that the program unmaps or replaces before it deregisters it. */
#pragma once

#include <stdint.h>

#include "soft_device/process/process.h"

extern const struct process_part unmap_part;

/* Entry `index` of the table of regions is about to be of this memory. Objects lock held. */
void unmap_watch(uint32_t index, uint64_t addr, uint64_t length);
/* The region of this key is gone. Objects lock held. */
void unmap_forget(uint32_t key);

/* For heap.c, which is an object of its own. */
bool rpma_soft_block_is_registered(const void *start, size_t bytes);
bool rpma_soft_block_freed(void *start, size_t bytes, void (*release)(void *start),
			   const void *caller);
