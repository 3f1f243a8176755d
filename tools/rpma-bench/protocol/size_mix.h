/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * size_mix.h -- several sizes of one point, each with its share of the operations:
 * 4K/10:64K/50:32K/40, in percent, as fio's bssplit has it.
 */
#ifndef BENCH_PROTOCOL_SIZE_MIX_H
#define BENCH_PROTOCOL_SIZE_MIX_H

#include <stdint.h>

#define SIZE_MIX_MAX 16

struct size_mix {
	uint32_t count;
	uint64_t size_bytes[SIZE_MIX_MAX];
	uint32_t percent[SIZE_MIX_MAX]; /* 100 together */
};

/* -EINVAL: not a mix of sizes from 1 to max, each given once. */
int size_mix_parse(const char *text, uint64_t max, struct size_mix *mix);

uint64_t size_mix_largest(const struct size_mix *mix);
/* To the next byte. */
uint64_t size_mix_mean(const struct size_mix *mix);

/* The same number for the same sizes and shares. */
uint64_t size_mix_hash(const struct size_mix *mix);

#define SIZE_MIX_TEXT_MAX 256
/* "4096/10:65536/90" */
const char *size_mix_print(const struct size_mix *mix, char text[SIZE_MIX_TEXT_MAX]);

#define SIZE_MIX_DRAWS 10000
/* Sizes in an order from the seed, in which each has its share exactly. */
void size_mix_draw(const struct size_mix *mix, uint64_t seed, uint32_t draws[SIZE_MIX_DRAWS]);

#endif /* BENCH_PROTOCOL_SIZE_MIX_H */
