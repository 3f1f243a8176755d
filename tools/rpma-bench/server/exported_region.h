/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exported_region.h -- one piece of memory that a server exports: mapped, registered and
 * described, once for all clients.
 */
#ifndef BENCH_SERVER_EXPORTED_REGION_H
#define BENCH_SERVER_EXPORTED_REGION_H

#include <jansson.h>
#include <librpma.h>
#include <stdbool.h>

#include "common/host/sysroot.h"
#include "common/rdma/region.h"
#include "common/rdma/target.h"
#include "tools/rpma-bench/protocol/message.h"

struct exported_region {
	struct target target;
	struct region region;
	struct message_target description;
};

/* The device and its options for all exported targets. */
struct target_context {
	struct rpma_peer *peer;
	const char *device;
	bool odp_capable; /* the device is */
	bool direct_write_to_pmem;
};

/* Makes the region and the description of a target that is open; spec names it in a failure. */
int exported_region_register(struct exported_region *exported, const struct target_context *server,
			     const char *spec);

/* The readiness of this platform for each region, rpma-ddio-check/1; null: cannot be told. */
json_t *regions_readiness(const struct exported_region *regions, size_t count,
			  const struct sysroot *root, const char *device);

#endif /* BENCH_SERVER_EXPORTED_REGION_H */
