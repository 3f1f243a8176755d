/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sendq_native.c -- a list with native operations, which ibv_post_send() does not know, posted by
 * ibv_wr_* with one doorbell, and one more for each of several pieces of memory.
 *
 * wr.atomic of RPMA_WR_FLUSH: compare_add is the length, swap the placement type and, from bit 8,
 * the level. Of RPMA_WR_ATOMIC_WRITE: compare_add is the 8 bytes as they are in memory.
 */
#include "native.h"
#include "sendq.h"

/* At most one SGE: see is_for_post_send(). */
static void set_data(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	if ((wr->send_flags & IBV_SEND_INLINE) && wr->num_sge == 1)
		ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)wr->sg_list[0].addr,
				       wr->sg_list[0].length);
	else
		ibv_wr_set_sge_list(qpx, (size_t)wr->num_sge, wr->sg_list);
}

static void add_flush(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	rpma_native_ops(qpx)->flush(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
				    wr->wr.atomic.compare_add, (uint8_t)wr->wr.atomic.swap,
				    (uint8_t)(wr->wr.atomic.swap >> 8));
}

static void add(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	const uint32_t rkey = wr->wr.rdma.rkey;
	const uint64_t remote_addr = wr->wr.rdma.remote_addr;

	qpx->wr_id = wr->wr_id;
	/* IBV_SEND_INLINE, too, which ibv_wr_post(3) does not ask for: rxe's setter copies the
	 * data, but the kernel (rxe_req.c, finish_packet()) sends it only with this flag. */
	qpx->wr_flags = wr->send_flags;
	switch ((int)wr->opcode) {
	case RPMA_WR_FLUSH:
		add_flush(qpx, wr);
		return;
	case RPMA_WR_ATOMIC_WRITE:
		rpma_native_ops(qpx)->atomic_write(qpx, wr->wr.atomic.rkey,
						   wr->wr.atomic.remote_addr,
						   &wr->wr.atomic.compare_add);
		return;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qpx, rkey, remote_addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qpx, rkey, remote_addr, wr->imm_data);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qpx, rkey, remote_addr);
		break;
	case IBV_WR_SEND:
		ibv_wr_send(qpx);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qpx, wr->imm_data);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
				      wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
		break;
	}
	set_data(qpx, wr);
}

/*
 * librxe's setters of lists (rdma-core, providers/rxe/rxe.c, wr_set_sge_list() and
 * wr_set_inline_data_list()) take all SGEs for as long as the first one, and inline data of a list
 * for no data; so what has several pieces is posted apart.
 */
static bool is_for_post_send(const struct ibv_send_wr *wr)
{
	return wr->num_sge > 1;
}

static int post_apart(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *const next = wr->next, *bad_wr = wr;

	wr->next = NULL;
	int err = ibv_post_send(qp, wr, &bad_wr);
	wr->next = next;
	return err;
}

int rpma_sendq_post_natively(struct ibv_qp_ex *qpx, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad_wr)
{
	while (wr != NULL) {
		int err;

		*bad_wr = wr;
		if (is_for_post_send(wr)) {
			err = post_apart(&qpx->qp_base, wr);
			wr = wr->next;
		} else {
			ibv_wr_start(qpx);
			for (; wr != NULL && !is_for_post_send(wr); wr = wr->next)
				add(qpx, wr);
			err = ibv_wr_complete(qpx);
		}
		if (err)
			return err;
	}
	return 0;
}
