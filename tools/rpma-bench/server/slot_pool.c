/* SPDX-License-Identifier: BSD-3-Clause */
/* slot_pool.c -- a stack of free slots, and a queue of messages for want of one. */
#include "slot_pool.h"

#include <errno.h>
#include <stdlib.h>

int slot_pool_init(struct slot_pool *pool, uint32_t first, uint32_t size, uint32_t taken)
{
	*pool = (struct slot_pool){.size = size};
	pool->free = calloc(size, sizeof(*pool->free));
	pool->held = calloc(size, sizeof(*pool->held));
	if (pool->free == NULL || pool->held == NULL) {
		slot_pool_clear(pool);
		return -ENOMEM;
	}
	for (uint32_t slot = taken; slot < size; slot++)
		pool->free[pool->free_count++] = first + slot;
	return 0;
}

void slot_pool_clear(struct slot_pool *pool)
{
	free(pool->free);
	free(pool->held);
	*pool = (struct slot_pool){.size = 0};
}

bool slot_pool_exchange(struct slot_pool *pool, const struct slot_message *message, uint32_t *slot)
{
	if (pool->free_count > 0) {
		*slot = pool->free[--pool->free_count];
		return true;
	}
	/* each held message is in a slot of its own, so there is room */
	pool->held[(pool->held_first + pool->held_count++) % pool->size] = *message;
	return false;
}

bool slot_pool_give(struct slot_pool *pool, uint32_t slot, struct slot_message *message)
{
	if (pool->held_count == 0) {
		pool->free[pool->free_count++] = slot;
		return false;
	}
	*message = pool->held[pool->held_first];
	pool->held_first = (pool->held_first + 1) % pool->size;
	pool->held_count--;
	return true;
}
