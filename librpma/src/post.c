/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * post.c -- reads, writes and messages: each call checks its arguments and
 * posts one work request.
 */
#include "native.h"
#include "work.h"

#include <arpa/inet.h>
#include <inttypes.h>

static bool one_sided(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
	       opcode == IBV_WR_RDMA_READ;
}

__attribute__((cold)) int rpma_post_send_failed(const struct ibv_send_wr *wr, int err)
{
	const struct ibv_sge none = {0}, *sge = wr->num_sge ? wr->sg_list : &none;
	char remote[64] = "";

	if (one_sided(wr->opcode))
		snprintf(remote, sizeof(remote), ", remote address 0x%" PRIx64 ", rkey 0x%x",
			 wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
	RPMA_LOG_ERRNO(err,
		       "ibv_post_send(opcode %d, length %u, local address 0x%" PRIx64
		       "%s, wr_id 0x%" PRIx64 ")",
		       (int)wr->opcode, sge->length, sge->addr, remote, wr->wr_id);
	return RPMA_E_PROVIDER;
}

__attribute__((cold)) int rpma_post_recv_failed(const char *verb, const struct ibv_recv_wr *wr,
						int err)
{
	const struct ibv_sge none = {0}, *sge = wr->num_sge ? wr->sg_list : &none;

	RPMA_LOG_ERRNO(err,
		       "%s(length %u, local address 0x%" PRIx64 ", lkey 0x%x, wr_id 0x%" PRIx64 ")",
		       verb, sge->length, sge->addr, sge->lkey, wr->wr_id);
	return RPMA_E_PROVIDER;
}

/*
 * One-sided operations take a local and a remote region, or neither and then no
 * offset and no length: the empty operation.
 */
static inline bool pair_valid(const struct rpma_mr_local *local, size_t local_offset,
			      const struct rpma_mr_remote *remote, size_t remote_offset, size_t len)
{
	if (local != NULL && remote != NULL)
		return rpma_len_fits(len);
	return local == NULL && remote == NULL && local_offset == 0 && remote_offset == 0 &&
	       len == 0;
}

/* The pair is valid. */
static inline int post_rdma(struct rpma_conn *conn, struct ibv_send_wr *wr,
			    enum ibv_wr_opcode opcode, const struct rpma_mr_local *local,
			    size_t local_offset, const struct rpma_mr_remote *remote,
			    size_t remote_offset, size_t len, int flags, const void *op_context)
{
	struct ibv_sge sge;

	if (local == NULL) {
		rpma_send_wr_init(wr, opcode, NULL, flags, op_context);
		wr->wr.rdma.remote_addr = 0;
		wr->wr.rdma.rkey = 0;
		return rpma_post_send(conn, wr);
	}
	rpma_sge_init(&sge, local, local_offset, len);
	rpma_send_wr_init(wr, opcode, &sge, flags, op_context);
	wr->wr.rdma.remote_addr = remote->addr + remote_offset;
	wr->wr.rdma.rkey = remote->rkey;
	return rpma_post_send(conn, wr);
}

int rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
	      const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
	      const void *op_context)
{
	struct ibv_send_wr wr;

	if (conn == NULL || flags == 0 || !pair_valid(dst, dst_offset, src, src_offset, len))
		return RPMA_E_INVAL;

	return post_rdma(conn, &wr, IBV_WR_RDMA_READ, dst, dst_offset, src, src_offset, len, flags,
			 op_context);
}

int rpma_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	       const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
	       const void *op_context)
{
	struct ibv_send_wr wr;

	if (conn == NULL || flags == 0 || !pair_valid(src, src_offset, dst, dst_offset, len))
		return RPMA_E_INVAL;

	return post_rdma(conn, &wr, IBV_WR_RDMA_WRITE, src, src_offset, dst, dst_offset, len, flags,
			 op_context);
}

int rpma_write_with_imm(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
			const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
			uint32_t imm, const void *op_context)
{
	struct ibv_send_wr wr;

	if (conn == NULL || flags == 0 || !pair_valid(src, src_offset, dst, dst_offset, len))
		return RPMA_E_INVAL;

	wr.imm_data = htonl(imm);
	return post_rdma(conn, &wr, IBV_WR_RDMA_WRITE_WITH_IMM, src, src_offset, dst, dst_offset,
			 len, flags, op_context);
}

