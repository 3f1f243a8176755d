/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_request.c -- from ibv_send_wr to a send work request, and what it needs to be executed: a
 * table of opcodes, and the check of the local memory.
 */
#include <errno.h>

#include "mr_check.h"
#include "soft_device/process/names.h"
#include "soft_device/process/process.h"
#include "soft_device/process/target_memory.h"
#include "sq.h"
#include "sq_ud.h"
#include "window.h"

const struct send_opcode sq_opcodes[SQ_OPCODES] = {
	[IBV_WR_RDMA_WRITE] = {REQUEST_WRITE, IBV_WC_RDMA_WRITE, SOFT_OP_WRITE,
			       .takes_inline = true},
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {REQUEST_WRITE_IMM, IBV_WC_RDMA_WRITE, SOFT_OP_WRITE,
					.takes_receive = true, .takes_inline = true},
	[IBV_WR_SEND] = {REQUEST_SEND, IBV_WC_SEND, SOFT_OP_SEND, .takes_receive = true,
			 .takes_inline = true},
	[IBV_WR_SEND_WITH_IMM] = {REQUEST_SEND_IMM, IBV_WC_SEND, SOFT_OP_SEND,
				  .takes_receive = true, .takes_inline = true},
	[IBV_WR_RDMA_READ] = {REQUEST_READ, IBV_WC_RDMA_READ, SOFT_OP_READ,
			      .local_access = IBV_ACCESS_LOCAL_WRITE},
	[IBV_WR_ATOMIC_CMP_AND_SWP] = {REQUEST_COMPARE_SWAP, IBV_WC_COMP_SWAP, SOFT_OP_ATOMIC,
				       .local_access = IBV_ACCESS_LOCAL_WRITE, .eight = true},
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = {REQUEST_FETCH_ADD, IBV_WC_FETCH_ADD, SOFT_OP_ATOMIC,
					 .local_access = IBV_ACCESS_LOCAL_WRITE, .eight = true},
	[IBV_WR_SEND_WITH_INV] = {REQUEST_SEND_INV, IBV_WC_SEND, SOFT_OP_SEND,
				  .takes_receive = true, .takes_inline = true},
	/* no fault is about these two, of no kind */
	[IBV_WR_LOCAL_INV] = {.op = REQUEST_LOCAL_INV, .wc = IBV_WC_LOCAL_INV},
	[IBV_WR_BIND_MW] = {.op = REQUEST_BIND_MW, .wc = IBV_WC_BIND_MW},
	[SOFT_WR_FLUSH] = {REQUEST_FLUSH, (enum ibv_wc_opcode)SOFT_WC_FLUSH, SOFT_OP_FLUSH,
			   .local_access = 0},
	[IBV_WR_ATOMIC_WRITE] = {REQUEST_ATOMIC_WRITE, (enum ibv_wc_opcode)SOFT_WC_ATOMIC_WRITE,
				 SOFT_OP_WRITE, .takes_inline = true, .eight = true},
};

uint32_t sq_opcodes_of(enum ibv_qp_type type)
{
	const uint32_t sends = 1u << IBV_WR_SEND | 1u << IBV_WR_SEND_WITH_IMM;
	const uint32_t writes = 1u << IBV_WR_RDMA_WRITE | 1u << IBV_WR_RDMA_WRITE_WITH_IMM;
	const uint32_t windows = 1u << IBV_WR_BIND_MW | 1u << IBV_WR_LOCAL_INV;

	switch (type) {
	case IBV_QPT_UD:
		return sends;
	case IBV_QPT_UC:
		return sends | writes | windows;
	default:
		return sends | writes | windows | 1u << IBV_WR_SEND_WITH_INV |
		       1u << IBV_WR_RDMA_READ | 1u << IBV_WR_ATOMIC_CMP_AND_SWP |
		       1u << IBV_WR_ATOMIC_FETCH_AND_ADD | 1u << SOFT_WR_FLUSH |
		       1u << IBV_WR_ATOMIC_WRITE;
	}
}

/* A request that is refused, with its wr_id. */
#define REFUSE_WORK(sq, wr, format, ...)                                                           \
	REFUSE_OF(EINVAL, "ibv_post_send", "QP %#x: wr_id %#llx: " format, (sq)->qpn,              \
		  (unsigned long long)(wr)->wr_id, __VA_ARGS__)

