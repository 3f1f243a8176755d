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

static inline __attribute__((always_inline)) int flush_by_read(struct rpma_conn *conn,
							       const struct rpma_mr_remote *dst,
							       size_t dst_offset, int flags,
							       const void *op_context)
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
			size_t len, unsigned placement, unsigned level, int flags,
			const void *op_context)
{
	struct ibv_send_wr wr;

	rpma_send_wr_init(&wr, (enum ibv_wr_opcode)RPMA_WR_FLUSH, 0, flags, op_context);
	wr.wr.atomic.remote_addr = dst->addr + dst_offset;
	wr.wr.atomic.rkey = dst->rkey;
	wr.wr.atomic.compare_add = len;
	wr.wr.atomic.swap = placement | level << 8;
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
		return flush_listed(conn, dst, dst_offset, len, placement, level, flags,
				    op_context);
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

static inline __attribute__((always_inline)) bool type_allowed(const struct rpma_conn *conn,
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
__attribute__((cold, noinline)) static void warn_of_1_3(void)
{
	static atomic_flag is_told = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&is_told))
		RPMA_LOG_WARNING(
			"a region whose descriptor has 21 bytes is flushed by reading: if its "
			"peer has librpma 1.3, native flushes would be stronger (librpma(7), "
			"INTEROPERABILITY)");
}

/* The connection can flush natively: apart, so that others save no registers for it. */
__attribute__((noinline)) static int
flush_either_way(struct rpma_conn *conn, const struct rpma_mr_remote *dst, size_t dst_offset,
		 size_t len, enum rpma_flush_type type, int flags, const void *op_context)
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

/* What a flush needs besides flags. */
static inline __attribute__((always_inline)) bool range_valid(const struct rpma_mr_remote *dst,
							      size_t dst_offset, size_t len,
							      enum rpma_flush_type type)
{
	if (type != RPMA_FLUSH_TYPE_VISIBILITY && type != RPMA_FLUSH_TYPE_PERSISTENT)
		return false;
	return dst_offset <= dst->size && len <= dst->size - dst_offset;
}

__attribute__((cold, noinline)) static int
range_refused(const struct rpma_conn *conn, const struct rpma_mr_remote *dst, size_t dst_offset,
	      size_t len, enum rpma_flush_type type, const char *function)
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
	if (conn == NULL || dst == NULL || !range_valid(dst, dst_offset, len, type))
		return range_refused(conn, dst, dst_offset, len, type, __func__);
	if (__builtin_expect(!type_allowed(conn, dst, type), 0))
		return type_refused(dst, type, flags);
	if (conn->native_flush)
		return flush_either_way(conn, dst, dst_offset, len, type, flags, op_context);
	return flush_by_read(conn, dst, dst_offset, flags, op_context);
}

/* Whether the region may be flushed, before anything is posted. */
static int check_flush(const struct rpma_conn *conn, const struct rpma_mr_remote *dst,
		       enum rpma_flush_type type, int flags)
{
	if (!type_allowed(conn, dst, type))
		return type_refused(dst, type, flags);
	if (conn->flushes_natively_only && !dst->native_flush)
		return not_native();
	return 0;
}

/* The parts of a call come before the last one, so they leave no completion unless they fail. */
enum { PART = RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE | RPMA_F_PART };

static bool record_valid(const struct rpma_conn *conn, const struct rpma_mr_remote *dst,
			 const struct rpma_mr_local *src, size_t len, int flags)
{
	return conn != NULL && dst != NULL && src != NULL && flags != 0 && rpma_len_fits(len) &&
	       (!(flags & RPMA_F_INLINE) || len <= conn->options[RPMA_CONN_OPT_INLINE_SIZE]);
}

__attribute__((cold, noinline)) static int
record_refused(const struct rpma_conn *conn, const struct rpma_mr_remote *dst,
	       const struct rpma_mr_local *src, size_t len, int flags, const char *function)
{
	if (conn == NULL || dst == NULL || src == NULL)
		return RPMA_FAIL_NULL_OF(function, conn, dst, src);
	if (flags == 0)
		return rpma_flags_refused(function);
	if (!rpma_len_fits(len))
		return RPMA_FAIL_OF(function, RPMA_E_INVAL, "len is %zu, expected at most %u", len,
				    UINT32_MAX);
	return rpma_inline_refused(function, len, conn->options[RPMA_CONN_OPT_INLINE_SIZE]);
}

