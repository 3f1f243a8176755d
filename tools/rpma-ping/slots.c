/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slots.c -- divides the target and registers its parts.
 */
#include "slots.h"

#define PAGE_BYTES 4096

void places_divide(size_t target_bytes, unsigned *count, size_t *size_bytes)
{
	size_t pages = target_bytes / PAGE_BYTES;

	*count = pages < PLACES_MAX ? (unsigned)pages : PLACES_MAX;
	if (*count <= 1) {
		*count = 1;
		*size_bytes = target_bytes;
		return;
	}
	*size_bytes = pages / *count * PAGE_BYTES;
}

int places_open(struct places *places, struct rpma_peer *peer, const char *device, const char *spec,
		const struct target_cfg *cfg, bool direct_write_to_pmem)
{
	struct places *p = places;
	int ret = target_open(&p->target, spec, cfg);

	if (ret)
		return ret;
	places_divide(p->target.size_bytes, &p->count, &p->size_bytes);
	for (unsigned i = 0; i < p->count && ret == 0; i++) {
		const struct region_memory memory = {(char *)p->target.memory + i * p->size_bytes,
						     p->size_bytes, p->target.kind, spec,
						     direct_write_to_pmem};

		ret = region_open(&p->regions[i], peer, device, &memory);
	}
	return ret;
}

void places_close(struct places *places)
{
	for (unsigned i = 0; i < PLACES_MAX; i++)
		region_close(&places->regions[i]);
	target_close(&places->target);
}

int places_take(struct places *places)
{
	for (unsigned i = 0; i < places->count; i++) {
		if (!places->taken[i]) {
			places->taken[i] = true;
			return (int)i;
		}
	}
	return -1;
}

void places_give(struct places *places, int place)
{
	places->taken[place] = false;
}
