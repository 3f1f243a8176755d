/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp_ex.c -- the ibv_wr_* interface of extended QPs.
 *
 * Between wr_start and wr_complete requests are built in the free slots of the send
 * queue, which do not count before wr_complete: so it is all of them or none. The `build`
 * lock is held all that time, as the interface is a critical section; what runs the queue
 * does not take it, and ibv_post_send() only when it sees that it is held.
 */
#include <errno.h>
#include <string.h>

#include "qp.h"
#include "soft_device/datapath/sq_check.h"
#include "soft_device/datapath/sq_ud.h"
#include "soft_device/datapath/window.h"
#include "soft_device/faults/call.h"
#include "soft_device/process/names.h"
#include "soft_device/process/process.h"

static struct qp *qp_of_ex(struct ibv_qp_ex *ex)
{
	return (struct qp *)(void *)ex;
}

/* --- requests --- */

/* The requests since ibv_wr_start() are refused, for the first reason there is. */
#define REFUSE_BUILD(sq, error, format, ...)                                                       \
	do {                                                                                       \
		if ((sq)->build_error == 0)                                                        \
			(sq)->build_error = REFUSE_OF(error, "ibv_wr_complete", "QP %#x: " format, \
						      (sq)->qpn, __VA_ARGS__);                     \
	} while (0)

/* The slot for the next request; NULL when something is wrong with this or an earlier one. */
static struct send_slot *begin(struct ibv_qp_ex *ex, uint32_t opcode)
{
	struct qp *qp = qp_of_ex(ex);
	struct send_queue *sq = &qp->sq;
	const unsigned flags =
		IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;

	if ((ex->wr_flags & ~flags) != 0)
		REFUSE_BUILD(sq, EINVAL, "wr_id %#llx: unknown wr_flags %#x",
			     (unsigned long long)ex->wr_id, ex->wr_flags & ~flags);
	if (sq->build_error == 0 && !sq_has_room(sq, sq->building + 1))
		REFUSE_BUILD(sq, ENOMEM,
			     "its send queue is full: of %u requests (max_send_wr) all but %u wait "
			     "for a completion, theirs or a later one's, to be polled",
			     sq->max_wr, sq->building);
	if (sq->build_error != 0)
		return NULL;
	struct send_slot *slot = sq_slot(sq, sq->posted + sq->building);

	*slot = (struct send_slot){.work = {
					   .wr_id = ex->wr_id,
					   .opcode = opcode,
					   /* whether data are inline is told by the setters */
					   .flags = ex->wr_flags & ~(unsigned)IBV_SEND_INLINE,
					   .sge = slot->sge,
				   }};
	sq->building++;
	return slot;
}

/* The slot that the last request is in; NULL as above. */
static struct send_slot *current(struct qp *qp)
{
	struct send_queue *sq = &qp->sq;

	if (sq->building == 0)
		REFUSE_BUILD(sq, EINVAL, "%s", "data are set before there is a request");
	if (sq->build_error != 0)
		return NULL;
	return sq_slot(sq, sq->posted + sq->building - 1);
}

/* Begins a request that has memory of the target. */
static struct send_slot *begin_rdma(struct ibv_qp_ex *ex, uint32_t opcode, uint32_t rkey,
				    uint64_t addr, uint32_t imm_data)
{
	struct send_slot *slot = begin(ex, opcode);

	if (slot == NULL)
		return NULL;
	slot->work.request.rkey = rkey;
	slot->work.request.remote_addr = addr;
	slot->work.request.imm_data = imm_data;
	return slot;
}