static int atomic_write_natively(struct rpma_conn *conn, const struct rpma_mr_remote *dst,
				 uint64_t remote_addr, const char *src, int flags,
				 const void *op_context)
{
	struct ibv_qp_ex *qpx = conn->qpx;

	ibv_wr_start(qpx);
	qpx->wr_id = (uint64_t)(uintptr_t)op_context;
	qpx->wr_flags = rpma_send_flags(flags) | IBV_SEND_FENCE;
	rpma_native_ops(qpx)->atomic_write(qpx, dst->rkey, remote_addr, src);
	int err = ibv_wr_complete(qpx);
	if (err) {
		RPMA_LOG_ERRNO(err,
			       "ibv_wr_atomic_write(QP 0x%x, remote address 0x%" PRIx64
			       ", rkey 0x%x, wr_id 0x%" PRIx64 ")",
			       conn->qp->qp_num, remote_addr, dst->rkey, qpx->wr_id);
		return RPMA_E_PROVIDER;
	}
	return 0;
}

int rpma_atomic_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		      const char src[8], int flags, const void *op_context)
{
	if (conn == NULL || dst == NULL || src == NULL || flags == 0 ||
	    dst_offset % RPMA_ATOMIC_WRITE_ALIGNMENT != 0)
		return RPMA_E_INVAL;

	uint64_t remote_addr = dst->addr + dst_offset;
	if (conn->native_atomic_write)
		return atomic_write_natively(conn, dst, remote_addr, src, flags, op_context);
	/*
	 * Eight aligned bytes in one packet land as one. The fence, here and in
	 * the native form, holds them back until earlier reads, so also flushes
	 * by read, have completed.
	 */
	struct ibv_sge sge = {
		.addr = (uint64_t)(uintptr_t)src,
		.length = RPMA_ATOMIC_WRITE_ALIGNMENT,
	};
	struct ibv_send_wr wr;

	rpma_send_wr_init(&wr, IBV_WR_RDMA_WRITE, &sge, flags, op_context);
	wr.send_flags |= IBV_SEND_INLINE | IBV_SEND_FENCE;
	wr.wr.rdma.remote_addr = remote_addr;
	wr.wr.rdma.rkey = dst->rkey;
	return rpma_post_send(conn, &wr);
}

static inline int post_message(struct rpma_conn *conn, struct ibv_send_wr *wr,
			       enum ibv_wr_opcode opcode, const struct rpma_mr_local *src,
			       size_t offset, size_t len, int flags, const void *op_context)
{
	struct ibv_sge sge;

	if (conn == NULL || flags == 0 || !rpma_len_fits(len))
		return RPMA_E_INVAL;
	if (src == NULL) {
		if (offset != 0 || len != 0)
			return RPMA_E_INVAL;
		rpma_send_wr_init(wr, opcode, NULL, flags, op_context);
		return rpma_post_send(conn, wr);
	}
	rpma_sge_init(&sge, src, offset, len);
	rpma_send_wr_init(wr, opcode, &sge, flags, op_context);
	return rpma_post_send(conn, wr);
}

int rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset, size_t len,
	      int flags, const void *op_context)
{
	struct ibv_send_wr wr;

	return post_message(conn, &wr, IBV_WR_SEND, src, offset, len, flags, op_context);
}

int rpma_send_with_imm(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
		       size_t len, int flags, uint32_t imm, const void *op_context)
{
	struct ibv_send_wr wr;

	wr.imm_data = htonl(imm);
	return post_message(conn, &wr, IBV_WR_SEND_WITH_IMM, src, offset, len, flags, op_context);
}

int rpma_recv(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len,
	      const void *op_context)
{
	struct rpma_recv_work work;

	if (conn == NULL || !rpma_recv_work_init(&work, dst, offset, len, op_context))
		return RPMA_E_INVAL;

	return rpma_post_recv(conn, &work);
}
