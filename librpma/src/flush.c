/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flush.c -- make earlier writes visible or persistent at the target: with the
 * RDMA FLUSH of IBTA 1.5 where the queue pair and the region have it, else with
 * a small read behind the writes.
 */
#include "flush.h"
#include "conn.h"
#include "native.h"
#include "status.h"
#include "work.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

int rpma_flush_sink_open(struct rpma_flush_sink *sink, const struct rpma_peer *peer)
{
	long page_size = sysconf(_SC_PAGESIZE);
	if (page_size <= 0) {
		RPMA_LOG_ERRNO(errno, "sysconf(_SC_PAGESIZE)");
		return RPMA_E_PROVIDER;
	}

	/* a shared page of its own: ibv_fork_init() takes registered pages from children */
	size_t bytes = (size_t)page_size;
	void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED) {
		RPMA_LOG_ERRNO(errno, "mmap()");
		return RPMA_E_NOMEM;
	}
	*sink = (struct rpma_flush_sink){.page = page, .page_bytes = bytes};

	sink->mr =
		rpma_mr_register(peer, page, RPMA_FLUSH_READ_BYTES, RPMA_MR_USAGE_READ_DST, NULL);
	if (sink->mr == NULL) {
		RPMA_LOG_ERRNO(errno, "ibv_reg_mr() of the flush's read buffer");
		(void)rpma_flush_sink_close(sink);
		return RPMA_E_PROVIDER;
	}
	return 0;
}

int rpma_flush_sink_close(struct rpma_flush_sink *sink)
{
	int ret = 0;

	if (sink->mr != NULL)
		rpma_status_verb(&ret, "ibv_dereg_mr()", ibv_dereg_mr(sink->mr));
	if (sink->page != NULL && munmap(sink->page, sink->page_bytes)) {
		RPMA_LOG_ERRNO(errno, "munmap()");
		rpma_status_keep(&ret, RPMA_E_INVAL);
	}
	*sink = (struct rpma_flush_sink){0};
	return ret;
}

static __always_inline int flush_by_read(struct rpma_conn *conn, const struct rpma_mr_remote *dst,
					 size_t dst_offset, int flags, const void *op_context)
{
	const uint32_t len =
		dst->size < RPMA_FLUSH_READ_BYTES ? (uint32_t)dst->size : RPMA_FLUSH_READ_BYTES;
	const uint64_t last = dst->size - len; /* the last offset that has len bytes behind it */
	struct ibv_sge sge = {
		.addr = (uint64_t)(uintptr_t)conn->sink.page,
		.length = len,
		.lkey = conn->sink.mr->lkey,
	};
	struct ibv_send_wr wr;

	rpma_send_wr_init(&wr, IBV_WR_RDMA_READ, 1, flags, op_context);
	rpma_send_wr_alone(&wr, &sge);
	wr.wr.rdma.remote_addr = dst->addr + (dst_offset < last ? dst_offset : last);
	wr.wr.rdma.rkey = dst->rkey;
	return rpma_post_send(conn, &wr, flags, "rpma_flush");
}

static int flush_listed(struct rpma_conn *conn, const struct rpma_mr_remote *dst, size_t dst_offset,
			size_t len, unsigned placement_and_level, int flags, const void *op_context)
{
	struct ibv_send_wr wr;

	rpma_send_wr_init(&wr, (enum ibv_wr_opcode)RPMA_WR_FLUSH, 0, flags, op_context);
	wr.wr.atomic.remote_addr = dst->addr + dst_offset;
	wr.wr.atomic.rkey = dst->rkey;
	wr.wr.atomic.compare_add = len;
	wr.wr.atomic.swap = placement_and_level;
	return rpma_sendq_post(conn, &wr, flags);
}

static int flush_natively(struct rpma_conn *conn, const struct rpma_mr_remote *dst,
			  size_t dst_offset, size_t len, enum rpma_flush_type type, int flags,
			  const void *op_context)
{
	struct ibv_qp_ex *qpx = conn->qpx;
	uint8_t placement =
		type == RPMA_FLUSH_TYPE_VISIBILITY ? RPMA_FLUSH_GLOBAL : RPMA_FLUSH_PERSISTENT;
	/* the wire has 32 bits for a range: flush the whole region rather than too little */
	uint8_t level = len > UINT32_MAX ? RPMA_FLUSH_MR : RPMA_FLUSH_RANGE;

	if (!rpma_posts_at_once(conn, flags))
		return flush_listed(conn, dst, dst_offset, len, placement | (unsigned)level << 8,
				    flags, op_context);
	ibv_wr_start(qpx);
	qpx->wr_id = (uint64_t)(uintptr_t)op_context;
	qpx->wr_flags = rpma_send_flags(flags);
	rpma_native_ops(qpx)->flush(qpx, dst->rkey, dst->addr + dst_offset, len, placement, level);
	int err = ibv_wr_complete(qpx);
	if (err) {
		RPMA_LOG_ERRNO(err,
			       "ibv_wr_flush(QP 0x%x, remote address 0x%" PRIx64
			       ", length %zu, rkey 0x%x, wr_id 0x%" PRIx64 ")",
			       conn->qp->qp_num, dst->addr + dst_offset, len, dst->rkey,
			       (uint64_t)(uintptr_t)op_context); /* qpx is another thread's now */
		return RPMA_E_PROVIDER;
	}
	return 0;
}