static void begin_atomic(struct ibv_qp_ex *ex, uint32_t opcode, uint32_t rkey, uint64_t addr,
			 uint64_t compare_add, uint64_t swap)
{
	struct send_slot *slot = begin_rdma(ex, opcode, rkey, addr, 0);

	if (slot == NULL)
		return;
	slot->work.request.compare_add = compare_add;
	slot->work.request.swap = swap;
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	begin_rdma(ex, IBV_WR_RDMA_WRITE, rkey, addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, __be32 imm_data)
{
	begin_rdma(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, addr, imm_data);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	begin_rdma(ex, IBV_WR_RDMA_READ, rkey, addr, 0);
}

static void wr_send(struct ibv_qp_ex *ex)
{
	begin_rdma(ex, IBV_WR_SEND, 0, 0, 0);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
	begin_rdma(ex, IBV_WR_SEND_WITH_IMM, 0, 0, imm_data);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t compare,
			      uint64_t swap)
{
	begin_atomic(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, addr, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t add)
{
	begin_atomic(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, addr, add, 0);
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	begin_rdma(ex, IBV_WR_SEND_WITH_INV, rkey, 0, 0);
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	begin_rdma(ex, IBV_WR_LOCAL_INV, rkey, 0, 0);
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct qp *qp = qp_of_ex(ex);
	struct send_slot *slot = begin(ex, IBV_WR_BIND_MW);
	const char *wrong = slot == NULL ? NULL : window_take(&slot->work, mw, rkey, info);

	if (wrong != NULL)
		REFUSE_BUILD(&qp->sq, EINVAL, "wr_id %#llx: %s",
			     (unsigned long long)slot->work.wr_id, wrong);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct send_slot *slot = current(qp_of_ex(ex));

	if (slot != NULL)
		sq_ud_set_to(&slot->work, ah, qpn, qkey);
}

/* --- their data --- */

static void put_inline(struct qp *qp, struct send_slot *slot, const struct ibv_data_buf *bufs,
		       size_t count)
{
	unsigned char *data = sq_slot_data(&qp->sq, slot);
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		memcpy(data + bytes, bufs[i].addr, bufs[i].length);
		bytes += bufs[i].length;
	}
	slot->sge[0] = (struct ibv_sge){(uintptr_t)data, (uint32_t)bytes, 0};
	slot->work.num_sge = 1;
	slot->work.flags |= IBV_SEND_INLINE;
}

/* SIZE_MAX: more than can be counted. */
static size_t bytes_of(const struct ibv_data_buf *bufs, size_t count)
{
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		if (__builtin_add_overflow(bytes, bufs[i].length, &bytes))
			return SIZE_MAX;
	return bytes;
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t count,
				    const struct ibv_data_buf *bufs)
{
	struct qp *qp = qp_of_ex(ex);
	struct send_slot *slot = current(qp);
	size_t bytes;

	if (slot == NULL)
		return;
	bytes = bytes_of(bufs, count);
	if (!sq_opcodes[slot->work.opcode].takes_inline) {
		REFUSE_BUILD(&qp->sq, EINVAL, "opcode %u has no inline data", slot->work.opcode);
	} else if (bytes > qp->sq.max_inline) {
		if (check_any)
			sq_check_build(&qp->sq, CHECK_INLINE_TOO_LONG, bytes, qp->sq.max_inline);
		REFUSE_BUILD(&qp->sq, EINVAL,
			     "wr_id %#llx: more inline data than max_inline_data, %u bytes",
			     (unsigned long long)slot->work.wr_id, qp->sq.max_inline);
	} else {
		put_inline(qp, slot, bufs, count);
	}
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = {addr, length};

	wr_set_inline_data_list(ex, 1, &buf);
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t count, const struct ibv_sge *sge)
{
	struct qp *qp = qp_of_ex(ex);
	struct send_slot *slot = current(qp);

	if (slot == NULL)
		return;
	if (count > qp->sq.max_sge) {
		if (check_any)
			sq_check_build(&qp->sq, CHECK_TOO_MANY_SGES, count, qp->sq.max_sge);
		REFUSE_BUILD(&qp->sq, EINVAL, "wr_id %#llx: %zu parts, max_send_sge is %u",
			     (unsigned long long)slot->work.wr_id, count, qp->sq.max_sge);
		return;
	}
	if (count != 0)
		memcpy(slot->sge, sge, count * sizeof(*sge));
	slot->work.num_sge = (uint32_t)count;
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = {addr, length, lkey};

	wr_set_sge_list(ex, 1, &sge);
}

static void wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, const void *value)
{
	struct send_slot *slot = begin_rdma(ex, IBV_WR_ATOMIC_WRITE, rkey, addr, 0);
	struct ibv_data_buf buf = {(void *)(uintptr_t)value, 8};

	if (slot != NULL)
		put_inline(qp_of_ex(ex), slot, &buf, 1);
}

