/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * filter.h -- what fault.c gives the filters, each of which is a file
 * <name>.c with the hook of its kind.
 */
#ifndef SOFT_FAULTS_FILTER_H
#define SOFT_FAULTS_FILTER_H

#include <stdatomic.h>

#include "fault.h"

struct fault_filter {
	const struct soft_fault *fault;
	_Atomic uint64_t seen; /* events it was asked about */
	_Atomic uint64_t hits;
	_Atomic uint64_t busy_until_ns; /* rate: when the last byte has left */
};

/* The next filter of these kinds, FAULT_KIND() bits; the first after NULL. NULL: no more. */
#define FAULT_KIND(kind) (1u << (kind))
struct fault_filter *fault_next(unsigned int kinds, const struct fault_filter *previous);

extern bool fault_verbose;

/* Counts an event; whether the filter hits it. */
bool fault_hits(struct fault_filter *filter);
/* Counts an event that was hit for a reason of the filter's own, or was not. */
void fault_count(struct fault_filter *filter, bool hit);

/*
 * Random numbers of this process: splitmix64 (Steele, Lea, Flood: Fast Splittable
 * Pseudorandom Number Generators, 2014) of a counter that begins at the seed. One
 * atomic addition a number, so any thread may draw.
 */
uint64_t fault_random(void);
double fault_uniform(void); /* 0 < x < 1 */
double fault_normal(void);  /* mean 0, deviation 1 */

/* The mixer of splitmix64: a bijection of 64 bits. */
static inline uint64_t fault_mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

#endif /* SOFT_FAULTS_FILTER_H */
