/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz.h -- what a fuzzed parser gives: its entry, and good inputs to start
 * from. Run by libFuzzer, or by mutate.c.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_INPUT_MAX 4200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fills input with good bytes number index; 0 when there are no more. */
size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX]);

/* It must be so, whatever the input. */
static inline void hold(int condition)
{
	if (!condition)
		abort();
}

/* A seed that is a text. */
static inline size_t fuzz_text(const char *const *seeds, size_t count, size_t index, uint8_t *input)
{
	if (index >= count)
		return 0;
	memcpy(input, seeds[index], strlen(seeds[index]));
	return strlen(seeds[index]);
}

/* There is one, and no control characters for a terminal. */
static inline void hold_sentence(const char *text)
{
	hold(text[0] != '\0');
	for (; *text != '\0'; text++)
		hold((unsigned char)*text >= ' ' && *text != 0x7f);
}
