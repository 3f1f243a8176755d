/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slots.h -- the server's memory, in slots of one size: each connection has one
 * to itself, so clients do not disturb each other. It is not a wall against a hostile
 * one: the registration of a slot outlives the client it was told to.
 */
#ifndef SLOTS_H
#define SLOTS_H

#include "common/rdma/region.h"
#include "common/rdma/target.h"

#define SLOTS_MAX 16

struct slots {
	struct target target;
	size_t size_bytes; /* each one's size */
	unsigned count;
	struct region regions[SLOTS_MAX];
	bool taken[SLOTS_MAX]; /* under its user's lock */
};

/* How many slots, and of which size, a target of this size has. */
void slots_divide(size_t target_bytes, unsigned *count, size_t *size_bytes);

/* The failure's size is that of a slot, which *slots has in any case. */
int slots_open(struct slots *slots, struct rpma_peer *peer, const char *device, const char *spec,
	       const struct target_cfg *cfg, bool direct_write_to_pmem);
void slots_close(struct slots *slots);

/* -1: all are taken. */
int slots_take(struct slots *slots);
void slots_release(struct slots *slots, int slot);

#endif /* SLOTS_H */
