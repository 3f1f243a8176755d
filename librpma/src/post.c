/* SPDX-License-Identifier: BSD-3-Clause */
/* post.c -- reads and writes: each call checks its arguments and posts one work request. */
#include "native.h"
#include "work.h"

#include <arpa/inet.h>
#include <inttypes.h>

static bool one_sided(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
	       opcode == IBV_WR_RDMA_READ;
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

__attribute__((cold)) int rpma_post_send_failed(const struct ibv_send_wr *wr, int err)
{
	const struct ibv_sge none = {0}, *sge = wr->num_sge ? wr->sg_list : &none;
	char remote[64] = "";

	if (is_atomic(wr->opcode))
		snprintf(remote, sizeof(remote), ", remote address 0x%" PRIx64 ", rkey 0x%x",
			 wr->wr.atomic.remote_addr, wr->wr.atomic.rkey);
	else if (one_sided(wr->opcode))
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

/* --- why a call was refused, looked at again to cost nothing before ----------------------- */

int rpma_flags_refused(const char *function)
{
	return RPMA_FAIL_OF(function, RPMA_E_INVAL,
			    "flags is 0, expected RPMA_F_COMPLETION_ON_ERROR or "
			    "RPMA_F_COMPLETION_ALWAYS");
}

int rpma_inline_refused(const char *function, size_t len, uint32_t most)
{
	return RPMA_FAIL_OF(function, RPMA_E_INVAL,
			    "%zu bytes with RPMA_F_INLINE, expected at most %" PRIu32, len, most);
}

/* In the order of most calls, so that their arguments are where they were. */
static RPMA_COLD int pair_refused(const struct rpma_conn *conn, const void *dst, size_t dst_offset,
				  const void *src, size_t src_offset, size_t len,
				  const char *function)
{
	if (conn == NULL)
		return RPMA_FAIL_NULL_OF(function, conn);
	if (!rpma_len_fits(len))
		return RPMA_FAIL_OF(function, RPMA_E_INVAL, "len is %zu, expected at most %u", len,
				    UINT32_MAX);
	if ((dst == NULL) != (src == NULL))
		return RPMA_FAIL_OF(function, RPMA_E_INVAL,
				    "%s is NULL and %s is not, expected both or none",
				    dst == NULL ? "dst" : "src", dst == NULL ? "src" : "dst");
	return RPMA_FAIL_OF(function, RPMA_E_INVAL,
			    "dst_offset is %zu, src_offset %zu and len %zu without regions, "
			    "expected 0",
			    dst_offset, src_offset, len);
}

static RPMA_COLD int writev_refused(const struct rpma_conn *conn, const void *dst, const void *src,
				    int num_ranges)
{
	static const char function[] = "rpma_writev";

	if (conn == NULL || dst == NULL || src == NULL)
		return RPMA_FAIL_NULL_OF(function, conn, dst, src);
	return RPMA_FAIL_OF(function, RPMA_E_INVAL,
			    "num_ranges is %d, expected 1 to %" PRIu32
			    ", see RPMA_CONN_OPT_SEND_SGES",
			    num_ranges, conn->sendq.max_sge);
}

/* One of the ranges is wrong. */
static RPMA_COLD int range_refused(const struct rpma_range *src)
{
	static const char function[] = "rpma_writev";
	int i = 0;

	while (src[i].mr != NULL && rpma_len_fits(src[i].len))
		i++;
	if (src[i].mr == NULL)
		return RPMA_FAIL_OF(function, RPMA_E_INVAL, "src[%d].mr is NULL", i);
	return RPMA_FAIL_OF(function, RPMA_E_INVAL, "src[%d].len is %zu, expected at most %u", i,
			    src[i].len, UINT32_MAX);
}

/* --- one-sided operations ------------------------------------------------------------------- */

int rpma_post_empty(struct rpma_conn *conn, enum ibv_wr_opcode opcode, uint32_t imm_data, int flags,
		    const void *op_context, const char *function)
{
	struct ibv_send_wr wr;

	rpma_send_wr_init(&wr, opcode, 0, flags, op_context);
	rpma_send_wr_alone(&wr, NULL);
	wr.imm_data = imm_data;
	wr.wr.rdma.remote_addr = 0;
	wr.wr.rdma.rkey = 0;
	return rpma_post_send(conn, &wr, flags, function);
}

/* Neither regions nor offsets nor bytes: the empty operation. */
static inline bool is_empty(const void *dst, size_t dst_offset, const void *src, size_t src_offset,
			    size_t len)
{
	return dst == NULL && src == NULL && (dst_offset | src_offset | len) == 0;
}

static inline void rdma_init(struct ibv_send_wr *wr, enum ibv_wr_opcode opcode,
			     const struct rpma_mr_remote *remote, size_t remote_offset, int flags,
			     const void *op_context)
{
	rpma_send_wr_init(wr, opcode, 1, flags, op_context);
	wr->wr.rdma.remote_addr = remote->addr + remote_offset;
	wr->wr.rdma.rkey = remote->rkey;
}

/* It has the arguments of its call, and is apart, so that the call saves no registers. */
static RPMA_APART int read_empty(struct rpma_conn *conn, const void *dst, size_t dst_offset,
				 const void *src, size_t src_offset, size_t len, int flags,
				 const void *op_context)
{
	static const char function[] = "rpma_read";

	if (conn == NULL || !is_empty(dst, dst_offset, src, src_offset, len))
		return pair_refused(conn, dst, dst_offset, src, src_offset, len, function);
	return rpma_post_empty(conn, IBV_WR_RDMA_READ, 0, flags, op_context, function);
}

int rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
	      const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
	      const void *op_context)
{
	struct rpma_send_work work;

	if (conn == NULL || src == NULL)
		return read_empty(conn, dst, dst_offset, src, src_offset, len, flags, op_context);
	if (dst == NULL || !rpma_len_fits(len))
		return pair_refused(conn, dst, dst_offset, src, src_offset, len, __func__);
	rpma_sge_init(&work.sge, dst, dst_offset, len);
	rdma_init(&work.wr, IBV_WR_RDMA_READ, src, src_offset, flags, op_context);
	return rpma_post_work(conn, &work, flags, __func__);
}

static __always_inline int post_write(struct rpma_conn *conn, struct rpma_mr_remote *dst,
				      size_t dst_offset, const struct rpma_mr_local *src,
				      size_t src_offset, size_t len, int flags,
				      const void *op_context)
{
	static const char function[] = "rpma_write";
	struct rpma_send_work work;

	if (__builtin_expect(conn == NULL || src == NULL || dst == NULL || !rpma_len_fits(len),
			     0)) {
		if (conn != NULL && is_empty(dst, dst_offset, src, src_offset, len))
			return rpma_post_empty(conn, IBV_WR_RDMA_WRITE, 0, flags, op_context,
					       function);
		return pair_refused(conn, dst, dst_offset, src, src_offset, len, function);
	}
	rpma_sge_init(&work.sge, src, src_offset, len);
	rdma_init(&work.wr, IBV_WR_RDMA_WRITE, dst, dst_offset, flags, op_context);
	return rpma_post_work(conn, &work, flags, function);
}

/* apart, so that the next one needs no room for a work request */
static RPMA_APART int write_otherwise(struct rpma_conn *conn, struct rpma_mr_remote *dst,
				      size_t dst_offset, const struct rpma_mr_local *src,
				      size_t src_offset, size_t len, int flags,
				      const void *op_context)
{
	return post_write(conn, dst, dst_offset, src, src_offset, len, flags, op_context);
}

/* The rare cases of rpma_write(). The last one of a list is built in its slot, too. */
static RPMA_APART int write_rarely(struct rpma_conn *conn, struct rpma_mr_remote *dst,
				   size_t dst_offset, const struct rpma_mr_local *src,
				   size_t src_offset, size_t len, int flags, const void *op_context)
{
	if (conn == NULL || !rpma_len_fits(len))
		return pair_refused(conn, dst, dst_offset, src, src_offset, len, "rpma_write");
	if (dst == NULL || !rpma_sendq_is_simple(&conn->sendq, flags) || src == NULL)
		return write_otherwise(conn, dst, dst_offset, src, src_offset, len, flags,
				       op_context);

	struct rpma_slot *slot = conn->sendq.next;
	rpma_sge_init(slot->sge, src, src_offset, len);
	rdma_init(&slot->wr, IBV_WR_RDMA_WRITE, dst, dst_offset, flags, op_context);
	return rpma_sendq_add(conn, slot, flags);
}

int rpma_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
	       const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
	       const void *op_context)
{
	if (flags == RPMA_F_LISTED) {
		/* most writes of a list: built in the slot where they wait */
		if (conn == NULL || !rpma_len_fits(len))
			return pair_refused(conn, dst, dst_offset, src, src_offset, len, __func__);
		struct rpma_slot *slot = conn->sendq.next;
		if (dst == NULL || slot == conn->sendq.stop || src == NULL)
			return write_rarely(conn, dst, dst_offset, src, src_offset, len, flags,
					    op_context);
		rpma_sge_init(slot->sge, src, src_offset, len);
		rdma_init(&slot->wr, IBV_WR_RDMA_WRITE, dst, dst_offset, RPMA_F_LISTED, op_context);
		rpma_sendq_keep(&conn->sendq, slot);
		return 0;
	}
	if (conn == NULL || !rpma_is_plain(conn, flags))
		return write_rarely(conn, dst, dst_offset, src, src_offset, len, flags, op_context);
	return post_write(conn, dst, dst_offset, src, src_offset, len, flags, op_context);
}

