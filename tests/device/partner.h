/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partner.h -- the far end of a pair as one that obeys orders. In the same
 * process partner_obey() is called; in another one (this very program, started
 * with --partner FD) orders and answers go over a socket, one a packet.
 */
#pragma once

#include "end.h"

enum partner_verb {
	PARTNER_OPEN,	 /* options -> address; the memory is descriptor MEMORY_FD */
	PARTNER_CONNECT, /* peer; to RTS */
	PARTNER_RECV,	 /* wr_id, offset, length */
	PARTNER_SEND,	 /* wr_id, offset, length, solicited */
	PARTNER_WC,	 /* -> wc */
	PARTNER_NO_WC,
	PARTNER_REG,	       /* offset, length, access -> rkey */
	PARTNER_DEREG,	       /* the last one registered; the first if there is no other */
	PARTNER_STATE,	       /* -> state */
	PARTNER_ASYNC,	       /* event */
	PARTNER_MW_BIND,       /* offset, length, access, mw_type -> rkey; its one window */
	PARTNER_MW_INVALIDATE, /* by itself, its window */
	PARTNER_MW_DEALLOC,
	PARTNER_TO_ERROR,
	PARTNER_DESTROY_QP,
	PARTNER_CM_LISTEN,  /* -> port */
	PARTNER_CM_ACCEPT,  /* the next request */
	PARTNER_CM_CONNECT, /* port */
	PARTNER_CM_EVENT,   /* cm_event, at the end that accepted or connected */
	PARTNER_CLOSE,
};

struct partner_order {
	enum partner_verb verb;
	struct end_options options;
	struct end_address peer;
	uint64_t wr_id;
	size_t offset;
	size_t length;
	int access;
	bool solicited;
	enum ibv_event_type event;
	enum ibv_mw_type mw_type;
	enum rdma_cm_event_type cm_event;
	uint16_t port;
};

struct partner_answer {
	struct end_address address;
	struct ibv_wc wc;
	uint32_t rkey;
	enum ibv_qp_state state;
	uint16_t port;
};

struct partner {
	struct end end;
	int memory_fd; /* -1: memory of its own */
	struct ibv_mr *extra;
	struct ibv_mw *mw;
};

void partner_obey(struct partner *partner, const struct partner_order *order,
		  struct partner_answer *answer);
/* The partner program: until the socket is closed. */
int partner_serve(int fd);
