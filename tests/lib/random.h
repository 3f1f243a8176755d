/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random.h -- random numbers that are the same on every run.
 */
#ifndef TESTS_LIB_RANDOM_H
#define TESTS_LIB_RANDOM_H

#include <stdint.h>

/* splitmix64 */
static inline uint64_t test_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* 0 <= x < 1 */
static inline double test_uniform(uint64_t *state)
{
	return (double)(test_random(state) >> 11) / 9007199254740992.0;
}

#endif /* TESTS_LIB_RANDOM_H */
