/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slots.h -- the server's memory, in places of one size: each connection has one
 * to itself, so clients do not disturb each other. It is no wall against a hostile
 * one: the registration of a place outlives the client it was told to.
 */
#ifndef PLACE_H
#define PLACE_H

#include "tools/common/rdma/region.h"
#include "tools/common/rdma/target.h"

#define PLACES_MAX 16

struct places {
	struct target target;
	size_t size_bytes; /* each one's size */
	unsigned count;
	struct region regions[PLACES_MAX];
	bool taken[PLACES_MAX]; /* under its user's lock */
};

/* How many places, and of which size, a target of this size has. */
void places_divide(size_t target_bytes, unsigned *count, size_t *size_bytes);

/* The failure's size is that of a place, which *places has in any case. */
int places_open(struct places *places, struct rpma_peer *peer, const char *device, const char *spec,
		const struct target_cfg *cfg, bool direct_write_to_pmem);
void places_close(struct places *places);

/* -1: all are taken. */
int places_take(struct places *places);
void places_give(struct places *places, int place);

#endif /* PLACE_H */
