/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.h -- the ranks, and all that they say to each other.
 *
 * Every wait has a limit: a rank that does not come is named by rank 0, the
 * others are told, and all end. Only the main thread calls these.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/failure.h"

#define WORLD_HOST_MAX 256

struct world {
	int rank;
	int size;
	int *below;		       /* ranks of this host that come before it; owned */
	int below_count;	       /* those that share cores with it */
	char (*hosts)[WORLD_HOST_MAX]; /* name of each rank's host; owned */
	struct meeting *meeting;       /* rank 0's: who came; owned */
	uint64_t limit_ns;	       /* limit of a wait for all */
	bool lost;		       /* a rank did not come: no more talk, no good end, */
	struct failure failure;	       /* and this is who */
};

/* A rank sends this when it comes, and gets it. */
struct world_word {
	enum { WORLD_GO, WORLD_DONE, WORLD_OVER } kind;
	int signal; /* over by it; 0: by the failure */
	struct failure failure;
};

/* Before MPI has started: is this rank 0, according to its launcher? */
bool world_is_first(void);

/* Keeps MPI away from RDMA devices, unless the user said otherwise; before it starts. */
void world_choose_transports(void);

/* -EIO with the error message set. */
int world_open(struct world *world);
/* Ends MPI; where a rank was lost, all processes with that code. */
void world_close(struct world *world, int code);

/*
 * Waits for all ranks. *word, in: the state of this rank; out: the agreed one, which is
 * that of the first rank that is over, or else rank 0's.
 */
void world_meet(struct world *world, struct world_word *word);

/* The tight end of a meeting: all leave it at nearly the same time. */
void world_begin(struct world *world);

/* Rank 0's bytes to all; those of all to all. -EIO with the error message set. */
int world_tell(struct world *world, void *bytes, size_t length);
int world_exchange(struct world *world, const void *mine, void *all, size_t length);

/* Every rank's text to rank 0, there an array of their JSON; NULL elsewhere, and on failure. */
json_t *world_collect(struct world *world, const json_t *mine);

/* The "mpi" of the schema, but for its shape. */
json_t *world_json(const struct world *world);
