/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * append.c -- a write and its flush in one call, and a record with the new end of a log.
 *
 * Their operations wait for one doorbell. What an earlier call left waiting and the next one
 * makes superfluous is taken back first.
 */
#include "conn.h"
#include "native.h"
#include "work.h"

#include <inttypes.h>
#include <string.h>

/* The parts of a call come before the last one, so they leave no completion unless they fail. */
enum { PART = RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE | RPMA_F_PART };

static int check_record(const struct rpma_conn *conn, const struct rpma_mr_remote *dst,
			const struct rpma_mr_local *src, size_t len, int flags,
			const char *function)
{
	if (conn == NULL || dst == NULL || src == NULL)
		return RPMA_FAIL_NULL_OF(function, conn, dst, src);
	if (flags == 0)
		return rpma_flags_refused(function);
	if (!rpma_len_fits(len))
		return RPMA_FAIL_OF(function, RPMA_E_INVAL, "len is %zu, expected at most %u", len,
				    UINT32_MAX);
	if ((flags & RPMA_F_INLINE) && len > conn->options[RPMA_CONN_OPT_INLINE_SIZE])
		return rpma_inline_refused(function, len, conn->options[RPMA_CONN_OPT_INLINE_SIZE]);
	return 0;
}

/* Checks where the end of the log is to be; of a record that is in the region. */
static int check_end(const struct rpma_record *record)
{
	static const char function[] = "rpma_append";
	const struct rpma_mr_remote *dst = record->dst;
	const size_t end_offset = record->end_offset, len = RPMA_ATOMIC_WRITE_ALIGNMENT;
	const void *end = record->end;

	if (end == NULL)
		return RPMA_FAIL_NULL_OF(function, end);
	if (end_offset % len != 0)
		return RPMA_FAIL_OF(function, RPMA_E_INVAL,
				    "end_offset is %zu, expected a multiple of 8", end_offset);
	if (end_offset > dst->size || len > dst->size - end_offset)
		return RPMA_FAIL_OF(function, RPMA_E_INVAL,
				    "end_offset is %zu, expected 8 bytes in a region of %" PRIu64,
				    end_offset, dst->size);
	if ((dst->addr + end_offset) % len != 0)
		return RPMA_FAIL_OF(function, RPMA_E_INVAL,
				    "end_offset %zu is address 0x%" PRIx64
				    " of the peer, expected a multiple of 8",
				    end_offset, dst->addr + end_offset);
	if (record->len != 0 && end_offset + len > record->dst_offset &&
	    end_offset < record->dst_offset + record->len)
		return RPMA_FAIL_OF(function, RPMA_E_INVAL,
				    "end_offset is %zu, inside the record of %zu bytes at %zu",
				    end_offset, record->len, record->dst_offset);
	return 0;
}

/*
 * The end of a call whose operations wait: its flush, or the two flushes of rpma_append() and the
 * end between them. Where the next call is of the same region it is taken back, because the next
 * one's does its work, too: the read of a flush covers all writes before it, and a newer end
 * replaces an older one.
 */
enum { SUPERSEDED_MAX = 3 };

struct superseded {
	struct rpma_send_work works[SUPERSEDED_MAX]; /* in the order in which they waited */
	unsigned count;
	char end[RPMA_ATOMIC_WRITE_ALIGNMENT];
};

/* True if a work request waits, leaves no completion and is for this region. wr may be NULL. */
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
static unsigned superseded_count(const struct rpma_conn *conn, const struct rpma_mr_remote *dst,
				 const size_t *end_offset)
{
	const struct rpma_sendq *q = &conn->sendq;

	if ((conn->native_flush && dst->native_flush) ||
	    !is_flush(conn, rpma_sendq_peek_back(q, 0), dst))
		return 0;
	if (end_offset != NULL && is_end(rpma_sendq_peek_back(q, 1), dst, *end_offset) &&
	    is_flush(conn, rpma_sendq_peek_back(q, 2), dst))
		return SUPERSEDED_MAX;
	return 1;
}

