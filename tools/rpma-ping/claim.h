/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * claim.h -- whether a server's own readiness check supports what its operator states
 * of persistence. The verdict travels in the word of the reply.
 *
 * A fact that is missing or contradictory supports no claim.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/rdma/region.h"
#include "readiness/readiness.h"

/* The word for a row of the verdict's table; NULL: 0, nothing is told. */
uint64_t claim_encode(const struct verdict_row *row);
/* NULL: it tells nothing. */
const struct verdict_row *claim_decode(uint64_t word);

/* The verdict of this host on the target; NULL: there is none. */
const struct verdict_row *claim_inspect(const char *device, const char *target);

/*
 * Checks a server for --expect-persistent. A refusal is stored as a failure.
 * *native_only: it holds for the flush of the device alone, not for one by a read.
 */
int claim_check(const char *server, const struct region_remote *region, uint64_t word,
		bool *native_only);
