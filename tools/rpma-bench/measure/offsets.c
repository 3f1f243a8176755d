/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offsets.c -- slices of the target, the content of their slots, and the check
 * of that content.
 *
 * Content is made of words of 8 bytes, little-endian on every machine, each a
 * hash of its offset in the source and the salt of the repeat: a byte that was
 * not written, or written elsewhere, is most likely another one.
 */
#include "offsets.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "names/random.h"

/*
 * Rejection-inversion (W. Hoermann and G. Derflinger, "Rejection-inversion
 * to generate variates from monotone discrete distributions", 1996).
 *
 * The inverse of the area under x^-theta gives a real number; it is rounded to a rank, and
 * taken unless the rank's bar has less area than the curve there. Exact for any number of
 * ranks, with no table of them.
 */

static double uniform(uint64_t *state)
{
	return ((double)(random_next(state) >> 11) + 0.5) * 0x1p-53;
}

/* The area under x^-theta from 1 to x; a logarithm where theta is 1. */
static double area(double x, double theta)
{
	double power = 1 - theta, logarithm = log(x);

	return fabs(power) < 1e-9 ? logarithm : expm1(power * logarithm) / power;
}

static double inverse(double y, double theta)
{
	double power = 1 - theta;

	return fabs(power) < 1e-9 ? exp(y) : exp(log1p(power * y) / power);
}

static double height(double x, double theta)
{
	return exp(-theta * log(x));
}

void zipf_init(struct zipf *zipf, uint64_t ranks, double theta, uint64_t seed)
{
	*zipf = (struct zipf){
		.ranks = ranks,
		.theta = theta,
		.first = area(1.5, theta) - 1,
		.last = area((double)ranks + 0.5, theta),
		.sure = 2 - inverse(area(2.5, theta) - height(2, theta), theta),
		.random = seed,
	};
}

uint64_t zipf_next(struct zipf *z)
{
	for (;;) {
		double u = z->last + uniform(&z->random) * (z->first - z->last);
		double x = inverse(u, z->theta), rank = floor(x + 0.5);

		rank = rank < 1 ? 1 : rank > (double)z->ranks ? (double)z->ranks : rank;
		if (rank - x <= z->sure || u >= area(rank + 0.5, z->theta) - height(rank, z->theta))
			return (uint64_t)rank;
	}
}

#define WORD 8

static uint64_t word_at(const struct access *access, uint64_t source_offset)
{
	return htole64(random_mix(access->salt + source_offset / WORD * RANDOM_STEP));
}

static uint64_t stride_of(const struct params *params)
{
	return (params->size_bytes + ACCESS_LINE - 1) / ACCESS_LINE * ACCESS_LINE;
}

static uint64_t tail_bytes(const struct params *params)
{
	return params->persist == BENCH_APPEND ? ACCESS_LINE : 0;
}

uint64_t access_slice_min(const struct params *params)
{
	return tail_bytes(params) + stride_of(params);
}

/* The smallest power of two that is not less, minus one. */
static uint64_t mask_of(uint64_t count)
{
	return count <= 1 ? 0 : UINT64_MAX >> __builtin_clzll(count - 1);
}

void access_init(struct access *access, const struct params *params, uint64_t target_bytes,
		 uint32_t qp, uint64_t seed)
{
	uint64_t slice = target_bytes / params_qps(params) / ACCESS_LINE * ACCESS_LINE;
	uint64_t stride = stride_of(params), tail = tail_bytes(params);
	uint64_t of_qp = random_mix(seed + qp * RANDOM_STEP);

	*access = (struct access){
		.base = qp * slice + tail,
		.stride = stride,
		.slots = (slice - tail) / stride,
		.salt = random_mix(of_qp + 1),
		.keys = {random_mix(of_qp + 2), random_mix(of_qp + 3)},
	};
	access->sequential = params->pattern.kind == BENCH_SEQ;
	access->turn = access->sequential && params->mix == NULL ? access->slots : 0;
	access->mask = mask_of(access->slots);
	access->shift = (unsigned)(__builtin_popcountll(access->mask) + 1) / 2;
	access->source_mask = access->mask;
	while (access->source_mask > 0 && access_source_bytes(access) > ACCESS_SOURCE_BYTES)
		access->source_mask >>= 1;
}