static void take_superseded(struct rpma_conn *conn, const struct rpma_mr_remote *dst,
			    const size_t *end_offset, struct superseded *old, uint32_t *mark)
{
	old->count = superseded_count(conn, dst, end_offset);
	if (old->count == 0)
		return;
	for (unsigned i = 0; i < old->count; i++) {
		struct rpma_send_work *work = &old->works[i];

		work->wr = *rpma_sendq_peek_back(&conn->sendq, old->count - 1 - i);
		if (work->wr.num_sge == 0)
			continue;
		work->sge = work->wr.sg_list[0];
		work->wr.sg_list = &work->sge;
		if (work->wr.send_flags & IBV_SEND_INLINE) { /* its bytes are in the slot */
			memcpy(old->end, (const void *)(uintptr_t)work->sge.addr, sizeof(old->end));
			work->sge.addr = (uint64_t)(uintptr_t)old->end;
		}
	}
	*mark -= old->count;
	rpma_sendq_withdraw(conn, *mark);
}

/* The call failed: what waited before it waits again. There is room, as there was before. */
__attribute__((cold)) static void undo(struct rpma_conn *conn, uint32_t mark,
				       struct superseded *old)
{
	rpma_sendq_withdraw(conn, mark);
	for (unsigned i = 0; i < old->count; i++)
		(void)rpma_sendq_post(conn, &old->works[i].wr, PART);
}

int rpma_write_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
		     const struct rpma_mr_local *src, size_t src_offset, size_t len,
		     enum rpma_flush_type type, int flags, const void *op_context)
{
	struct superseded old;
	uint32_t mark;

	int ret = check_record(conn, dst, src, len, flags, __func__);
	if (ret == 0)
		ret = rpma_flush_range_check(conn, dst, dst_offset, len, type, __func__);
	if (ret == 0)
		ret = rpma_flush_check(conn, dst, type, flags);
	if (ret == 0)
		ret = rpma_sendq_reserve(conn, 2, &mark);
	if (ret)
		return ret;

	take_superseded(conn, dst, NULL, &old, &mark);
	ret = rpma_write(conn, dst, dst_offset, src, src_offset, len,
			 PART | (flags & RPMA_F_INLINE), op_context);
	if (ret == 0)
		ret = rpma_flush(conn, dst, dst_offset, len, type, flags, op_context);
	if (ret)
		undo(conn, mark, &old);
	return ret;
}

int rpma_append(struct rpma_conn *conn, const struct rpma_record *record, int flags,
		const void *op_context)
{
	const enum rpma_flush_type type = RPMA_FLUSH_TYPE_PERSISTENT;
	const size_t end_len = RPMA_ATOMIC_WRITE_ALIGNMENT;
	struct superseded old;
	uint32_t mark;

	if (record == NULL)
		return RPMA_FAIL_NULL(conn, record);
	const struct rpma_record r = *record;
	int ret = check_record(conn, r.dst, r.src, r.len, flags, __func__);
	if (ret == 0)
		ret = rpma_flush_range_check(conn, r.dst, r.dst_offset, r.len, type, __func__);
	if (ret == 0)
		ret = check_end(&r);
	if (ret == 0)
		ret = rpma_flush_check(conn, r.dst, type, flags);
	if (ret == 0)
		ret = rpma_sendq_reserve(conn, RPMA_SENDQ_PARTS_MAX, &mark);
	if (ret)
		return ret;

	take_superseded(conn, r.dst, &r.end_offset, &old, &mark);
	ret = rpma_write(conn, r.dst, r.dst_offset, r.src, r.src_offset, r.len,
			 PART | (flags & RPMA_F_INLINE), op_context);
	if (ret == 0)
		ret = rpma_flush(conn, r.dst, r.dst_offset, r.len, type, PART, op_context);
	if (ret == 0)
		ret = rpma_atomic_write(conn, r.dst, r.end_offset, r.end, PART, op_context);
	if (ret == 0)
		ret = rpma_flush(conn, r.dst, r.end_offset, end_len, type, flags, op_context);
	if (ret)
		undo(conn, mark, &old);
	return ret;
}
