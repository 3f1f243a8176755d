/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_parts.h -- requests to the target of a send queue, of which a part is executed at a time; for
 * sq_adversary.c. The target's segment is mapped; callers hold sq.lock.
 */
#pragma once

#include "soft_device/transport/pieces.h"
#include "sq.h"

/*
 * Executes the part of a write or a message that the pieces are, or the rest. The checks of a write
 * are made each time, and those of a message by the rest, which takes the receive. Other requests
 * have one part.
 */
struct outcome sq_parts_execute(struct send_queue *sq, const struct request *request,
				struct local_memory *local, struct pieces *pieces);
/* Reads the pieces, if that can be done without a change of the target's state. */
bool sq_parts_read(const struct send_queue *sq, const struct request *request,
		   struct pieces *pieces);

static inline bool sq_parts_is_rest(const struct pieces *pieces)
{
	return pieces->last + 1 == pieces->groups;
}
