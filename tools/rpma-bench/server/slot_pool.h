/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slot_pool.h -- the buffers of a responder that are neither posted nor being
 * answered from, and the messages that wait for one. No I/O: who posts and who
 * answers is the responder's business.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A message that was received and is not answered yet. */
struct slot_message {
	void *from;    /* the user's */
	uint32_t slot; /* where it is */
	uint32_t bytes;
};

struct slot_pool {
	uint32_t size;
	uint32_t *free;
	uint32_t free_count;
	struct slot_message *held; /* a ring */
	uint32_t held_first;
	uint32_t held_count;
};

/* Has size slots from first on; the first `taken` of them are not free. -ENOMEM. */
int slot_pool_init(struct slot_pool *pool, uint32_t first, uint32_t size, uint32_t taken);
void slot_pool_clear(struct slot_pool *pool);

/* A free slot to take the place of the message's; false: the message is held instead. */
bool slot_pool_exchange(struct slot_pool *pool, const struct slot_message *message, uint32_t *slot);
/* A slot is free again: true if a held message takes it, the oldest. */
bool slot_pool_give(struct slot_pool *pool, uint32_t slot, struct slot_message *message);
