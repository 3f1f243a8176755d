/* SPDX-License-Identifier: BSD-3-Clause */
/* sum.h -- a sum of bytes by which `rpma-soft --check` finds that they have changed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Most bytes that are summed, for speed: of a longer range half of them at each end. */
#define CHECK_SUM_BYTES 4096u

/* The memory can be read; the program may write there meanwhile. */
uint64_t check_sum(const void *memory, size_t bytes);

/* Two sums in one; their order counts. */
uint64_t check_sum_of(uint64_t one, uint64_t other);
