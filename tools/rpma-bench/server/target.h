/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target.h -- one piece of memory that a server exposes: mapped, registered and
 * described, once for all clients.
 */
#ifndef BENCH_SERVER_TARGET_H
#define BENCH_SERVER_TARGET_H

#include <jansson.h>
#include <librpma.h>
#include <stdbool.h>

#include "common/host/sysroot.h"
#include "common/rdma/region.h"
#include "common/rdma/target.h"
#include "tools/rpma-bench/protocol/message.h"

struct offered_target {
	struct target target;
	struct region region;
	struct message_target description;
};

/* Where targets are offered. */
struct target_context {
	struct rpma_peer *peer;
	const char *device;
	bool odp_capable; /* the device is */
	bool direct_write_to_pmem;
};

/* Makes the region and the description of a target that is open; spec names it in a failure. */
int offered_target_register(struct offered_target *offer, const struct target_context *server,
			    const char *spec);

/* The readiness of this platform for each offer, rpma-ddio-check/1; null: cannot be told. */
json_t *offers_readiness(const struct offered_target *offers, size_t count,
			 const struct sysroot *root, const char *device);

#endif /* BENCH_SERVER_TARGET_H */
