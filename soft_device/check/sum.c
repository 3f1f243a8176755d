/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sum.c -- see sum.h: 16 bytes at once make a product of 128 bits, which is folded.
 *
 * It does not resist an adversary: a change is missed once in 2^64 times.
 */
#include "sum.h"

#include <string.h>

#define BEGIN UINT64_C(0xe7037ed1a0b428db) /* with 0 a first word of 0 would leave 0 */
#define ODD   UINT64_C(0x9fb21c651e98df25)
#define HALF  (CHECK_SUM_BYTES / 2)

/* A thread that writes there is what is looked for. */
#define UNWATCHED __attribute__((no_sanitize("thread", "address")))

static inline uint64_t mix(uint64_t sum, uint64_t one, uint64_t other)
{
	const unsigned __int128 product = (unsigned __int128)(sum ^ one) * (other ^ ODD);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline UNWATCHED uint64_t word_at(const unsigned char *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	return word;
}

static inline UNWATCHED uint64_t rest_at(const unsigned char *from, size_t bytes)
{
	uint64_t word = 0;

	for (size_t i = 0; i < bytes; i++)
		word = word << 8 | from[i];
	return word;
}

static inline UNWATCHED uint64_t sum_part(uint64_t sum, const unsigned char *from, size_t bytes)
{
	for (; bytes >= 16; from += 16, bytes -= 16)
		sum = mix(sum, word_at(from), word_at(from + 8));
	if (bytes >= 8) {
		sum = mix(sum, word_at(from), 0);
		from += 8;
		bytes -= 8;
	}
	return bytes == 0 ? sum : mix(sum, rest_at(from, bytes), bytes);
}

static __attribute__((noinline)) uint64_t sum_ends(const unsigned char *from, size_t bytes)
{
	const uint64_t sum = sum_part(BEGIN, from, HALF);

	return sum_part(sum, from + bytes - HALF, HALF);
}

uint64_t check_sum(const void *memory, size_t bytes)
{
	return bytes <= CHECK_SUM_BYTES ? sum_part(BEGIN, memory, bytes) : sum_ends(memory, bytes);
}

uint64_t check_sum_of(uint64_t one, uint64_t other)
{
	return mix(BEGIN, one, other);
}
