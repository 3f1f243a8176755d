/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.h -- rpma-ping --server, and its memory, in slots of one size: each connection has one
 * to itself, so clients do not disturb each other. It is not a wall against a hostile
 * one: the registration of a slot outlives the client it was told to.
 */
#pragma once

#include "common/rdma/region.h"
#include "common/rdma/target.h"
#include "options.h"

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

/* -1: all are taken. */
int slots_take(struct slots *slots);
void slots_release(struct slots *slots, int slot);

/* Serves until a signal; gives the exit code. */
int server_run(const struct options *options);
