/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * work.h -- work requests as the data path builds them: on the stack, of one
 * scatter/gather element at most, without a call.
 *
 * Only the fields that the verb reads are written.
 */
#pragma once

#include "conn.h"
#include "log.h"

struct rpma_send_work {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

struct rpma_recv_work {
	struct ibv_recv_wr wr;
	struct ibv_sge sge;
};

/* Verbs count the bytes of an element in 32 bits. */
static inline bool rpma_len_fits(size_t len)
{
	return len <= UINT32_MAX;
}

static inline void rpma_sge_init(struct ibv_sge *sge, const struct rpma_mr_local *mr, size_t offset,
				 size_t len)
{
	sge->addr = mr->addr + offset;
	sge->length = (uint32_t)len;
	sge->lkey = mr->lkey;
}

/* False: neither memory nor the empty message (NULL, 0, 0), or too long. */
static inline bool rpma_recv_work_init(struct rpma_recv_work *work, const struct rpma_mr_local *dst,
				       size_t offset, size_t len, const void *op_context)
{
	work->wr.wr_id = (uint64_t)(uintptr_t)op_context;
	work->wr.next = NULL;
	work->wr.sg_list = &work->sge;
	if (dst == NULL) {
		work->wr.num_sge = 0;
		return offset == 0 && len == 0;
	}
	work->wr.num_sge = 1;
	rpma_sge_init(&work->sge, dst, offset, len);
	return rpma_len_fits(len);
}

/* Only the completion flag "always" asks for more than errors. */
static inline unsigned rpma_send_flags(int flags)
{
	return flags & (RPMA_F_COMPLETION_ALWAYS & ~RPMA_F_COMPLETION_ON_ERROR) ? IBV_SEND_SIGNALED
										: 0;
}

/* RPMA_F_SOLICITED and RPMA_F_INLINE are the bits of verbs, further up. */
enum { RPMA_F_SHIFT = 16 };
_Static_assert(RPMA_F_SOLICITED >> RPMA_F_SHIFT == IBV_SEND_SOLICITED, "a bit of verbs");
_Static_assert(RPMA_F_INLINE >> RPMA_F_SHIFT == IBV_SEND_INLINE, "a bit of verbs");

static inline void rpma_send_wr_init(struct ibv_send_wr *wr, enum ibv_wr_opcode opcode, int num_sge,
				     int flags, const void *op_context)
{
	wr->wr_id = (uint64_t)(uintptr_t)op_context;
	wr->num_sge = num_sge;
	wr->opcode = opcode;
	wr->send_flags = rpma_send_flags(flags);
}

/* A list of one. */
static inline void rpma_send_wr_alone(struct ibv_send_wr *wr, struct ibv_sge *sges)
{
	wr->next = NULL;
	wr->sg_list = sges;
}

/* post.c: RPMA_E_PROVIDER, and in the log what could not be posted. */
int rpma_post_send_failed(const struct ibv_send_wr *wr, int err);
int rpma_post_recv_failed(const char *verb, const struct ibv_recv_wr *wr, int err);

/* flags are RPMA_F_COMPLETION_* alone, and the connection posts at once: the one test of all. */
static inline bool rpma_is_plain(const struct rpma_conn *conn, int flags)
{
	return __builtin_expect((unsigned)flags - 1 < conn->sendq.plain_flags, 1);
}

/* The flags must not be 0. */
static inline bool rpma_posts_at_once(const struct rpma_conn *conn, int flags)
{
	return !(flags & RPMA_F_MORE) && conn->sendq.plain_flags != 0;
}

static inline int rpma_post_now(struct rpma_conn *conn, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad_wr = wr;

	int err = ibv_post_send(conn->qp, wr, &bad_wr);
	if (__builtin_expect(err == 0, 1))
		return 0;

	return rpma_post_send_failed(bad_wr, err); /* the same, without a register to keep it */
}

/* post.c: an operation of no bytes, apart so that others save no registers for it. */
RPMA_APART int rpma_post_empty(struct rpma_conn *conn, enum ibv_wr_opcode opcode, uint32_t imm_data,
			       int flags, const void *op_context, const char *function);

/* Flags for operations that send bytes from here. */
enum { RPMA_F_DATA = RPMA_F_SOLICITED | RPMA_F_INLINE };

static inline bool rpma_sends_bytes(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
	       opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

/* post.c: RPMA_E_INVAL of the call with this name. */
__attribute__((cold)) int rpma_flags_refused(const char *function);
__attribute__((cold)) int rpma_inline_refused(const char *function, size_t len, uint32_t most);

/*
 * Posts it, or keeps it for later, for the call with this name. RPMA_E_INVAL: flags are 0, or have
 * RPMA_F_INLINE for too many bytes. RPMA_E_AGAIN: the queue is full.
 */
static __always_inline int rpma_post_send(struct rpma_conn *conn, struct ibv_send_wr *wr, int flags,
					  const char *function)
{
	if (!rpma_is_plain(conn, flags)) {
		if (flags == 0)
			return rpma_flags_refused(function);
		if ((flags & RPMA_F_DATA) && rpma_sends_bytes(wr->opcode))
			return rpma_sendq_post_data(conn, wr, flags, function);
		return rpma_sendq_post(conn, wr, flags);
	}
	return rpma_post_now(conn, wr);
}

static __always_inline int rpma_post_work(struct rpma_conn *conn, struct rpma_send_work *work,
					  int flags, const char *function)
{
	rpma_send_wr_alone(&work->wr, &work->sge);
	return rpma_post_send(conn, &work->wr, flags, function);
}

static inline int rpma_post_recv(struct rpma_conn *conn, struct rpma_recv_work *work)
{
	struct rpma_sendq *q = &conn->sendq;
	struct ibv_recv_wr *bad_wr;

	if (__builtin_expect(q->receives_max > 0, 0) && !rpma_sendq_take_receive(q))
		return RPMA_FAIL_CONSTANT(RPMA_E_AGAIN,
					  "RPMA_CONN_OPT_RQ_SIZE receives are posted, or their "
					  "completions not fetched yet");
	int err = ibv_post_recv(conn->qp, &work->wr, &bad_wr);
	if (__builtin_expect(err == 0, 1))
		return 0;

	if (q->receives_max > 0)
		atomic_fetch_sub_explicit(&q->receives, 1, memory_order_relaxed);
	return rpma_post_recv_failed("ibv_post_recv", &work->wr, err);
}
