/* SPDX-License-Identifier: BSD-3-Clause */
/* atomic.c -- the atomic write, natively or as eight bytes inline, and the atomics of verbs. */
#include "native.h"
#include "work.h"

#include <inttypes.h>

enum { CACHE_LINE = 64 }; /* x86 and arm64: a device's write within one is not torn */

/* names are of the three pointers */
static RPMA_COLD int atomic_refused(const struct rpma_conn *conn, const void *dst,
				    size_t dst_offset, const void *value, const char *function,
				    const char *names)
{
	const void *const pointers[] = {conn, dst, value};

	if (conn == NULL || dst == NULL || value == NULL) {
		rpma_err_set_null(function, names, pointers);
		return RPMA_E_INVAL;
	}
	if (dst_offset % sizeof(uint64_t) != 0)
		return RPMA_FAIL_OF(function, RPMA_E_INVAL,
				    "dst_offset is %zu, expected a multiple of 8", dst_offset);
	return rpma_flags_refused(function);
}

static int atomic_write_listed(struct rpma_conn *conn, const struct rpma_mr_remote *dst,
			       uint64_t remote_addr, const char *src, int flags,
			       const void *op_context)
{
	struct ibv_send_wr wr;

	rpma_send_wr_init(&wr, (enum ibv_wr_opcode)RPMA_WR_ATOMIC_WRITE, 0, flags, op_context);
	wr.send_flags |= IBV_SEND_FENCE;
	wr.wr.atomic.remote_addr = remote_addr;
	wr.wr.atomic.rkey = dst->rkey;
	memcpy(&wr.wr.atomic.compare_add, src, sizeof(wr.wr.atomic.compare_add));
	return rpma_sendq_post(conn, &wr, flags);
}

static int atomic_write_natively(struct rpma_conn *conn, const struct rpma_mr_remote *dst,
				 uint64_t remote_addr, const char *src, int flags,
				 const void *op_context)
{
	struct ibv_qp_ex *qpx = conn->qpx;

	if (!rpma_posts_at_once(conn, flags))
		return atomic_write_listed(conn, dst, remote_addr, src, flags, op_context);
	ibv_wr_start(qpx);
	qpx->wr_id = (uint64_t)(uintptr_t)op_context;
	qpx->wr_flags = rpma_send_flags(flags) | IBV_SEND_FENCE;
	rpma_native_ops(qpx)->atomic_write(qpx, dst->rkey, remote_addr, src);
	int err = ibv_wr_complete(qpx);
	if (err) {
		RPMA_LOG_ERRNO(err,
			       "ibv_wr_atomic_write(QP 0x%x, remote address 0x%" PRIx64
			       ", rkey 0x%x, wr_id 0x%" PRIx64 ")",
			       conn->qp->qp_num, remote_addr, dst->rkey,
			       (uint64_t)(uintptr_t)op_context);
		return RPMA_E_PROVIDER;
	}
	return 0;
}

int rpma_atomic_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		      const char src[8], int flags, const void *op_context)
{
	if (conn == NULL || dst == NULL || src == NULL || flags == 0 ||
	    dst_offset % RPMA_ATOMIC_WRITE_ALIGNMENT != 0)
		return atomic_refused(conn, dst, dst_offset, src, __func__, "conn, dst, src");

	uint64_t remote_addr = dst->addr + dst_offset;
	if (conn->native_atomic_write)
		return atomic_write_natively(conn, dst, remote_addr, src, flags, op_context);
	if (remote_addr % CACHE_LINE > CACHE_LINE - sizeof(uint64_t))
		return RPMA_FAIL(RPMA_E_INVAL,
				 "dst_offset %zu is address 0x%" PRIx64
				 " of the peer, whose 8 bytes are in two cache lines",
				 dst_offset, remote_addr);
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

	rpma_send_wr_init(&wr, IBV_WR_RDMA_WRITE, 1, flags, op_context);
	rpma_send_wr_alone(&wr, &sge);
	wr.send_flags |= IBV_SEND_INLINE | IBV_SEND_FENCE;
	wr.wr.rdma.remote_addr = remote_addr;
	wr.wr.rdma.rkey = dst->rkey;
	return rpma_post_send(conn, &wr, flags, __func__);
}

static const char *name_of_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? "rpma_atomic_compare_swap"
						   : "rpma_atomic_fetch_add";
}

/* The rest of the work request is in the work. */
static int post_atomic(struct rpma_conn *conn, struct rpma_send_work *work,
		       const struct rpma_mr_remote *dst, size_t dst_offset,
		       const struct rpma_mr_local *result, size_t result_offset, int flags)
{
	struct ibv_send_wr *wr = &work->wr;

	if (conn == NULL || dst == NULL || result == NULL || flags == 0 ||
	    dst_offset % sizeof(uint64_t) != 0)
		return atomic_refused(conn, dst, dst_offset, result, name_of_atomic(wr->opcode),
				      "conn, dst, result");
	if (!(dst->usage & RPMA_MR_USAGE_ATOMIC)) {
		RPMA_LOG_ERROR("the remote region is not registered for atomics");
		return RPMA_E_NOSUPP;
	}
	rpma_sge_init(&work->sge, result, result_offset, sizeof(uint64_t));
	wr->wr.atomic.remote_addr = dst->addr + dst_offset;
	wr->wr.atomic.rkey = dst->rkey;
	return rpma_post_work(conn, work, flags, name_of_atomic(wr->opcode));
}

int rpma_atomic_compare_swap(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
			     struct rpma_mr_local *result, size_t result_offset, uint64_t compare,
			     uint64_t swap, int flags, const void *op_context)
{
	struct rpma_send_work work;

	rpma_send_wr_init(&work.wr, IBV_WR_ATOMIC_CMP_AND_SWP, 1, flags, op_context);
	work.wr.wr.atomic.compare_add = compare;
	work.wr.wr.atomic.swap = swap;
	return post_atomic(conn, &work, dst, dst_offset, result, result_offset, flags);
}

int rpma_atomic_fetch_add(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
			  struct rpma_mr_local *result, size_t result_offset, uint64_t add,
			  int flags, const void *op_context)
{
	struct rpma_send_work work;

	rpma_send_wr_init(&work.wr, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, flags, op_context);
	work.wr.wr.atomic.compare_add = add;
	work.wr.wr.atomic.swap = 0;
	return post_atomic(conn, &work, dst, dst_offset, result, result_offset, flags);
}
