/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.h -- the objects a test starts with.
 *
 * A setup builds the ones its tests need, all in one global `w`, so that a test
 * is little more than the call it is about. The teardown deletes what is left,
 * in the order users would, and fails the test if the provider counts a leak.
 */
#pragma once

#include "calls.h"
#include "harness.h"
#include "provider.h"

#define REGION_SIZE 4096
#define ALL_USAGES  0xff

struct world {
	struct rpma_peer *peer;
	struct rpma_peer_cfg *pcfg;
	struct rpma_mr_local *mr;      /* `region`, for every usage */
	struct rpma_mr_remote *remote; /* what the other side would see of it */
	struct rpma_conn_cfg *cfg;
	struct rpma_srq_cfg *srq_cfg;
	struct rpma_srq *srq;
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_cq *cq; /* conn's */
};

extern struct world w;
extern char region[REGION_SIZE];

/* How many lines of each level the library logged since the setup. */
extern unsigned logged[RPMA_LOG_LEVEL_DEBUG + 1];

/* The last line of this level has these words. */
void expect_logged(enum rpma_log_level level, const char *words);

/* A setup: what another one does, and these statements. */
#define SETUP(name, first, ...) static SHARED_SETUP(name, first, __VA_ARGS__)
#define SHARED_SETUP(name, first, ...)                                                             \
	int name(void **unused)                                                                    \
	{                                                                                          \
		first(unused);                                                                     \
		__VA_ARGS__;                                                                       \
		return 0;                                                                          \
	}

int setup_nothing(void **unused);
void setup_device(uint64_t caps);     /* nothing but a device that is native in this */
int setup_peer(void **unused);	      /* + peer */
int setup_mr(void **unused);	      /* + peer, mr, remote */
int setup_cfg(void **unused);	      /* + peer, mr, remote, cfg */
int setup_req(void **unused);	      /* + active request with cfg (default values) */
int setup_conn(void **unused);	      /* + active connection */
int setup_shared_cfg(void **unused);  /* + peer, mr, cfg: a receive CQ, one channel for both */
int setup_shared_req(void **unused);  /* + active request */
int setup_shared_conn(void **unused); /* + active connection */
int setup_ep(void **unused);	      /* + peer, listening endpoint */
int setup_incoming(void **unused);    /* + passive request */
int setup_accepted(void **unused);    /* + passive connection */
int teardown(void **unused);

/* Steps the setups are made of; each fails the test if it does not succeed. */
void make_peer(void);
void make_mr(void);
void make_cfg(void);
void make_srq(uint32_t rcq_size);
void make_req(void);
void make_conn(void);
void make_ep(void);
void make_incoming(void);

/* A descriptor of a remote region: 21 bytes as every librpma since 0.9 makes them. */
#define DESCRIPTOR_SIZE 21
void write_descriptor(unsigned char *desc, uint64_t addr, uint64_t len, uint32_t rkey, int usage);

/* The reference, not ours, is known to leave `count` of these alive: forgive it, once. */
#define reference_leaks(what, count, reason)                                                       \
	do {                                                                                       \
		if (on_reference()) {                                                              \
			assert_true(provider.live.what >= (count));                                \
			provider.live.what -= (count);                                             \
		}                                                                                  \
	} while (0)
