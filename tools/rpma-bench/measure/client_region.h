/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client_region.h -- memory that the client of a bidirectional repeat lets its
 * server write to and read from.
 */
#ifndef BENCH_MEASURE_CLIENT_REGION_H
#define BENCH_MEASURE_CLIENT_REGION_H

#include "common/rdma/region.h"
#include "tools/rpma-bench/protocol/message.h"

struct client_region {
	void *bytes;
	size_t size_bytes;
	struct region region;
};

/* Enough for all queue pairs, else at most 64 MiB and the size of the target. */
size_t client_region_bytes(const struct params *params, uint64_t target_bytes);

/*
 * Makes as much as all queue pairs need, and at most as much as the target has;
 * describes it in begin, whose params are set.
 */
int client_region_make(struct client_region *client_region, struct rpma_peer *peer,
		       const char *device, uint64_t target_bytes, struct message_begin *begin);
/* A region that was never made is fine if it is zero. */
void client_region_free(struct client_region *client_region);

#endif /* BENCH_MEASURE_CLIENT_REGION_H */