int rpma_writev(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		const struct rpma_range *src, int num_ranges, int flags, const void *op_context)
{
	struct ibv_sge sges[RPMA_SGES_MAX];
	struct ibv_send_wr wr;
	size_t len = 0;

	if (conn == NULL || dst == NULL || src == NULL || num_ranges < 1 ||
	    (uint32_t)num_ranges > conn->sendq.max_sge)
		return writev_refused(conn, dst, src, num_ranges);
	for (int i = 0; i < num_ranges; i++) {
		if (src[i].mr == NULL || !rpma_len_fits(src[i].len))
			return range_refused(src);
		rpma_sge_init(&sges[i], src[i].mr, src[i].offset, src[i].len);
		len += src[i].len;
	}
	if (!rpma_len_fits(len))
		return RPMA_FAIL(RPMA_E_INVAL, "the ranges have %zu bytes, expected at most %u",
				 len, UINT32_MAX);
	rdma_init(&wr, IBV_WR_RDMA_WRITE, dst, dst_offset, flags, op_context);
	rpma_send_wr_alone(&wr, sges);
	wr.num_sge = num_ranges;
	return rpma_post_send(conn, &wr, flags, __func__);
}

int rpma_write_with_imm(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
			const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
			uint32_t imm, const void *op_context)
{
	struct rpma_send_work work;

	if (__builtin_expect(conn == NULL || src == NULL || dst == NULL || !rpma_len_fits(len),
			     0)) {
		if (conn != NULL && is_empty(dst, dst_offset, src, src_offset, len))
			return rpma_post_empty(conn, IBV_WR_RDMA_WRITE_WITH_IMM, htonl(imm), flags,
					       op_context, __func__);
		return pair_refused(conn, dst, dst_offset, src, src_offset, len, __func__);
	}
	rpma_sge_init(&work.sge, src, src_offset, len);
	rdma_init(&work.wr, IBV_WR_RDMA_WRITE_WITH_IMM, dst, dst_offset, flags, op_context);
	work.wr.imm_data = htonl(imm);
	return rpma_post_work(conn, &work, flags, __func__);
}

int rpma_discard(struct rpma_conn *conn, size_t *count)
{
	if (conn == NULL)
		return RPMA_FAIL_NULL(conn);

	const uint32_t discarded = rpma_sendq_discard(conn);
	if (count != NULL)
		*count = discarded;
	return 0;
}

int rpma_submit(struct rpma_conn *conn)
{
	if (conn == NULL)
		return RPMA_FAIL_NULL(conn);

	return rpma_sendq_submit(conn);
}