/*
 * A number below mask + 1 for each such number: every step can be undone, so
 * no two are alike. Multiplying carries low bits up, the shift brings high
 * ones down.
 */
static uint64_t permute(const struct access *a, uint64_t n)
{
	n = (n + a->keys[0]) * 0x5851f42d4c957f2dULL & a->mask;
	n ^= n >> a->shift;
	n = (n + a->keys[1]) * 0xd1342543de82ef95ULL & a->mask;
	n ^= n >> a->shift;
	return n * RANDOM_STEP & a->mask;
}

void access_draw(struct access *access, const struct params *params, uint32_t *draws)
{
	uint64_t ranks = access->slots < UINT32_MAX ? access->slots : UINT32_MAX;
	struct zipf zipf;

	zipf_init(&zipf, ranks, (double)params->pattern.number / PARAMS_MILLION, access->keys[0]);
	for (uint32_t i = 0; i < ACCESS_DRAWS; i++) {
		uint64_t slot = zipf_next(&zipf) - 1;

		/* a permutation of fewer: what is beyond goes through it again */
		do
			slot = permute(access, slot);
		while (slot >= ranks);
		draws[i] = (uint32_t)slot;
	}
	access->draws = draws;
}

uint64_t access_next(struct access *access)
{
	uint64_t slot = access->next;

	if (access->draws != NULL) {
		access->next = (slot + 1) % ACCESS_DRAWS;
		return access->draws[slot];
	}

	if (access->sequential) {
		access->next = slot + 1 < access->slots ? slot + 1 : 0;
		return slot;
	}
	/* what is beyond the slots is skipped: less than half of the numbers */
	do {
		slot = permute(access, access->next);
		access->next = (access->next + 1) & access->mask;
	} while (slot >= access->slots);
	return slot;
}

size_t access_source_bytes(const struct access *access)
{
	return (size_t)((access->source_mask + 1) * access->stride);
}

void access_fill(const struct access *access, void *source)
{
	uint8_t *bytes = source;

	for (size_t at = 0; at < access_source_bytes(access); at += WORD) {
		uint64_t word = word_at(access, at);

		memcpy(bytes + at, &word, WORD);
	}
}

/* A fraction of a second's work. */
#define KEEPALIVE_BYTES (1ULL << 26)

/* Bytes of one word, or of its first part. */
static void compare(const uint8_t *found, uint64_t expected, uint64_t bytes, uint64_t offset,
		    struct access_check *check)
{
	uint8_t want[WORD];

	memcpy(want, &expected, WORD);
	check->checked_bytes += bytes;
	if (memcmp(found, want, bytes) == 0)
		return;
	for (uint64_t i = 0; i < bytes; i++) {
		if (found[i] == want[i])
			continue;
		check->mismatches++;
		if (offset + i < check->first_offset)
			check->first_offset = offset + i;
	}
}

static void verify_slot(const struct access *access, uint64_t size, const uint8_t *target,
			uint64_t slot, struct access_check *check)
{
	uint64_t offset = access_offset(access, slot), source = access_source(access, slot);

	for (uint64_t at = 0; at < size; at += WORD)
		compare(target + offset + at, word_at(access, source + at),
			size - at < WORD ? size - at : WORD, offset + at, check);
}

void access_verify(const struct access *access, const struct params *params, const void *target,
		   uint64_t touched, struct access_check *check,
		   const struct access_keepalive *keepalive)
{
	struct access at = *access;
	uint64_t count = touched < access->slots ? touched : access->slots, bytes = 0;

	for (uint64_t i = 0; i < count; i++) {
		verify_slot(access, params->size_bytes, target, access_next(&at), check);
		bytes += params->size_bytes;
		if (keepalive != NULL && bytes >= KEEPALIVE_BYTES) {
			keepalive->send(keepalive->arg);
			bytes = 0;
		}
	}
	if (params->persist == BENCH_APPEND && count > 0) {
		uint64_t tail = access_tail_offset(access);

		compare((const uint8_t *)target + tail,
			htole64(access_tail(access, (touched - 1) % access->slots)), WORD, tail,
			check);
	}
}
