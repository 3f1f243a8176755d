/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * end.h -- one end of a connection: a device, a protection domain, a completion
 * queue, registered memory and a queue pair, reliable connected unless its options
 * say otherwise, brought up with plain ibv_modify_qp(). pair.h makes two of them.
 */
#pragma once

#include "device_test.h"

#define END_MEMORY (64 * 1024)
#define END_ACCESS                                                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)

#define END_QKEY 0x1234567 /* that of UD QPs */

struct end_options {
	enum ibv_qp_type type;
	struct ibv_qp_cap cap;
	int sq_sig_all;
	int cqe;
	int rnr_retry;
	int retry_cnt;
	int timeout; /* 4.096 us * 2^timeout */
	int min_rnr_timer;
	int reads; /* outstanding, in each direction */
	enum ibv_mtu mtu;
	enum ibv_gid_type gid_type; /* the QP gets an index of this type */
	int mr_access;
	int qp_access;
	uint64_t send_ops; /* an extended QP's; 0: a plain one */
	/* an extended CQ like this, in place of a plain one of cqe entries; NULL: none */
	const struct ibv_cq_init_attr_ex *cq_ex;
	size_t memory_size;
};

/* How the other end reaches this one. */
struct end_address {
	union ibv_gid gid;
	uint32_t qp_num;
	uint32_t rkey;
	uint64_t memory;
};

struct end {
	struct ibv_context *context;
	union ibv_gid gid;
	int gid_index;
	struct end_options options;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel; /* cq's */
	struct ibv_cq *cq;		  /* for sends and receives */
	struct ibv_srq *srq;		  /* if set before end_open(), the QP takes it; borrowed */
	struct ibv_qp *qp;
	unsigned char *memory;
	struct ibv_mr *mr; /* memory's */
};

struct end_options end_defaults(void);
/* Memory is allocated, or that of MEMORY_FD if not -1; the QP is in INIT. */
void end_open(struct end *end, const struct end_options *options, int memory_fd);
struct end_address end_address(const struct end *end);
void end_to_init(struct end *end);
void end_to_rtr(struct end *end, const struct end_address *peer); /* UD: NULL */
void end_to_rts(struct end *end);
/* Its QP, from INIT to RTS, connected with a second one of the end: that, for the caller. */
struct ibv_qp *end_to_another(struct end *end);
void end_to_error(struct end *end);
/* A receive, of its SRQ if it has one. */
void end_recv(const struct end *end, uint64_t wr_id, size_t offset, size_t length);
/* A signaled send of the first bytes of its memory, by a queue pair of its domain. */
void end_send(const struct end *end, struct ibv_qp *qp, uint64_t wr_id, size_t length);
enum ibv_qp_state end_state(const struct end *end);
/* Its QP is in ERR, or soon: rxe tells of an error before it changes the state. */
void end_expect_error(const struct end *end);
/* Takes a half-opened end, too; fails the test when an object is not released. */
void end_close(struct end *end);

/* Make QP with the options of END, e.g. a second one on its queues. */
struct ibv_qp *end_make_qp(struct end *end);