/* Whether the end of the log may be there; of a range that is in the region. */
static bool end_valid(const struct rpma_record *record)
{
	const size_t len = RPMA_ATOMIC_WRITE_ALIGNMENT;

	return record->end != NULL && (record->dst->addr + record->end_offset) % len == 0 &&
	       record->end_offset % len == 0 &&
	       range_valid(record->dst, record->end_offset, len, RPMA_FLUSH_TYPE_PERSISTENT) &&
	       (record->len == 0 || record->end_offset + len <= record->dst_offset ||
		record->end_offset >= record->dst_offset + record->len);
}

__attribute__((cold, noinline)) static int end_refused(const struct rpma_record *record)
{
	static const char function[] = "rpma_append";
	const struct rpma_mr_remote *dst = record->dst;
	const size_t end_offset = record->end_offset;
	const void *end = record->end;

	if (end == NULL)
		return RPMA_FAIL_NULL_OF(function, end);
	if (end_offset % RPMA_ATOMIC_WRITE_ALIGNMENT != 0)
		return RPMA_FAIL_OF(function, RPMA_E_INVAL,
				    "end_offset is %zu, expected a multiple of 8", end_offset);
	if (!range_valid(dst, end_offset, RPMA_ATOMIC_WRITE_ALIGNMENT, RPMA_FLUSH_TYPE_PERSISTENT))
		return RPMA_FAIL_OF(function, RPMA_E_INVAL,
				    "end_offset is %zu, expected 8 bytes in a region of %" PRIu64,
				    end_offset, dst->size);
	if ((dst->addr + end_offset) % RPMA_ATOMIC_WRITE_ALIGNMENT != 0)
		return RPMA_FAIL_OF(function, RPMA_E_INVAL,
				    "end_offset %zu is address 0x%" PRIx64
				    " of the peer, expected a multiple of 8",
				    end_offset, dst->addr + end_offset);
	return RPMA_FAIL_OF(function, RPMA_E_INVAL,
			    "end_offset is %zu, inside the record of %zu bytes at %zu", end_offset,
			    record->len, record->dst_offset);
}

/*
 * The end of a call whose operations wait: its flush, or the two flushes of rpma_append() and the
 * end between them. Where the next call is of the same region it is taken back, because the next
 * one's does its work, too: the read of a flush covers all writes before it, and a newer end
 * replaces an older one.
 */
enum { TAIL_MAX = 3 };

struct tail {
	struct rpma_send_work works[TAIL_MAX]; /* in the order in which they waited */
	unsigned count;
	char end[RPMA_ATOMIC_WRITE_ALIGNMENT];
};

/* What waits, or NULL: one that leaves no completion and is for this region. */
static bool is_silent(const struct ibv_send_wr *wr, enum ibv_wr_opcode opcode,
		      const struct rpma_mr_remote *dst)
{
	const bool is_atomic = (int)opcode == RPMA_WR_ATOMIC_WRITE;

	return wr != NULL && wr->opcode == opcode && !(wr->send_flags & IBV_SEND_SIGNALED) &&
	       (is_atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey) == dst->rkey;
}

static bool is_flush(const struct rpma_conn *conn, const struct ibv_send_wr *wr,
		     const struct rpma_mr_remote *dst)
{
	return is_silent(wr, IBV_WR_RDMA_READ, dst) && wr->num_sge == 1 &&
	       wr->sg_list->addr == (uint64_t)(uintptr_t)conn->sink.page;
}

static bool is_end(const struct ibv_send_wr *wr, const struct rpma_mr_remote *dst,
		   size_t end_offset)
{
	const uint64_t addr = dst->addr + end_offset;

	if (is_silent(wr, (enum ibv_wr_opcode)RPMA_WR_ATOMIC_WRITE, dst))
		return wr->wr.atomic.remote_addr == addr;
	return is_silent(wr, IBV_WR_RDMA_WRITE, dst) && (wr->send_flags & IBV_SEND_FENCE) &&
	       wr->wr.rdma.remote_addr == addr;
}

/* How many of what waits the next call makes superfluous; end_offset is NULL if it has no end. */
static unsigned tail_length(const struct rpma_conn *conn, const struct rpma_mr_remote *dst,
			    const size_t *end_offset)
{
	const struct rpma_sendq *q = &conn->sendq;

	if ((conn->native_flush && dst->native_flush) ||
	    !is_flush(conn, rpma_sendq_last_but(q, 0), dst))
		return 0;
	if (end_offset != NULL && is_end(rpma_sendq_last_but(q, 1), dst, *end_offset) &&
	    is_flush(conn, rpma_sendq_last_but(q, 2), dst))
		return TAIL_MAX;
	return 1;
}

