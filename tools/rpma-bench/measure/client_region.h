/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client_region.h -- memory that the client of a bidirectional repeat lets its
 * server write to and read from.
 */
#ifndef BENCH_MEASURE_CLIENT_REGION_H
#define BENCH_MEASURE_CLIENT_REGION_H

#include "tools/common/rdma/region.h"
#include "tools/rpma-bench/protocol/message.h"

struct exposed {
	void *bytes;
	size_t size_bytes;
	struct region region;
};

/*
 * Makes as much as all lanes need, and at most as much as the target has;
 * describes it in begin, whose params are set.
 */
int exposed_make(struct exposed *exposed, struct rpma_peer *peer, const char *device,
		 uint64_t target_bytes, struct message_begin *begin);
/* What was never made is fine if it is zero. */
void exposed_free(struct exposed *exposed);

#endif /* BENCH_MEASURE_CLIENT_REGION_H */
