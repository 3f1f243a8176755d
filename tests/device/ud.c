/* SPDX-License-Identifier: BSD-3-Clause */
/* ud.c -- see ud.h. */
#include "ud.h"

void ud_open_with(struct end *end, const struct end_options *options, unsigned seed)
{
	end_open(end, options, -1);
	end_to_rtr(end, NULL);
	end_to_rts(end);
	fill(end->memory, options->memory_size, seed);
}

void ud_open(struct end *end, unsigned seed)
{
	struct end_options options = end_defaults();

	options.type = IBV_QPT_UD;
	ud_open_with(end, &options, seed);
}

struct ibv_ah_attr ud_path(const struct end *from, const union ibv_gid *gid)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = {.dgid = *gid, .sgid_index = (uint8_t)from->gid_index, .hop_limit = 64},
	};
}

struct ibv_ah *ud_ah(const struct end *from, const union ibv_gid *gid)
{
	struct ibv_ah_attr path = ud_path(from, gid);
	struct ibv_ah *ah = ibv_create_ah(from->pd, &path);

	assert_non_null(ah);
	return ah;
}

struct ibv_send_wr *ud_work(struct end *from, struct ibv_ah *ah, uint32_t qpn, uint32_t length)
{
	static struct ibv_sge sge;
	static struct ibv_send_wr wr;

	sge = (struct ibv_sge){(uintptr_t)from->memory, length, from->mr->lkey};
	wr = (struct ibv_send_wr){
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {.ah = ah, .remote_qpn = qpn, .remote_qkey = END_QKEY},
	};
	return &wr;
}

void ud_post(struct end *from, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;

	OK(ibv_post_send(from->qp, wr, &bad));
}

void ud_send(struct end *from, struct ibv_send_wr *wr)
{
	uint64_t wr_id = wr->wr_id;

	ud_post(from, wr);
	assert_int_equal(EXPECT_WC(from->cq, wr_id, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
}

struct ibv_wc ud_arrived(struct end *to, uint64_t wr_id, size_t offset, const struct end *from,
			 uint32_t length)
{
	struct ibv_wc wc = EXPECT_WC(to->cq, wr_id, IBV_WC_SUCCESS);

	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.byte_len, GRH + length);
	assert_int_equal(wc.qp_num, to->qp->qp_num);
	assert_int_equal(wc.src_qp, from->qp->qp_num);
	assert_true(wc.wc_flags & IBV_WC_GRH);
	assert_memory_equal(to->memory + offset + GRH, from->memory, length);
	return wc;
}

void ud_settle(struct end *from, struct end *over)
{
	const uint32_t offset = END_MEMORY - 256;
	struct ibv_ah *ah = ud_ah(from, &over->gid);

	end_recv(over, 99, offset, 64);
	ud_send(from, ud_work(from, ah, over->qp->qp_num, 8));
	ud_arrived(over, 99, offset, from, 8);
	OK(ibv_destroy_ah(ah));
}
