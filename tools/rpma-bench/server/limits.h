/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limits.h -- what all sessions of a server share: the memory it offers, whom it
 * takes, and how much its clients may make it allocate together.
 */
#ifndef BENCH_SERVER_LIMITS_H
#define BENCH_SERVER_LIMITS_H

#include <pthread.h>
#include <stdbool.h>

#include "target.h"
#include "tools/common/base/clock.h"
#include "tools/common/host/topology.h"
#include "tools/common/rdma/allow.h"
#include "tools/common/rdma/handshake.h"
#include "tools/common/rdma/resolve.h"

#define HOST_SESSIONS_MAX 256
#define HOST_LANES_MAX	  2048
#define HOST_BUFFERS_MAX  (4ULL << 30)

struct host {
	struct rpma_peer *peer;
	struct offer offers[PARAMS_TARGETS_MAX];
	size_t offers_count;
	bool direct_write_to_pmem;	   /* what the operator stated */
	char address[RESOLVE_ADDRESS_MAX]; /* where it listens */
	char device[64];
	const struct allow *allow; /* borrowed */
	char *environment;	   /* JSON text */
	struct topology *topology; /* NULL: unknown */
	const char *pin;	   /* borrowed; what the operator says of threads */
	uint32_t cores_taken;	   /* by others of this run */
	bool quiet;
	int stop_fd;  /* readable: every session is to end */
	int ended_fd; /* readable once a client that was welcome has left */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under lock */
	unsigned sessions;
	uint32_t lanes;
	uint64_t buffer_bytes;
	unsigned users[PARAMS_TARGETS_MAX]; /* repeats at work on each target */
	bool clock_started;
	struct clock clock; /* once started it is only read */
};

/* Of one repeat; taken before it begins, given back at its end. */
struct host_share {
	uint32_t lanes;
	uint64_t buffer_bytes;
	uint32_t target;
};

int host_init(struct host *host);
/* No session may be left. */
void host_destroy(struct host *host);

/* False: the server has no more to give; nothing is taken then. */
bool host_take(struct host *host, const struct host_share *share);
void host_give(struct host *host, const struct host_share *share);
/* Is another repeat at work on the same target? */
bool host_target_shared(struct host *host, uint32_t target);

/* Calibrated when it is first asked for. */
const struct clock *host_clock(struct host *host);

/* Does it take connections from whom this request came from? */
bool host_allows(const struct host *host, const struct rpma_conn_req *req);

/* Says on stderr why a client was turned away, or what became of it. */
void host_say(const struct host *host, const char *what);

#endif /* BENCH_SERVER_LIMITS_H */
