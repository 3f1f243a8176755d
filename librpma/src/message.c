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

/* Each has the arguments of its call, and is apart, so that the call saves no registers. */
static RPMA_APART int send_empty(struct rpma_conn *conn, const void *src, size_t offset, size_t len,
				 int flags, const void *op_context)
{
	static const char function[] = "rpma_send";

	if (conn == NULL || src != NULL || offset != 0 || len != 0)
		return message_refused(conn, offset, len, function);
	return rpma_post_empty(conn, IBV_WR_SEND, 0, flags, op_context, function);
}

int rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset, size_t len,
	      int flags, const void *op_context)
{
	struct rpma_send_work work;

	if (conn == NULL || src == NULL)
		return send_empty(conn, src, offset, len, flags, op_context);
	if (!rpma_len_fits(len))
		return message_refused(conn, offset, len, __func__);
	rpma_sge_init(&work.sge, src, offset, len);
	rpma_send_wr_init(&work.wr, IBV_WR_SEND, 1, flags, op_context);
	return rpma_post_work(conn, &work, flags, __func__);
}

static RPMA_APART int send_with_imm_empty(struct rpma_conn *conn, const void *src, size_t offset,
					  size_t len, int flags, uint32_t imm,
					  const void *op_context)
{
	static const char function[] = "rpma_send_with_imm";

	if (conn == NULL || src != NULL || offset != 0 || len != 0)
		return message_refused(conn, offset, len, function);
	return rpma_post_empty(conn, IBV_WR_SEND_WITH_IMM, htonl(imm), flags, op_context, function);
}

int rpma_send_with_imm(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
		       size_t len, int flags, uint32_t imm, const void *op_context)
{
	struct rpma_send_work work;

	if (conn == NULL || src == NULL)
		return send_with_imm_empty(conn, src, offset, len, flags, imm, op_context);
	if (!rpma_len_fits(len))
		return message_refused(conn, offset, len, __func__);
	rpma_sge_init(&work.sge, src, offset, len);
	rpma_send_wr_init(&work.wr, IBV_WR_SEND_WITH_IMM, 1, flags, op_context);
	work.wr.imm_data = htonl(imm);
	return rpma_post_work(conn, &work, flags, __func__);
}

int rpma_recv(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len,
	      const void *op_context)
{
	struct rpma_recv_work work;

	if (conn == NULL || !rpma_recv_work_init(&work, dst, offset, len, op_context))
		return message_refused(conn, offset, len, __func__);

	return rpma_post_recv(conn, &work);
}
