/* SPDX-License-Identifier: BSD-3-Clause */
/* random.h -- random numbers that are the same on every run. */
#pragma once

#include <stdint.h>

#include "names/random.h"

static inline uint64_t test_random(uint64_t *state)
{
	return random_next(state);
}

/* 0 <= x < 1 */
static inline double test_uniform(uint64_t *state)
{
	return (double)(test_random(state) >> 11) / 9007199254740992.0;
}
