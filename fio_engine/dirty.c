/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dirty.c -- the two levels of bits: setting runs of them, and taking the
 * lowest run out. A summary bit is set exactly where a word of bits is not 0.
 */
#include "io_queue.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t words_for(uint64_t bits)
{
	return (bits + 63) / 64;
}

int dirty_open(struct dirty *dirty, uint64_t region_bytes, uint64_t grain)
{
	struct dirty d = {.bytes = region_bytes};

	if (grain != 0)
		d.grain_shift = (unsigned)__builtin_ctzll(grain);
	while ((region_bytes - 1) >> d.grain_shift >= DIRTY_BITS_MAX)
		d.grain_shift++;
	d.words = words_for(((region_bytes - 1) >> d.grain_shift) + 1);
	d.summary_words = words_for(d.words);
	d.first = d.summary_words;
	d.bits = calloc(d.words, sizeof(*d.bits));
	d.summary = calloc(d.summary_words, sizeof(*d.summary));
	if (d.bits == NULL || d.summary == NULL) {
		dirty_close(&d);
		return -ENOMEM;
	}
	*dirty = d;
	return 0;
}

void dirty_close(struct dirty *dirty)
{
	free(dirty->bits);
	free(dirty->summary);
	*dirty = (struct dirty){0};
}

static void set(struct dirty *dirty, uint64_t word, uint64_t mask)
{
	uint64_t at = word >> 6;

	dirty->bits[word] |= mask;
	dirty->summary[at] |= 1ULL << (word & 63);
	if (at < dirty->first)
		dirty->first = at;
}

void dirty_mark(struct dirty *dirty, uint64_t begin, uint64_t end)
{
	uint64_t low, high, word, last, mask;

	if (begin >= end)
		return;
	low = begin >> dirty->grain_shift;
	high = (end - 1) >> dirty->grain_shift;
	last = high >> 6;
	mask = ~0ULL << (low & 63);
	for (word = low >> 6; word < last; word++) {
		set(dirty, word, mask);
		mask = ~0ULL;
	}
	set(dirty, word, mask & ~0ULL >> (63 - (high & 63)));
}

bool dirty_any(const struct dirty *dirty)
{
	for (uint64_t at = dirty->first; at < dirty->summary_words; at++) {
		if (dirty->summary[at] != 0)
			return true;
	}
	return false;
}

/* The lowest word that is not 0; false: there is none. */
static bool lowest_word(struct dirty *dirty, uint64_t *word)
{
	while (dirty->first < dirty->summary_words && dirty->summary[dirty->first] == 0)
		dirty->first++;
	if (dirty->first == dirty->summary_words)
		return false;
	*word = dirty->first << 6 | (unsigned)__builtin_ctzll(dirty->summary[dirty->first]);
	return true;
}

static void clear(struct dirty *dirty, uint64_t word, uint64_t mask)
{
	dirty->bits[word] &= ~mask;
	if (dirty->bits[word] == 0)
		dirty->summary[word >> 6] &= ~(1ULL << (word & 63));
}

bool dirty_take(struct dirty *dirty, struct extent *extent)
{
	uint64_t word, low, high, run;

	if (!lowest_word(dirty, &word))
		return false;
	low = word << 6 | (unsigned)__builtin_ctzll(dirty->bits[word]);
	high = low; /* not of the run */
	do {
		/* ones from bit high on; what is shifted in is 0 and ends the run */
		uint64_t rest = ~(dirty->bits[word] >> (high & 63));

		run = rest != 0 ? (unsigned)__builtin_ctzll(rest) : 64;
		if (run > 0)
			clear(dirty, word, (run < 64 ? (1ULL << run) - 1 : ~0ULL) << (high & 63));
		high += run;
		word++;
	} while (run > 0 && (high & 63) == 0 && word < dirty->words);
	extent->begin = low << dirty->grain_shift;
	extent->end = high << dirty->grain_shift;
	if (extent->end > dirty->bytes)
		extent->end = dirty->bytes;
	return true;
}

void dirty_clear(struct dirty *dirty)
{
	uint64_t word;

	while (lowest_word(dirty, &word))
		clear(dirty, word, ~0ULL);
}