static void wr_flush(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, size_t length,
		     uint8_t type, uint8_t level)
{
	struct qp *qp = qp_of_ex(ex);
	struct send_slot *slot = begin_rdma(ex, SOFT_WR_FLUSH, rkey, addr, 0);

	if (slot == NULL)
		return;
	if (length > UINT32_MAX || type == 0 ||
	    (type & ~(SOFT_FLUSH_GLOBAL | SOFT_FLUSH_PERSISTENT)) != 0 || level > SOFT_FLUSH_MR) {
		REFUSE_BUILD(&qp->sq, EINVAL,
			     "wr_id %#llx: a flush of %zu bytes, type %#x, level %u",
			     (unsigned long long)slot->work.wr_id, length, type, level);
		return;
	}
	slot->work.request.length = (uint32_t)length;
	slot->work.request.flush_type = type;
	slot->work.request.flush_level = level;
}

/* --- the critical section --- */

static void wr_start(struct ibv_qp_ex *ex)
{
	struct send_queue *sq = &qp_of_ex(ex)->sq;

	pthread_mutex_lock(&sq->build);
	shared_lock_take(&sq->lock);
	sq->in_build = true;
	shared_lock_release(&sq->lock);
	sq->building = 0;
	sq->build_error = 0;
	if (process_is_foreign(qp_of_ex(ex)->generation))
		REFUSE_BUILD(sq, EIO, "%s", CALL_OF_PARENT);
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	struct send_queue *sq = &qp_of_ex(ex)->sq;

	shared_lock_take(&sq->lock);
	sq->in_build = false;
	shared_lock_release(&sq->lock);
	pthread_mutex_unlock(&sq->build);
}

/* Checks a request once its data are known. */
static int check_lengths(const struct send_queue *sq)
{
	for (uint32_t i = 0; i < sq->building; i++) {
		const struct send_work *work = &sq_slot(sq, sq->posted + i)->work;

		if (sq_opcodes[work->opcode].eight && sq_length(work) < 8)
			return REFUSE_OF(
				EINVAL, "ibv_wr_complete",
				"QP %#x: wr_id %#llx: an atomic operation needs 8 bytes of "
				"memory, not %llu",
				sq->qpn, (unsigned long long)work->wr_id,
				(unsigned long long)sq_length(work));
	}
	return 0;
}

static int complete(struct ibv_qp_ex *ex)
{
	struct qp *qp = qp_of_ex(ex);
	struct send_queue *sq = &qp->sq;
	int error = FAULT_CALL_AS("ibv_wr_complete");

	if (error == 0)
		error = sq->build_error;
	if (error == 0)
		error = check_lengths(sq);
	shared_lock_take(&sq->lock);
	sq->in_build = false;
	if (error == 0 && qp_state(qp) < IBV_QPS_RTS)
		error = REFUSE_OF(EINVAL, "ibv_wr_complete", "QP %#x: it is in %s, not in RTS",
				  sq->qpn, name_of_state(qp_state(qp)));
	for (uint32_t i = 0; i < sq->building && error == 0; i++) {
		if (__builtin_expect(fault_any, 0))
			sq_fault_posted(&qp->sq, sq_slot(sq, sq->posted));
		sq->posted++;
	}
	if (error == 0)
		sq_run_locked(&qp->sq);
	shared_lock_release(&sq->lock);
	pthread_mutex_unlock(&sq->build);
	return error == 0 ? 0 : call_error(error);
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct send_queue *sq = &qp_of_ex(ex)->sq;
	int error;

	if (!check_any)
		return complete(ex);
	sq_check_enter(STACK_ENTRY());
	error = complete(ex);
	if (process_is_foreign(qp_of_ex(ex)->generation))
		check_foreign("ibv_wr_complete", sq->qpn);
	else if (error == ENOMEM || (error != 0 && sq_state(sq) < IBV_QPS_RTS))
		sq_check_refused(sq, NULL, NULL, error);
	sq_check_leave();
	return error;
}

