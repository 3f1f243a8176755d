/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm.h -- connections by the RDMA CM, both ends in this thread: each end has an
 * event channel of its own, and a test takes its events one by one.
 */
#pragma once

#include "device_test.h"

/* The limits of IBA's REQ (less what RDMA CM needs itself), REP and REJ. */
#define REQ_DATA  56
#define REP_DATA  196
#define REJ_DATA  148

#define CM_MEMORY 4096

/* A copy of an event, which is acknowledged. */
struct cm_event {
	enum rdma_cm_event_type type;
	int status;
	struct rdma_cm_id *id;
	struct rdma_cm_id *listen_id;
	struct rdma_conn_param conn; /* private_data points nowhere */
	unsigned char private_data[256];
};

struct cm_end {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	unsigned char memory[CM_MEMORY];
};

struct cm {
	struct cm_end client, server;
	struct rdma_cm_id *listener; /* on the server's channel */
	uint16_t port;
};

extern struct cm cm;

int setup_cm(void **unused);	  /* channels, client id, listener */
int setup_cm_pair(void **unused); /* + connected, memory registered */
int teardown_cm(void **unused);	  /* takes what is there */

#define CM_TEST(name)	   TEST(name, setup_cm, teardown_cm)
#define CM_PAIR_TEST(name) TEST(name, setup_cm_pair, teardown_cm)

/* A listener at a free port of ADDR. */
struct rdma_cm_id *cm_listen(struct rdma_event_channel *channel, const char *addr, int backlog);
/* The next event; cm_expect(): it has this type and went well. */
struct cm_event cm_next(struct rdma_event_channel *channel);
struct cm_event cm_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
void cm_expect_nothing(struct rdma_event_channel *channel);

struct rdma_cm_id *cm_id(struct rdma_event_channel *channel);
void cm_resolve(struct rdma_cm_id *id, const char *addr, uint16_t port);
void cm_make_qp(struct rdma_cm_id *id);
/* Parameters with this private data. */
struct rdma_conn_param cm_param(const void *data, size_t size);
/* Resolve, make a QP and send the request for a connection. */
void cm_connect(struct rdma_cm_id *id, const struct rdma_conn_param *param);
/* Take a request off the listener; accept it with a QP. */
struct cm_event cm_take_request(void);
void cm_accept(struct rdma_cm_id *id, const struct rdma_conn_param *param);
/* All steps with ADDR's listener. */
void cm_make_pair(const char *addr);
/* A message goes from FROM to TO. */
void cm_send_works(struct cm_end *from, struct cm_end *to);
void cm_post_recv(struct cm_end *end, uint64_t wr_id);
