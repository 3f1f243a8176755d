/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp.h -- one connection as a measuring thread uses it: queues, memory on
 * both ends, and the operations in flight.
 *
 * All completions of a queue pair, of its sends and of its receives, arrive in one
 * queue. Operations of one kind finish in the order of their posts.
 */
#pragma once

#include <librpma.h>
#include <stdint.h>

#include "common/rdma/connection.h"
#include "offsets.h"
#include "tools/rpma-bench/protocol/params.h"

struct remote_pool; /* remote_pool.h */

struct qp {
	struct connection *connection; /* owned; carries no messages */
	struct rpma_conn *conn;	       /* the connection's */
	struct rpma_cq *cq;	       /* the connection's */
	int cq_fd;
	uint32_t index; /* among all queue pairs of the run */

	struct rpma_mr_local *source;  /* borrowed: what is written or sent from */
	struct rpma_mr_local *sink;    /* borrowed: where reads and echoes arrive */
	uint64_t sink_offset;	       /* where this queue pair's part of the sink begins */
	uint64_t sink_stride;	       /* from slot to slot in it; 0: all share one */
	struct rpma_mr_remote *remote; /* owned */
	uint64_t remote_addr;	       /* where it is in the server */
	uint64_t source_offset;	       /* where this queue pair's part of the source begins */
	struct access access;	       /* where writes go */
	struct access reads;	       /* where reads come from; of an order of its own in a mix */
	uint64_t touched;    /* operations that took a slot of access, of all measurements */
	uint64_t size_bytes; /* with a mix, the last operation's */
	const uint32_t
		*sizes; /* with a mix, SIZE_MIX_DRAWS, gone through over and over; else NULL */
	uint32_t next_size;
	uint64_t bytes; /* with a mix, posted since the measurement began */
	int leading;	/* flags of what an operation posts before its last work request */
	int inlined;	/* RPMA_F_INLINE if its writes and messages are posted inline, else 0 */
	enum rpma_flush_type flush_type;
	struct rpma_mr_local *notes; /* borrowed: OPERATION_NOTE_BYTES a slot; NULL without */
	uint64_t notes_offset;
	const struct remote_pool *pool; /* borrowed: where calls of librpmem go; NULL without */
};

struct operation; /* operation.h */

/* The queues for what is in flight at such a point; reads: of a mix, else NULL. */
struct connection_queues qp_queues(const struct operation *operation, const struct operation *reads,
				   const struct params *params);

/* Such operations were measured, and all of them are done: region_mark_durable(). */
void qp_mark_durable(const struct qp *qp, const struct operation *operation);
