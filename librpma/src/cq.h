/* SPDX-License-Identifier: BSD-3-Clause */
/* cq.h -- a completion queue and the channel its events come through. */
#pragma once

#include "sendq.h"

struct rpma_cq {
	struct ibv_cq *ibv_cq;
	struct ibv_comp_channel *channel;
	bool channel_shared;	  /* and then the connection's, not ours */
	struct rpma_sendq *sendq; /* whose completions are counted here; NULL: none, or several */
	struct rpma_cq_conns *conns; /* those of a queue by rpma_cq_new(), or NULL */
	_Atomic unsigned unacked;    /* events that were taken and not acknowledged yet */
	atomic_bool solicited_only;  /* what it is armed for, see rpma_cq_arm() */
};

/*
 * Create a completion queue, armed for every completion, on shared_channel or,
 * if that is NULL, on a channel of its own. RPMA_E_NOMEM or RPMA_E_PROVIDER.
 */
int rpma_cq_open(struct ibv_context *ibv_ctx, uint32_t size, int vector,
		 struct ibv_comp_channel *shared_channel, struct rpma_cq **cq_ptr);

/* Events come after count completions or us microseconds; both 0: as they come. */
int rpma_cq_moderate(struct rpma_cq *cq, uint32_t count, uint32_t us);

/* Takes a pointer to NULL. The queue is gone even when RPMA_E_PROVIDER is returned. */
int rpma_cq_close(struct rpma_cq **cq_ptr);

/* cq_conns.c: the connections of a queue that rpma_cq_new() made. */
struct rpma_conn;
extern struct rpma_sendq rpma_sendq_of_many;

/* Entries for the completions of a connection. RPMA_E_INVAL: not so many are left. */
int rpma_cq_reserve(struct rpma_cq *cq, uint32_t entries);
void rpma_cq_release(struct rpma_cq *cq, uint32_t entries);

/* The connection has its queue pair, or loses it. */
void rpma_cq_join(struct rpma_cq *cq, uint32_t qp_num, struct rpma_conn *conn);
void rpma_cq_leave(struct rpma_cq *cq, uint32_t qp_num);

/* Do what rpma_sendq_fetched() and rpma_sendq_prospect() do, for all connections. */
int rpma_cq_conns_fetched(const struct rpma_cq *cq, struct ibv_wc *wc, int count);
enum rpma_prospect rpma_cq_conns_prospect(const struct rpma_cq *cq);

/* For the same completions as before, when an event was taken. RPMA_E_PROVIDER. */
int rpma_cq_arm_again(struct rpma_cq *cq);

/* Acknowledges an event that was taken of this queue, or many at once: that takes a mutex. */
void rpma_cq_ack_event(struct rpma_cq *cq);

/* A receive queue that several connections feed from. */
struct rpma_srq {
	struct ibv_srq *ibv_srq;
	uint32_t size;	     /* receives that it holds */
	struct rpma_cq *rcq; /* owned; NULL: its messages complete on the connections' queues */
};
