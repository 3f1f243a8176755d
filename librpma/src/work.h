/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * work.h -- work requests as the data path builds them: on the stack, of one
 * scatter/gather element at most, without a call.
 *
 * Only the fields that the verb reads are written.
 */
#ifndef RPMA_WORK_H
#define RPMA_WORK_H

#include "conn.h"
#include "log.h"

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

/* sge NULL: no bytes */
static inline void rpma_send_wr_init(struct ibv_send_wr *wr, enum ibv_wr_opcode opcode,
				     struct ibv_sge *sge, int flags, const void *op_context)
{
	wr->wr_id = (uint64_t)(uintptr_t)op_context;
	wr->next = NULL;
	wr->sg_list = sge;
	wr->num_sge = sge != NULL;
	wr->opcode = opcode;
	wr->send_flags = rpma_send_flags(flags);
}

/* post.c: RPMA_E_PROVIDER, and in the log what could not be posted. */
int rpma_post_send_failed(const struct ibv_send_wr *wr, int err);
int rpma_post_recv_failed(const char *verb, const struct ibv_recv_wr *wr, int err);

static inline int rpma_post_send(struct rpma_conn *conn, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad_wr;

	int err = ibv_post_send(conn->qp, wr, &bad_wr);
	if (__builtin_expect(err == 0, 1))
		return 0;

	return rpma_post_send_failed(wr, err);
}

static inline int rpma_post_recv(struct rpma_conn *conn, struct rpma_recv_work *work)
{
	struct ibv_recv_wr *bad_wr;

	int err = ibv_post_recv(conn->qp, &work->wr, &bad_wr);
	if (__builtin_expect(err == 0, 1))
		return 0;

	return rpma_post_recv_failed("ibv_post_recv", &work->wr, err);
}

#endif /* RPMA_WORK_H */
