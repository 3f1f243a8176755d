/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane_rdma.h -- what the two files of lanes over RDMA share: lane_rdma.c connects,
 * lane_rdma_work.c posts work and waits for it.
 */
#pragma once

#include "common/rdma/dial.h"
#include "common/rdma/region.h"
#include "lane_private.h"

#define RDMA_SLOT_BYTES	  8256 /* a request with its data, in whole cache lines */
#define RDMA_ANSWER_BYTES 64
/* requests, then answers */
#define RDMA_ANSWERS_AT	   ((size_t)LANE_SLOTS * RDMA_SLOT_BYTES)
#define RDMA_MESSAGE_BYTES (RDMA_ANSWERS_AT + (size_t)LANE_SLOTS * RDMA_ANSWER_BYTES)
#define RDMA_BOUNCE_BYTES  ((size_t)256 << 10)
#define RDMA_RECEIVE	   ((uint64_t)1 << 63) /* in a wr_id: a receive, and its number */
#define RDMA_SPINS_MAX	   2000		       /* polls of an empty queue before a thread sleeps */

_Static_assert(RDMA_SLOT_BYTES >= LANE_REQUEST_BYTES + LANE_DATA_MAX, "room for a request");

/* Shared by all lanes; read-only once it is open. */
struct rdma_device {
	struct dial dial;
	struct rpma_mr_local *mr; /* the local pool */
	struct connection_queues queues;
	uint32_t writes_max; /* under way in a lane */
	uint32_t stride;     /* every Nth is signalled */
};

struct rdma_lane {
	struct connection *connection;
	struct rpma_conn *conn; /* borrowed from connection, as cq is */
	struct rpma_cq *cq;
	int cq_fd;
	unsigned spins;
	struct region_remote remote;
	int before_flush;	   /* flags of a write that a flush follows at once */
	uint64_t posted;	   /* number of the last work request */
	uint64_t signalled;	   /* the last signalled one */
	uint64_t reaped;	   /* all up to this one are complete */
	enum ibv_wc_opcode last;   /* opcode of that completion */
	uint64_t sent[LANE_SLOTS]; /* number of the send that read the slot last */
	unsigned char *messages;   /* requests, then answers */
	struct rpma_mr_local *messages_mr;
	struct lane_answer answers[LANE_SLOTS]; /* arrived, not yet taken */
	unsigned answers_first, answers_count;
	unsigned char *bounce; /* NULL: not needed so far */
	struct rpma_mr_local *bounce_mr;
};

/* The functions of struct lane_transport. */
int rdma_write(struct lane *lane, size_t offset, size_t length);
int rdma_flush(struct lane *lane, const struct lane_span *range, bool wait);
int rdma_persist(struct lane *lane, size_t offset, size_t length);
int rdma_request(struct lane *lane, const struct lane_request *request, const void *data);
int rdma_answer(struct lane *lane, struct lane_answer *answer);
int rdma_read(struct lane *lane, void *buffer, size_t offset, size_t length);