int sq_refuse_full(const struct send_queue *sq)
{
	return REFUSE_OF(ENOMEM, "ibv_post_send",
			 "QP %#x: its send queue is full: %u requests (max_send_wr) wait for a "
			 "completion, theirs or a later one's, to be polled",
			 sq->qpn, sq->max_wr);
}

int sq_refuse_state(const struct send_queue *sq)
{
	return REFUSE_OF(EINVAL, "ibv_post_send", "QP %#x: it is in %s, not in RTS", sq->qpn,
			 name_of_state(sq_state(sq)));
}

/* Takes the requests for memory windows, which name no memory of the target. */
static __attribute__((noinline)) const char *take_window(const struct ibv_send_wr *wr,
							 struct send_work *work)
{
	if (wr->opcode == IBV_WR_BIND_MW)
		return window_take(work, wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
	work->request.rkey = wr->invalidate_rkey;
	if (wr->opcode == IBV_WR_LOCAL_INV)
		work->num_sge = 0;
	return NULL;
}

/* Fills in the target of the request. NULL, or the reason to refuse it. */
static inline const char *take_target(const struct send_queue *sq, const struct ibv_send_wr *wr,
				      struct send_work *work)
{
	struct request *request = &work->request;

	if (sq->ud != NULL)
		return sq_ud_take_to(wr, work) ? NULL : "wr.ud.ah is NULL";
	if (__builtin_expect(wr->opcode >= IBV_WR_LOCAL_INV && wr->opcode <= IBV_WR_SEND_WITH_INV,
			     0))
		return take_window(wr, work);
	if (sq_opcodes[wr->opcode].kind == SOFT_OP_ATOMIC) {
		request->remote_addr = wr->wr.atomic.remote_addr;
		request->rkey = wr->wr.atomic.rkey;
		request->compare_add = wr->wr.atomic.compare_add;
		request->swap = wr->wr.atomic.swap;
	} else {
		request->remote_addr = wr->wr.rdma.remote_addr;
		request->rkey = wr->wr.rdma.rkey;
	}
	return NULL;
}

int sq_take_work(const struct send_queue *sq, const struct ibv_send_wr *wr, struct send_work *work)
{
	const struct send_opcode *opcode =
		&sq_opcodes[(unsigned)wr->opcode < SQ_OPCODES ? wr->opcode : 0];
	const unsigned flags =
		IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;
	const char *wrong;

	if ((unsigned)wr->opcode >= SQ_OPCODES || (sq->opcodes >> wr->opcode & 1) == 0 ||
	    opcode->op == REQUEST_FLUSH)
		return REFUSE_WORK(sq, wr, "opcode %d is not supported", (int)wr->opcode);
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > sq->max_sge)
		return REFUSE_WORK(sq, wr, "num_sge is %d, max_send_sge %u", wr->num_sge,
				   sq->max_sge);
	if ((wr->send_flags & ~flags) != 0)
		return REFUSE_WORK(sq, wr, "unknown send_flags %#x", wr->send_flags & ~flags);
	work->wr_id = wr->wr_id;
	work->opcode = wr->opcode;
	work->flags = wr->send_flags;
	work->num_sge = (uint32_t)wr->num_sge;
	work->sge = wr->sg_list;
	work->request = (struct request){.imm_data = wr->imm_data};
	wrong = take_target(sq, wr, work);
	if (wrong != NULL)
		return REFUSE_WORK(sq, wr, "%s", wrong);
	if (opcode->eight && sq_length(work) < 8)
		return REFUSE_WORK(sq, wr, "an atomic operation needs 8 bytes of memory, not %llu",
				   (unsigned long long)sq_length(work));
	if ((work->flags & IBV_SEND_INLINE) && !opcode->takes_inline)
		return REFUSE_WORK(sq, wr, "opcode %d has no inline data", (int)wr->opcode);
	if ((work->flags & IBV_SEND_INLINE) && sq_length(work) > sq->max_inline)
		return REFUSE_WORK(sq, wr, "%llu bytes of inline data, max_inline_data is %u",
				   (unsigned long long)sq_length(work), sq->max_inline);
	return 0;
}

void sq_finish_atomic(const struct send_queue *sq, const struct send_work *work,
		      enum ibv_wc_status own, const struct local_memory *local,
		      struct outcome *outcome)
{
	struct iovec from = {&outcome->before, sizeof(outcome->before)};