static void take_tail(struct rpma_conn *conn, const struct rpma_mr_remote *dst,
		      const size_t *end_offset, struct tail *tail, uint32_t *mark)
{
	tail->count = tail_length(conn, dst, end_offset);
	if (tail->count == 0)
		return;
	for (unsigned i = 0; i < tail->count; i++) {
		struct rpma_send_work *work = &tail->works[i];

		work->wr = *rpma_sendq_last_but(&conn->sendq, tail->count - 1 - i);
		if (work->wr.num_sge == 0)
			continue;
		work->sge = work->wr.sg_list[0];
		work->wr.sg_list = &work->sge;
		if (work->wr.send_flags & IBV_SEND_INLINE) { /* its bytes are in the slot */
			memcpy(tail->end, (const void *)(uintptr_t)work->sge.addr,
			       sizeof(tail->end));
			work->sge.addr = (uint64_t)(uintptr_t)tail->end;
		}
	}
	*mark -= tail->count;
	rpma_sendq_withdraw(conn, *mark);
}

/* The call failed: what waited before it waits again. There is room, as there was before. */
__attribute__((cold)) static void undo(struct rpma_conn *conn, uint32_t mark, struct tail *tail)
{
	rpma_sendq_withdraw(conn, mark);
	for (unsigned i = 0; i < tail->count; i++)
		(void)rpma_sendq_post(conn, &tail->works[i].wr, PART);
}

int rpma_write_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		     const struct rpma_mr_local *src, size_t src_offset, size_t len,
		     enum rpma_flush_type type, int flags, const void *op_context)
{
	struct tail tail;
	uint32_t mark;

	if (!record_valid(conn, dst, src, len, flags))
		return record_refused(conn, dst, src, len, flags, __func__);
	if (!range_valid(dst, dst_offset, len, type))
		return range_refused(conn, dst, dst_offset, len, type, __func__);
	int ret = check_flush(conn, dst, type, flags);
	if (ret == 0)
		ret = rpma_sendq_reserve(conn, 2, &mark);
	if (ret)
		return ret;

	take_tail(conn, dst, NULL, &tail, &mark);
	ret = rpma_write(conn, dst, dst_offset, src, src_offset, len,
			 PART | (flags & RPMA_F_INLINE), op_context);
	if (ret == 0)
		ret = rpma_flush(conn, dst, dst_offset, len, type, flags, op_context);
	if (ret)
		undo(conn, mark, &tail);
	return ret;
}

int rpma_append(struct rpma_conn *conn, const struct rpma_record *record, int flags,
		const void *op_context)
{
	const enum rpma_flush_type type = RPMA_FLUSH_TYPE_PERSISTENT;
	const size_t end_len = RPMA_ATOMIC_WRITE_ALIGNMENT;
	struct tail tail;
	uint32_t mark;

	if (record == NULL)
		return RPMA_FAIL_NULL(conn, record);
	const struct rpma_record r = *record;
	if (!record_valid(conn, r.dst, r.src, r.len, flags))
		return record_refused(conn, r.dst, r.src, r.len, flags, __func__);
	if (!range_valid(r.dst, r.dst_offset, r.len, type))
		return range_refused(conn, r.dst, r.dst_offset, r.len, type, __func__);
	if (!end_valid(&r))
		return end_refused(&r);
	int ret = check_flush(conn, r.dst, type, flags);
	if (ret == 0)
		ret = rpma_sendq_reserve(conn, RPMA_SENDQ_PARTS_MAX, &mark);
	if (ret)
		return ret;

	take_tail(conn, r.dst, &r.end_offset, &tail, &mark);
	ret = rpma_write(conn, r.dst, r.dst_offset, r.src, r.src_offset, r.len,
			 PART | (flags & RPMA_F_INLINE), op_context);
	if (ret == 0)
		ret = rpma_flush(conn, r.dst, r.dst_offset, r.len, type, PART, op_context);
	if (ret == 0)
		ret = rpma_atomic_write(conn, r.dst, r.end_offset, r.end, PART, op_context);
	if (ret == 0)
		ret = rpma_flush(conn, r.dst, r.end_offset, end_len, type, flags, op_context);
	if (ret)
		undo(conn, mark, &tail);
	return ret;
}
