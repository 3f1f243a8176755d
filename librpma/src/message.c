/* SPDX-License-Identifier: BSD-3-Clause */
/* message.c -- sends and receives: each call checks its arguments and posts one work request. */
#include "work.h"

#include <arpa/inet.h>

static RPMA_COLD int message_refused(const struct rpma_conn *conn, size_t offset, size_t len,
				     const char *function)
{
	if (conn == NULL)
		return RPMA_FAIL_NULL_OF(function, conn);
	rpma_err_set_range(function, offset, len);
	return RPMA_E_INVAL;
}

static int post_empty_message(struct rpma_conn *conn, const void *src, size_t offset, size_t len,
			      int flags, const void *op_context, enum ibv_wr_opcode opcode,
			      uint32_t imm_data, const char *function)
{
	struct ibv_send_wr wr;

	if (conn == NULL || src != NULL || offset != 0 || len != 0)
		return message_refused(conn, offset, len, function);

	rpma_send_wr_init(&wr, opcode, 0, flags, op_context);
	rpma_send_wr_alone(&wr, NULL);
	wr.imm_data = imm_data;
	return rpma_post_send(conn, &wr, flags, function);
}

static __always_inline int post_message(struct rpma_conn *conn, struct rpma_send_work *work,
					const struct rpma_mr_local *src, size_t offset, size_t len,
					int flags, const void *op_context, const char *function)
{
	rpma_sge_init(&work->sge, src, offset, len);
	rpma_send_wr_init(&work->wr, work->wr.opcode, 1, flags, op_context);
	rpma_send_wr_alone(&work->wr, &work->sge);
	return rpma_post_send(conn, &work->wr, flags, function);
}

static RPMA_APART int send_empty(struct rpma_conn *conn, const void *src, size_t offset, size_t len,
				 int flags, const void *op_context)
{
	return post_empty_message(conn, src, offset, len, flags, op_context, IBV_WR_SEND, 0,
				  "rpma_send");
}

int rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset, size_t len,
	      int flags, const void *op_context)
{
	struct rpma_send_work work;

	if (conn == NULL || src == NULL)
		return send_empty(conn, src, offset, len, flags, op_context);
	if (!rpma_len_fits(len))
		return message_refused(conn, offset, len, __func__);
	work.wr.opcode = IBV_WR_SEND;
	return post_message(conn, &work, src, offset, len, flags, op_context, __func__);
}

static RPMA_APART int send_with_imm_empty(struct rpma_conn *conn, const void *src, size_t offset,
					  size_t len, int flags, uint32_t imm,
					  const void *op_context)
{
	return post_empty_message(conn, src, offset, len, flags, op_context, IBV_WR_SEND_WITH_IMM,
				  htonl(imm), "rpma_send_with_imm");
}

int rpma_send_with_imm(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
		       size_t len, int flags, uint32_t imm, const void *op_context)
{
	struct rpma_send_work work;

	if (conn == NULL || src == NULL)
		return send_with_imm_empty(conn, src, offset, len, flags, imm, op_context);
	if (!rpma_len_fits(len))
		return message_refused(conn, offset, len, __func__);
	work.wr.opcode = IBV_WR_SEND_WITH_IMM;
	work.wr.imm_data = htonl(imm);
	return post_message(conn, &work, src, offset, len, flags, op_context, __func__);
}

int rpma_recv(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len,
	      const void *op_context)
{
	struct rpma_recv_work work;

	if (conn == NULL || !rpma_recv_work_init(&work, dst, offset, len, op_context))
		return message_refused(conn, offset, len, __func__);

	return rpma_post_recv(conn, &work);
}
