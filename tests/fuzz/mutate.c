/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mutate.c -- feeds a parser good bytes, changed a little: bits flipped,
 * fields set to extremes, cut and extended. Usage: mutate_SUBJECT ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static uint64_t state = 1;

static uint64_t next_random(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static size_t mutate(uint8_t *input, size_t len)
{
	static const uint8_t extremes[] = {0x00, 0x01, 0x7f, 0x80, 0xff};

	for (uint64_t changes = next_random() % 4; changes > 0 && len > 0; changes--) {
		size_t at = (size_t)(next_random() % len);

		switch (next_random() % 5) {
		case 0:
			input[at] ^= (uint8_t)(1U << next_random() % 8);
			break;
		case 1:
			input[at] = extremes[next_random() % sizeof(extremes)];
			break;
		case 2:
			memset(input + at, 0xff, len - at < 8 ? len - at : 8);
			break;
		case 3:
			len = at;
			break;
		default:
			if (len < FUZZ_INPUT_MAX - 8)
				len += (size_t)(next_random() % 8);
			break;
		}
	}
	return len;
}

/* In memory of exactly its size, so that a sanitizer sees a byte too far. */
static void feed(const uint8_t *input, size_t len)
{
	uint8_t *exact = malloc(len > 0 ? len : 1);

	if (exact == NULL)
		abort();
	memcpy(exact, input, len);
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
}

int main(int argc, char **argv)
{
	long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
	uint8_t input[FUZZ_INPUT_MAX] = {0};
	size_t seeds = 0;

	while (fuzz_seed(seeds, input) > 0)
		seeds++;
	if (rounds <= 0 || seeds == 0) {
		fprintf(stderr, "usage: %s ROUNDS\n", argv[0]);
		return 64;
	}
	for (long i = 0; i < rounds; i++) {
		size_t len = fuzz_seed((size_t)i % seeds, input);

		feed(input, mutate(input, len));
	}
	return 0;
}
