/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slots.c -- divides the target and registers its parts.
 */
#include "slots.h"

#define PAGE_BYTES 4096

void slots_divide(size_t target_bytes, unsigned *count, size_t *size_bytes)
{
	size_t pages = target_bytes / PAGE_BYTES;

	*count = pages < SLOTS_MAX ? (unsigned)pages : SLOTS_MAX;
	if (*count <= 1) {
		*count = 1;
		*size_bytes = target_bytes;
		return;
	}
	*size_bytes = pages / *count * PAGE_BYTES;
}

int slots_open(struct slots *slots, struct rpma_peer *peer, const char *device, const char *spec,
	       const struct target_cfg *cfg, bool direct_write_to_pmem)
{
	struct slots *p = slots;
	int ret = target_open(&p->target, spec, cfg);

	if (ret)
		return ret;
	slots_divide(p->target.size_bytes, &p->count, &p->size_bytes);
	for (unsigned i = 0; i < p->count && ret == 0; i++) {
		const struct region_memory memory = {
			.bytes = (char *)p->target.memory + i * p->size_bytes,
			.size = p->size_bytes,
			.kind = p->target.kind,
			.of = spec,
			.direct_write_to_pmem = direct_write_to_pmem,
		};

		ret = region_open(&p->regions[i], peer, device, &memory);
	}
	return ret;
}

void slots_close(struct slots *slots)
{
	for (unsigned i = 0; i < SLOTS_MAX; i++)
		region_close(&slots->regions[i]);
	target_close(&slots->target);
}

int slots_take(struct slots *slots)
{
	for (unsigned i = 0; i < slots->count; i++) {
		if (!slots->taken[i]) {
			slots->taken[i] = true;
			return (int)i;
		}
	}
	return -1;
}

void slots_release(struct slots *slots, int slot)
{
	slots->taken[slot] = false;
}
