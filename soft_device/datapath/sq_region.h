/* SPDX-License-Identifier: BSD-3-Clause */
/* sq_region.h -- a memory region in a finding of `rpma-soft --check`. */
#pragma once

#include <sys/types.h>

#include "soft_device/check/objects.h"
#include "soft_device/transport/wire.h"
#include "sq.h"

/* A region, as far as it is known here. */
struct sq_region {
	bool is_known;
	bool is_window;
	pid_t pid;
	struct object object;
	const struct wire_region *told; /* by its process, over TCP, with places; NULL: not */
};

/* Sets the region that the other end has described, for the calling thread; NULL: none again. */
void sq_region_told(const struct wire_region *region);

/* The peer is this process. */
bool sq_is_own_process(const struct send_queue *sq);
/* A region of this process; and of the one at the other end, which may be this one. */
struct sq_region sq_own_region(uint32_t key);
struct sq_region sq_target_region(const struct send_queue *sq, uint32_t key);
/* The other end has a region with this key now. */
bool sq_region_is_live(const struct send_queue *sq, uint32_t key);

/* Its range, rights and places, as lines of the finding; nothing of one that is unknown. */
void sq_region_put(struct check_finding *finding, const char *name, const struct sq_region *region);
/* "ends 8 bytes behind" the region, or "begins 8 bytes before" it. */
void sq_region_put_distance(const struct object *region, uint64_t addr, uint64_t length,
			    char text[CHECK_TEXT_BYTES]);