static __always_inline bool type_allowed(const struct rpma_conn *conn,
					 const struct rpma_mr_remote *dst,
					 enum rpma_flush_type type)
{
	if (type == RPMA_FLUSH_TYPE_VISIBILITY)
		return dst->usage & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	/* a native flush persists by itself: a connection that has no other needs no declaration */
	return (dst->usage & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT) &&
	       (atomic_load_explicit(&conn->direct_write, memory_order_relaxed) ||
		conn->flushes_natively_only);
}

__attribute__((cold)) static int type_refused(const struct rpma_mr_remote *dst,
					      enum rpma_flush_type type, int flags)
{
	if (flags == 0)
		return rpma_flags_refused("rpma_flush");
	if (type == RPMA_FLUSH_TYPE_VISIBILITY)
		RPMA_LOG_ERROR("the remote region is not registered for flushes to visibility");
	else if (!(dst->usage & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT))
		RPMA_LOG_ERROR("the remote region is not registered for flushes to persistence");
	else
		RPMA_LOG_ERROR("the remote peer has not declared direct write to PMem");
	return RPMA_E_NOSUPP;
}

__attribute__((cold)) static int not_native(void)
{
	RPMA_LOG_ERROR("the remote region is not registered for native flush, which this "
		       "connection requires");
	return RPMA_E_NOSUPP;
}

/* Once is enough: it is the same for all regions of such a peer. */
static RPMA_COLD void warn_of_1_3(void)
{
	static atomic_flag is_told = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&is_told))
		RPMA_LOG_WARNING(
			"a region whose descriptor has 21 bytes is flushed by reading: if its "
			"peer has librpma 1.3, native flushes would be stronger (librpma(7), "
			"INTEROPERABILITY)");
}

/* The connection can flush natively: apart, so that others save no registers for it. */
static RPMA_APART int flush_either_way(struct rpma_conn *conn, const struct rpma_mr_remote *dst,
				       size_t dst_offset, size_t len, enum rpma_flush_type type,
				       int flags, const void *op_context)
{
	if (flags == 0)
		return rpma_flags_refused("rpma_flush");
	if (dst->native_flush)
		return flush_natively(conn, dst, dst_offset, len, type, flags, op_context);
	if (conn->flushes_natively_only)
		return not_native();
	if (dst->may_be_1_3 && type == RPMA_FLUSH_TYPE_PERSISTENT)
		warn_of_1_3();
	return flush_by_read(conn, dst, dst_offset, flags, op_context);
}

int rpma_conn_get_flush_method(const struct rpma_conn *conn, const struct rpma_mr_remote *mr,
			       enum rpma_flush_method *method)
{
	if (conn == NULL || mr == NULL || method == NULL)
		return RPMA_FAIL_NULL(conn, mr, method);

	bool native = conn->native_flush && mr->native_flush;
	if (!native && conn->flushes_natively_only)
		return not_native();
	*method = native ? RPMA_FLUSH_METHOD_NATIVE : RPMA_FLUSH_METHOD_READ;
	return 0;
}

int rpma_flush_range_refused(const struct rpma_conn *conn, const struct rpma_mr_remote *dst,
			     size_t dst_offset, size_t len, enum rpma_flush_type type,
			     const char *function)
{
	if (conn == NULL || dst == NULL)
		return RPMA_FAIL_NULL_OF(function, conn, dst);
	if (type != RPMA_FLUSH_TYPE_VISIBILITY && type != RPMA_FLUSH_TYPE_PERSISTENT)
		return RPMA_FAIL_OF(function, RPMA_E_INVAL,
				    "type is %d, expected RPMA_FLUSH_TYPE_PERSISTENT or "
				    "RPMA_FLUSH_TYPE_VISIBILITY",
				    (int)type);
	return RPMA_FAIL_OF(function, RPMA_E_INVAL,
			    "dst_offset %zu and len %zu are not in a region of %" PRIu64,
			    dst_offset, len, dst->size);
}

int rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset, size_t len,
	       enum rpma_flush_type type, int flags, const void *op_context)
{
	int ret = rpma_flush_range_check(conn, dst, dst_offset, len, type, __func__);
	if (ret)
		return ret;
	if (__builtin_expect(!type_allowed(conn, dst, type), 0))
		return type_refused(dst, type, flags);
	if (conn->native_flush)
		return flush_either_way(conn, dst, dst_offset, len, type, flags, op_context);
	return flush_by_read(conn, dst, dst_offset, flags, op_context);
}

int rpma_flush_check(const struct rpma_conn *conn, const struct rpma_mr_remote *dst,
		     enum rpma_flush_type type, int flags)
{
	if (!type_allowed(conn, dst, type))
		return type_refused(dst, type, flags);
	if (conn->flushes_natively_only && !dst->native_flush)
		return not_native();
	return 0;
}
