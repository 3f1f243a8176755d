/* SPDX-License-Identifier: BSD-3-Clause */
/* local_memory.h -- whether the local pool is mapped, as the kernel tells in /proc/self/maps. */
#pragma once

#include <stddef.h>

/*
 * May this process read and write all of it? -EFAULT: a part is not mapped;
 * -EACCES: a part may not be read or written; both with the error message set.
 * 0 where /proc is not available.
 */
int local_memory_check(const void *memory, size_t bytes);