/* --- making --- */

static uint64_t known_ops(enum ibv_qp_type type)
{
	static const struct {
		uint64_t flag;
		uint32_t opcode;
	} ops[] = {
		{IBV_QP_EX_WITH_SEND, IBV_WR_SEND},
		{IBV_QP_EX_WITH_SEND_WITH_IMM, IBV_WR_SEND_WITH_IMM},
		{IBV_QP_EX_WITH_RDMA_WRITE, IBV_WR_RDMA_WRITE},
		{IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM},
		{IBV_QP_EX_WITH_RDMA_READ, IBV_WR_RDMA_READ},
		{IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_CMP_AND_SWP},
		{IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_FETCH_AND_ADD},
		{IBV_QP_EX_WITH_SEND_WITH_INV, IBV_WR_SEND_WITH_INV},
		{IBV_QP_EX_WITH_LOCAL_INV, IBV_WR_LOCAL_INV},
		{IBV_QP_EX_WITH_BIND_MW, IBV_WR_BIND_MW},
		{SOFT_QP_EX_WITH_FLUSH, SOFT_WR_FLUSH},
		{SOFT_QP_EX_WITH_ATOMIC_WRITE, IBV_WR_ATOMIC_WRITE},
	};
	const uint32_t opcodes = sq_opcodes_of(type);
	uint64_t known = 0;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (opcodes & 1u << ops[i].opcode)
			known |= ops[i].flag;
	}
	return known;
}

typedef void (*flush_pointer)(struct ibv_qp_ex *, uint32_t, uint64_t, size_t, uint8_t, uint8_t);

int qp_ex_check(enum ibv_qp_type type, uint64_t send_ops_flags)
{
	const uint64_t unknown = send_ops_flags & ~known_ops(type);

	if (unknown != 0)
		return REFUSE(EOPNOTSUPP, "ibv_create_qp_ex", "unknown send_ops_flags %#llx",
			      (unsigned long long)unknown);
	return 0;
}

void qp_ex_init(struct qp *qp, uint64_t send_ops_flags)
{
	struct ibv_qp_ex *ex = &qp->ex;
	const flush_pointer flush = wr_flush;

#define SET(flag, pointer)                                                                         \
	do {                                                                                       \
		if (send_ops_flags & (flag))                                                       \
			ex->pointer = pointer;                                                     \
	} while (0)
	SET(IBV_QP_EX_WITH_RDMA_WRITE, wr_rdma_write);
	SET(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, wr_rdma_write_imm);
	SET(IBV_QP_EX_WITH_SEND, wr_send);
	SET(IBV_QP_EX_WITH_SEND_WITH_IMM, wr_send_imm);
	SET(IBV_QP_EX_WITH_RDMA_READ, wr_rdma_read);
	SET(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, wr_atomic_cmp_swp);
	SET(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, wr_atomic_fetch_add);
	SET(IBV_QP_EX_WITH_SEND_WITH_INV, wr_send_inv);
	SET(IBV_QP_EX_WITH_LOCAL_INV, wr_local_inv);
	SET(IBV_QP_EX_WITH_BIND_MW, wr_bind_mw);
	SET(SOFT_QP_EX_WITH_ATOMIC_WRITE, wr_atomic_write);
#undef SET
	if (send_ops_flags & SOFT_QP_EX_WITH_FLUSH)
		memcpy(qp->room + QP_EX_FLUSH_OFFSET, &flush, sizeof(flush));
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	if (qp->init.qp_type == IBV_QPT_UD)
		ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	qp->has_ex = true;
}
