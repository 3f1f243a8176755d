/* SPDX-License-Identifier: BSD-3-Clause */
/* conn_cfg.h -- what a configuration asks of a connection, read once when it is made. */
#pragma once

#include <librpma.h>
#include <stdatomic.h>

enum { RPMA_CONN_OPTIONS = RPMA_CONN_OPT_CONNECT_MS + 1 };

extern const uint32_t rpma_conn_option_defaults[RPMA_CONN_OPTIONS];

struct rpma_conn_cfg {
	_Atomic int timeout_ms;		/* to resolve the address, and again for the route */
	atomic_bool shared_channel;	/* one channel for both queues */
	_Atomic(struct rpma_srq *) srq; /* borrowed */
	_Atomic(struct rpma_cq *) cq;	/* borrowed; NULL: each connection has its own */
	atomic_bool sizes_sq; /* RPMA_CONN_OPT_SQ_SIZE is set: operations are counted unless told
				 not to */
	_Atomic uint32_t options[RPMA_CONN_OPTIONS];
};

/* Fills it with what a NULL configuration stands for. */
void rpma_conn_cfg_init(struct rpma_conn_cfg *cfg);