	if (own != IBV_WC_SUCCESS)
		*outcome = outcome_failed(own, sq_request_reason(sq, work, own));
	else if (target_memory_write(0, &from, 1, local->parts, local->count) != 0)
		*outcome = outcome_failed(IBV_WC_LOC_PROT_ERR, VENDOR_UNMAPPED);
}

/* The local parts of the request, their keys checked. */
static enum ibv_wc_status gather(const struct send_queue *sq, struct send_work *work,
				 uint32_t access, uint64_t most, struct local_memory *local)
{
	uint64_t bytes = 0, memory = 0;
	unsigned count = 0;

	for (uint32_t i = 0; i < work->num_sge && bytes < most; i++) {
		const struct ibv_sge *sge = &work->sge[i];
		uint64_t part = sge->length < most - bytes ? sge->length : most - bytes;

		if (part == 0)
			continue;
		memory = sge->addr;
		if (!(work->flags & IBV_SEND_INLINE) &&
		    mr_check(process_current->segment, sge->lkey, sq->pd, sge->addr, part, access,
			     &memory) == NULL)
			return IBV_WC_LOC_PROT_ERR;
		local->parts[count++] = (struct iovec){(void *)(uintptr_t)memory, part};
		bytes += part;
	}
	local->count = count;
	if (work->opcode != SOFT_WR_FLUSH)
		work->request.length = (uint32_t)bytes;
	return bytes > SOFT_MAX_MESSAGE ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}

enum ibv_wc_status sq_make_request(const struct send_queue *sq, struct send_work *work,
				   struct local_memory *local)
{
	const struct send_opcode *opcode = &sq_opcodes[work->opcode];
	struct request *request = &work->request;
	/* what an atomic write carries in its request */
	const struct iovec value = {&request->swap, sizeof(request->swap)};
	enum ibv_wc_status status =
		gather(sq, work, opcode->local_access,
		       opcode->eight ? 8 : (uint64_t)SOFT_MAX_MESSAGE + 1, local);

	if (!sq_goes_out(work, status))
		return status;
	if (status != IBV_WC_SUCCESS) {
		local->count = 0;
		request->length = 8;
	}
	if ((opcode->kind == SOFT_OP_READ || opcode->kind == SOFT_OP_ATOMIC) &&
	    sq->path.max_rd_atomic == 0)
		return IBV_WC_LOC_QP_OP_ERR;
	local->receive = NULL;
	request->op = opcode->op;
	request->solicited = (work->flags & IBV_SEND_SOLICITED) != 0;
	request->framing = sq->path.framing;
	request->src_qpn = sq->qpn;
	request->src_gid = sq->gid;
	if (opcode->op == REQUEST_ATOMIC_WRITE &&
	    target_memory_read(0, &value, 1, local->parts, local->count) != 0)
		return IBV_WC_LOC_PROT_ERR;
	return status;
}

/* The first part that gather() refused; NULL: none does by now. */
const struct ibv_sge *sq_bad_part(const struct send_queue *sq, const struct send_work *work,
				  enum vendor_err *why)
{
	const struct send_opcode *opcode = &sq_opcodes[work->opcode];
	uint64_t most = opcode->eight ? 8 : (uint64_t)SOFT_MAX_MESSAGE + 1;

	*why = VENDOR_NONE;
	if (work->flags & IBV_SEND_INLINE)
		return NULL;
	for (uint32_t i = 0; i < work->num_sge && most > 0; i++) {
		const struct ibv_sge *sge = &work->sge[i];
		uint64_t part = sge->length < most ? sge->length : most;

		if (part != 0)
			*why = mr_reason(process_current->segment, sge->lkey, sq->pd, sge->addr,
					 part, opcode->local_access);
		if (*why != VENDOR_NONE)
			return sge;
		most -= part;
	}
	return NULL;
}

enum vendor_err sq_request_reason(const struct send_queue *sq, const struct send_work *work,
				  enum ibv_wc_status status)
{
	enum vendor_err why = VENDOR_NONE;

	if (status == IBV_WC_LOC_LEN_ERR)
		return VENDOR_TOO_LONG;
	if (status == IBV_WC_LOC_QP_OP_ERR)
		return VENDOR_NO_READS;
	if (status == IBV_WC_LOC_PROT_ERR && sq_bad_part(sq, work, &why) == NULL)
		return VENDOR_UNMAPPED; /* the keys are good */
	return why;
}
