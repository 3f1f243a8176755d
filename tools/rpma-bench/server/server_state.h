/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server_state.h -- what all sessions of a server share: the memory it exports, and how
 * much its clients may make it allocate together.
 */
#pragma once

#include <jansson.h>
#include <librpma.h>
#include <stdbool.h>

#include "common/host/clock.h"
#include "common/host/sysroot.h"
#include "common/host/topology.h"
#include "common/rdma/region.h"
#include "common/rdma/service.h"
#include "common/rdma/target.h"
#include "tools/rpma-bench/protocol/message.h"

/* A target, registered, and what a client is told of it. */
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
json_t *regions_readiness(const struct exported_region *regions, size_t count, const char *device);

#define SERVER_SESSIONS_MAX 256
#define SERVER_QPS_MAX	    2048
#define SERVER_BUFFERS_MAX  (4ULL << 30)

/* The limits that the servers on all addresses share. */
struct server_budget {
	pthread_mutex_t lock;
	/* under lock */
	uint32_t qps;
	uint64_t buffer_bytes;
	unsigned users[PARAMS_TARGETS_MAX]; /* repeats at work on each target */
};

struct server_state {
	struct service service;
	struct service *main;	      /* ends the program when it stops; borrowed */
	struct server_budget *budget; /* borrowed */
	struct exported_region regions[PARAMS_TARGETS_MAX];
	size_t regions_count;
	bool direct_write_to_pmem; /* what the operator stated */
	bool once;		   /* ends with the first client that began a run */
	bool owned;		   /* started by the only client it is for */
	bool owns_targets;	   /* the memory, else that of another address */
	bool owns_regions;	   /* its registrations, likewise */
	char *environment;	   /* JSON text */
	struct topology *topology; /* NULL: unknown */
	const char *pin;	   /* borrowed; the operator's --pin */
	uint32_t cores_taken;	   /* by others of this run */
	/* under the lock of the service */
	bool clock_started;
	struct clock clock; /* once started it is only read */
};

/* One repeat's share; taken before it begins, given back at its end. */
struct server_share {
	uint32_t qps;
	uint64_t buffer_bytes;
	uint32_t target;
};

/* All but the service; no session may be left. */
void server_destroy(struct server_state *server);

/* False: the server has no more to give; nothing is taken then. */
bool server_take(struct server_state *server, const struct server_share *share);
void server_give(struct server_state *server, const struct server_share *share);
/* Is another repeat at work on the same target? */
bool server_target_shared(struct server_state *server, uint32_t target);

/* Calibrated when it is first asked for. */
const struct clock *server_clock(struct server_state *server);

/* Welcomes the client and serves it until it has left. As service.serve; server is a struct
 * server_state. */
void session_serve(void *server, struct service_client *client);
