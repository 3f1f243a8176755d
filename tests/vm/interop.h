/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interop.h -- the cases of interop.c: a connection each, with a part for the
 * client and one for the server, which checks what the client's part did.
 */
#pragma once

#include "session.h"

#define INTEROP_REGION_BYTES  ((size_t)16384)
#define INTEROP_MESSAGE_BYTES ((size_t)64)
#define INTEROP_IMM	      UINT32_C(0x12345678)

/* The parts of either side's region. */
enum {
	INTEROP_INBOX = 0,
	INTEROP_OUTBOX = 1024,
	INTEROP_WRITTEN = 4096,
	INTEROP_READABLE = 8192,
	INTEROP_SCRATCH = 12288,
};

/* One side of a connection. */
struct interop_side {
	char *memory;
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote; /* client only */
	struct rpma_peer_cfg *pcfg;    /* client only */
	struct rpma_srq *srq;
	struct rpma_conn *conn;
	bool shared_channel;
	/* On a CQ of both kinds the answer may come before our own completion. */
	struct ibv_wc early;
	bool has_early;
};

/* How the receives of a case complete, on either side. */
enum interop_receive {
	INTEROP_MAIN_CQ,
	INTEROP_OWN_RCQ,
	INTEROP_SRQ, /* the server's; the client has its own RCQ */
	INTEROP_SHARED_CHANNEL,
};

struct interop_case {
	const char *name;
	enum interop_receive receive;
	void (*client)(struct interop_side *side);
	/* called with the completion of the client's message */
	void (*server)(struct interop_side *side, const struct ibv_wc *wc);
};

extern const struct interop_case interop_cases[];
extern const size_t interop_case_count;

/* The next completion of a send-side operation, which has to be a success. */
struct ibv_wc interop_sent(struct interop_side *side);
/* The next receive, which has to be a success. */
struct ibv_wc interop_received(struct interop_side *side);
/* The byte at OFFSET of a region before a case: no two bytes in a row alike. */
char interop_pattern(size_t offset);
