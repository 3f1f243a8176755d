/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: not-durable; at main; QP */
/* SHOWS: nothing */
/* A novice flushed, and believed that a flush to visibility is one to persistence. */
#include "durable.h"

/* From the headers of rdma-core 45; earlier ones lack them. */
#define ACCESS_FLUSH_GLOBAL (1u << 8)
#define QP_EX_WITH_FLUSH    (UINT64_C(1) << 11)
#define FLUSH_GLOBAL	    1u
#define FLUSH_RANGE	    0u

typedef void (*flush_call)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, size_t length,
			   uint8_t type, uint8_t level);

/* Instead of the queue pair that it has. */
static void make_flushing(struct end *end)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.cap = end->options.cap,
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.pd = end->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | QP_EX_WITH_FLUSH,
	};

	MUST(ibv_destroy_qp(end->qp));
	end->qp = HAVE(ibv_create_qp_ex(end->context, &init));
	qp_to_init(end, end->qp);
}

/* The member of the newer headers is behind the last of the older ones. */
static void flush(struct ibv_qp *qp, uint64_t addr, uint32_t rkey, size_t length)
{
	struct ibv_qp_ex *ex = HAVE(ibv_qp_to_qp_ex(qp));
	flush_call call;

	memcpy(&call, (char *)&ex->wr_atomic_write + sizeof(call), sizeof(call));
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	call(ex, rkey, addr, length, FLUSH_GLOBAL, FLUSH_RANGE);
	MUST(ibv_wr_complete(ex));
}

int main(void)
{
	struct options options = defaults();
	struct address here;
	struct ibv_mr *mr;

	options.qp_access |= ACCESS_FLUSH_GLOBAL;
	end_open(&near, NULL);
	end_open(&far, &options);
	make_flushing(&near);
	here = end_address(&near);
	there = end_address(&far);
	qp_connect(&far, far.qp, &here);
	qp_connect(&near, near.qp, &there);
	durable_map();
	mr = HAVE(ibv_reg_mr(far.pd, durable_memory, PAGE, ACCESS | ACCESS_FLUSH_GLOBAL));
	names("%#x", near.qp->qp_num);
	names("flushed for visibility only");
	fill(near.memory, 200, 1);
	POST(near, request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 200), durable_addr, mr->rkey));
	await(near.cq);
	flush(near.qp, durable_addr, mr->rkey, 200);
	await(near.cq);
	DURABLE_AT_PEER(near.qp, durable_addr, 200); /* HERE */
	MUST(ibv_dereg_mr(mr));
	durable_unmap();
	return 0;
}
