/* SPDX-License-Identifier: BSD-3-Clause */
/* sq_ud.h -- the send queue of a UD QP: each request has its own destination. */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "sq.h"

/* An address handle: where its datagrams go. */
struct ah {
	struct ibv_ah ibv; /* first */
	union ibv_gid gid;
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint32_t generation;
};

struct sq_ud *sq_ud_new(void);	     /* NULL: no memory */
void sq_ud_delete(struct sq_ud *ud); /* no lock held; NULL is fine */
/*
 * Waits, but not for long, until what was posted is sent: a NIC would have sent it by now, and some
 * programs (mckey) leave without asking. No lock held.
 */
void sq_ud_drain(struct send_queue *sq);
void sq_ud_unlink(struct send_queue *sq); /* lets all peers go; no lock held */

/* The destination of a request; false: it names none. */
bool sq_ud_take_to(const struct ibv_send_wr *wr, struct send_work *work);
void sq_ud_set_to(struct send_work *work, const struct ibv_ah *ah, uint32_t qpn, uint32_t qkey);

/*
 * Sends the next slot: executes it, or hands it to its peer over TCP. False: the queue has to wait,
 * for the peer to be found, an answer or room. Callers hold sq.lock.
 */
bool sq_ud_send(struct send_queue *sq, struct send_slot *slot);
/* This peer is gone: what it has not answered is lost. Callers hold sq.lock. */
void sq_ud_peer_gone(struct send_queue *sq, const struct peer *peer);
