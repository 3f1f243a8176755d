/* SPDX-License-Identifier: BSD-3-Clause */
/* receive.c -- see receive.h. */
#include "receive.h"

#include "completion.h"
#include "grh.h"
#include "mr_check.h"
#include "recv_ring.h"
#include "soft_device/powerfail/powerfail.h"

uint64_t receive_room(const struct received *received)
{
	uint64_t room = 0;

	for (uint32_t i = 0; i < received->num_sge; i++)
		room += received->sge[i].length;
	return room;
}

static void copy_out(struct received *received, const struct shared_recv *recv, uint32_t pd,
		     uint32_t position)
{
	received->wr_id = recv->wr_id;
	received->position = position;
	received->pd = pd;
	received->num_sge = recv->num_sge < SOFT_MAX_SGE ? recv->num_sge : SOFT_MAX_SGE;
	for (uint32_t i = 0; i < received->num_sge; i++)
		received->sge[i] = recv->sge[i];
}

/*
 * Takes a receive of the SRQ, for which others come as well: what was copied counts if the tail is
 * still there.
 */
static enum receive_found take_of_srq(const struct execution *x, struct shared_srq *srq,
				      uint64_t least, struct received *received)
{
	uint32_t tail = atomic_load(&srq->rq.tail), limit;
	const struct shared_recv *recv;

	do {
		recv = atomic_load(&srq->live) != 0 ? recv_ring_at(x->peer->segment, &srq->rq, tail)
						    : NULL;
		if (recv == NULL)
			return RECEIVE_NONE;
		copy_out(received, recv, srq->pd, tail);
		if (least != 0 && receive_room(received) < least)
			return RECEIVE_SHORT;
	} while (!atomic_compare_exchange_weak(&srq->rq.tail, &tail, tail + 1));
	limit = atomic_load(&srq->limit);
	if (atomic_load(&srq->rq.head) - (tail + 1) < limit && atomic_exchange(&srq->limit, 0) != 0)
		peer_raise(x->peer, &srq->raise, RAISE_SRQ_LIMIT);
	return RECEIVE_FOUND;
}

enum receive_found receive_next(const struct execution *x, uint64_t least,
				struct received *received)
{
	struct shared_srq *srq = receive_srq(x);
	const struct shared_recv *recv;
	uint32_t tail;

	if (srq != NULL)
		return take_of_srq(x, srq, least, received);
	tail = atomic_load_explicit(&x->target->rq.tail, memory_order_relaxed);
	recv = recv_ring_at(x->peer->segment, &x->target->rq, tail);
	if (recv == NULL)
		return RECEIVE_NONE;
	copy_out(received, recv, x->target->pd, tail);
	return least != 0 && receive_room(received) < least ? RECEIVE_SHORT : RECEIVE_FOUND;
}

bool receive_scatter(const struct execution *x, const struct received *received, uint64_t length,
		     struct iovec parts[SOFT_MAX_SGE], unsigned *count, enum vendor_err *why)
{
	uint64_t left = length;

	*count = 0;
	for (uint32_t i = 0; i < received->num_sge && left != 0; i++) {
		const struct ibv_sge *sge = &received->sge[i];
		uint64_t bytes = sge->length < left ? sge->length : left, memory;
		const struct shared_mr *mr;

		if (bytes == 0)
			continue;
		mr = mr_check(x->peer->segment, sge->lkey, received->pd, sge->addr, bytes,
			      IBV_ACCESS_LOCAL_WRITE, &memory);
		if (mr == NULL) {
			*why = mr_reason(x->peer->segment, sge->lkey, received->pd, sge->addr,
					 bytes, IBV_ACCESS_LOCAL_WRITE);
			return false;
		}
		powerfail_before_write(x->peer, mr, memory, bytes, x->qpn);
		parts[(*count)++] = (struct iovec){(void *)(uintptr_t)memory, bytes};
		left -= bytes;
	}
	return true;
}

bool receive_complete(const struct execution *x, const struct received *received,
		      enum ibv_wc_status status, enum vendor_err why)
{
	const struct request *request = x->request;
	bool written = request->op == REQUEST_WRITE_IMM;
	bool imm =
		written || request->op == REQUEST_SEND_IMM || request->op == REQUEST_DATAGRAM_IMM;
	struct shared_cqe cqe = {
		.wr_id = received->wr_id,
		.status = status,
		.opcode = written ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
		.vendor_err = why,
		.byte_len = request->length,
		.imm_data = imm ? request->imm_data : 0,
		.qp_num = x->qpn,
		.wc_flags = imm ? IBV_WC_WITH_IMM : 0,
		.solicited = request->solicited || status != IBV_WC_SUCCESS,
	};

	if (request->op == REQUEST_SEND_INV) {
		cqe.imm_data = request->rkey; /* ibv_wc.invalidated_rkey */
		cqe.wc_flags |= IBV_WC_WITH_INV;
	}
	if (request_is_datagram(request->op)) {
		cqe.byte_len += GRH_BYTES;
		cqe.wc_flags |= IBV_WC_GRH;
		cqe.src_qp = (request->src_qpn & 0xffffff) |
			     (uint32_t)grh_kind(&request->src_gid, &request->to) << 24;
	}
	if (receive_srq(x) == NULL)
		recv_ring_take(&x->target->rq);
	return completion_push(x->peer, x->target->recv_cq, &cqe);
}
