/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random.h -- random numbers from a seed, the same on every machine: splitmix64 (Steele, Lea,
 * Flood: Fast Splittable Pseudorandom Number Generators, 2014), by Sebastiano Vigna; public domain.
 */
#pragma once

#include <stdint.h>

#define RANDOM_STEP 0x9e3779b97f4a7c15ULL

/* Its finalizer: a bijection of 64 bits that hashes well. */
static inline uint64_t random_mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static inline uint64_t random_next(uint64_t *state)
{
	return random_mix(*state += RANDOM_STEP);
}
