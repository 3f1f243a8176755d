/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ud.c -- unreliable datagrams: address handles, the GRH at the receiver, and what is
 * dropped without a word. Of a message that must not arrive nothing is waited for: the next one
 * takes the receive that it would have taken.
 */
#include "ud.h"

#include <arpa/inet.h>

#define MTU  4096
#define ROOM (GRH + MTU)

static struct end a, b, c;	 /* a test opens `c` ... */
static struct ibv_ah *to_b, *ah; /* ... and makes `ah`, which end with it */

static int setup_ends(void **unused)
{
	ud_open(&a, 1);
	ud_open(&b, 2);
	to_b = ud_ah(&a, &b.gid);
	return 0;
}

static int teardown_ends(void **unused)
{
	if (to_b != NULL)
		OK(ibv_destroy_ah(to_b));
	if (ah != NULL)
		OK(ibv_destroy_ah(ah));
	to_b = ah = NULL;
	end_close(&a);
	end_close(&b);
	end_close(&c);
	return 0;
}

static struct ibv_send_wr *work(uint32_t length)
{
	return ud_work(&a, to_b, b.qp->qp_num, length);
}

/* Nothing before it has taken the receive 7 of ROOM bytes at 0: this one does. */
static void next_one_arrives(uint32_t length)
{
	a.memory[0] ^= 0xff;
	ud_send(&a, work(length));
	ud_arrived(&b, 7, 0, &a, length);
	expect_no_wc(b.cq);
}

TEST(message__arrives_behind_a_grh, setup_ends, teardown_ends)
{
	struct ibv_wc wc;

	end_recv(&b, 7, 0, ROOM);
	ud_send(&a, work(100));
	wc = ud_arrived(&b, 7, 0, &a, 100);
	assert_false(wc.wc_flags & IBV_WC_WITH_IMM);
}

TEST(lengths__of_nothing_and_of_the_mtu_arrive, setup_ends, teardown_ends)
{
	struct ibv_port_attr port;
	uint32_t mtu;

	OK(ibv_query_port(a.context, 1, &port));
	mtu = 128u << port.active_mtu;
	end_recv(&b, 7, 0, ROOM);
	end_recv(&b, 8, ROOM, ROOM);
	ud_send(&a, work(0));
	ud_arrived(&b, 7, 0, &a, 0);
	ud_send(&a, work(mtu));
	ud_arrived(&b, 8, ROOM, &a, mtu);
}

TEST(immediate__arrives, setup_ends, teardown_ends)
{
	struct ibv_send_wr *wr = work(100);
	struct ibv_wc wc;

	wr->opcode = IBV_WR_SEND_WITH_IMM;
	wr->imm_data = htonl(0x12345678);
	end_recv(&b, 7, 0, ROOM);
	ud_send(&a, wr);
	wc = ud_arrived(&b, 7, 0, &a, 100);
	assert_true(wc.wc_flags & IBV_WC_WITH_IMM);
	assert_int_equal(wc.imm_data, htonl(0x12345678));
}

TEST(inline_data__arrive, setup_ends, teardown_ends)
{
	struct end_options options = end_defaults();
	struct ibv_send_wr *wr;

	options.type = IBV_QPT_UD;
	options.cap.max_inline_data = 64;
	ud_open_with(&c, &options, 3);
	ah = ud_ah(&c, &b.gid);
	wr = ud_work(&c, ah, b.qp->qp_num, 64);
	wr->sg_list->lkey = 0;
	wr->send_flags |= IBV_SEND_INLINE;
	end_recv(&b, 7, 0, ROOM);
	ud_send(&c, wr);
	ud_arrived(&b, 7, 0, &c, 64);
}

TEST(receive__of_two_pieces_parts_header_and_payload, setup_ends, teardown_ends)
{
	struct ibv_sge sge[] = {{(uintptr_t)b.memory, GRH, b.mr->lkey},
				{(uintptr_t)(b.memory + 1000), 100, b.mr->lkey}};
	struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = sge, .num_sge = 2}, *bad = NULL;

	OK(ibv_post_recv(b.qp, &wr, &bad));
	ud_send(&a, work(100));
	assert_int_equal(EXPECT_WC(b.cq, 7, IBV_WC_SUCCESS).byte_len, GRH + 100);
	assert_memory_equal(b.memory + 1000, a.memory, 100);
}

TEST(messages__of_a_batch_arrive_in_order, setup_ends, teardown_ends)
{
	enum { COUNT = 16 };

	for (unsigned i = 0; i < COUNT; i++)
		end_recv(&b, i, i * 64, 64);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct ibv_send_wr *wr = work(i + 1);

		wr->wr_id = i;
		ud_post(&a, wr);
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		EXPECT_WC(a.cq, i, IBV_WC_SUCCESS);
		ud_arrived(&b, i, i * 64, &a, i + 1);
	}
}

/* RoCE v2 over IPv4: the last 20 of the 40 bytes are the IPv4 header (IBTA A17.4.5.2). */
TEST(header__names_both_ends, setup_ends, teardown_ends)
{
	struct ibv_ah_attr path = ud_path(&a, &b.gid);
	const unsigned char *ip = b.memory + 20;

	path.grh.hop_limit = 33;
	path.grh.traffic_class = 0x20;
	ah = ibv_create_ah(a.pd, &path);
	assert_non_null(ah);
	end_recv(&b, 7, 0, ROOM);
	ud_send(&a, ud_work(&a, ah, b.qp->qp_num, 100));
	ud_arrived(&b, 7, 0, &a, 100);
	EQUAL((ip[0], 0x45), (ip[1] & 0xfc, 0x20),
	      (ip[8], DIFFERS(33, 64, "the kernel takes the limit of the route")));
	assert_int_equal(ip[9], 17); /* UDP */
	assert_memory_equal(ip + 12, a.gid.raw + 12, 4);
	assert_memory_equal(ip + 16, b.gid.raw + 12, 4);
}

TEST(handle__from_a_completion_answers, setup_ends, teardown_ends)
{
	struct ibv_ah_attr path;
	union ibv_gid own;
	struct ibv_wc wc;

	end_recv(&b, 7, 0, ROOM);
	end_recv(&a, 8, 8192, ROOM);
	ud_send(&a, work(100));
	wc = ud_arrived(&b, 7, 0, &a, 100);
	OK(ibv_init_ah_from_wc(b.context, 1, &wc, (struct ibv_grh *)b.memory, &path));
	EQUAL((path.is_global, 1), (path.port_num, 1));
	OK(ibv_query_gid(b.context, 1, path.grh.sgid_index, &own));
	assert_memory_equal(&own, &b.gid, sizeof(own));
	assert_memory_equal(&path.grh.dgid, &a.gid, sizeof(a.gid));
	ah = ibv_create_ah_from_wc(b.pd, &wc, (struct ibv_grh *)b.memory, 1);
	assert_non_null(ah);
	ud_send(&b, ud_work(&b, ah, wc.src_qp, 64));
	ud_arrived(&a, 8, 8192, &b, 64);
}

/* Its 40 bytes are no header at all. */
TEST(handle__from_no_header_is_refused, setup_ends, teardown_ends)
{
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH, .src_qp = 1};
	struct ibv_grh grh;
	struct ibv_ah_attr path;

	memset(&grh, 0, sizeof(grh));
	assert_int_not_equal(ibv_init_ah_from_wc(b.context, 1, &wc, &grh, &path), 0);
	assert_null(ibv_create_ah_from_wc(b.pd, &wc, &grh, 1));
}

TEST(one_queue_pair__sends_to_many, setup_ends, teardown_ends)
{
	ud_open(&c, 3);
	end_recv(&b, 7, 0, ROOM);
	end_recv(&c, 8, 0, ROOM);
	ud_post(&a, ud_work(&a, to_b, c.qp->qp_num, 50));
	ud_send(&a, work(60));
	EXPECT_WC(a.cq, 1, IBV_WC_SUCCESS);
	ud_arrived(&b, 7, 0, &a, 60);
	ud_arrived(&c, 8, 0, &a, 50);
}

TEST(queue_pair__sends_to_itself, setup_ends, teardown_ends)
{
	end_recv(&a, 7, 8192, ROOM);
	ud_post(&a, ud_work(&a, to_b, a.qp->qp_num, 100));
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc = next_wc(a.cq);

		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_true(wc.wr_id == 1 || wc.wr_id == 7);
	}
	assert_memory_equal(a.memory + 8192 + GRH, a.memory, 100);
}

/* IBA 14.2.5.6, PortInfo: QKeyViolations */
TEST(wrong_key__is_dropped_and_counted, setup_ends, teardown_ends)
{
	struct ibv_send_wr *wr = work(100);
	struct ibv_port_attr before, after;

	OK(ibv_query_port(b.context, 1, &before));
	wr->wr.ud.remote_qkey = END_QKEY + 1;
	end_recv(&b, 7, 0, ROOM);
	ud_send(&a, wr);
	next_one_arrives(100);
	OK(ibv_query_port(b.context, 1, &after));
	assert_int_equal(after.qkey_viol_cntr, before.qkey_viol_cntr + 1);
}

TEST(high_bit_of_the_key__stands_for_the_senders_own, setup_ends, teardown_ends)
{
	struct ibv_send_wr *wr = work(100);

	NOT_ON_RXE("it sends the number as it is; IBA 10.2.5 has the QP's own one sent");
	wr->wr.ud.remote_qkey = 0x80000000;
	end_recv(&b, 7, 0, ROOM);
	ud_send(&a, wr);
	ud_arrived(&b, 7, 0, &a, 100);
}

TEST(key__of_the_receiver_may_change, setup_ends, teardown_ends)
{
	struct ibv_qp_attr attr = {.qkey = 0x42};
	struct ibv_qp_init_attr init;
	struct ibv_send_wr *wr;

	OK(ibv_modify_qp(b.qp, &attr, IBV_QP_QKEY));
	OK(ibv_query_qp(b.qp, &attr, IBV_QP_QKEY, &init));
	assert_int_equal(attr.qkey, 0x42);
	wr = work(100);
	wr->wr.ud.remote_qkey = 0x42;
	end_recv(&b, 7, 0, ROOM);
	ud_send(&a, wr);
	ud_arrived(&b, 7, 0, &a, 100);
}

TEST(message__without_a_receive_is_dropped, setup_ends, teardown_ends)
{
	ud_open(&c, 3);
	ud_send(&a, work(100));
	ud_settle(&a, &c);
	end_recv(&b, 7, 0, ROOM);
	next_one_arrives(100);
}

TEST(message__that_is_too_long_for_its_receive_is_dropped, setup_ends, teardown_ends)
{
	NOT_ON_RXE("it fails the receive and its queue pair with LOC_QP_OP_ERR");
	end_recv(&b, 7, 0, GRH + 100);
	ud_send(&a, work(101));
	next_one_arrives(100);
}

/* IBA C10-93.1.1: no packet is sent, and it is not an error. */
TEST(message__longer_than_the_mtu_is_not_sent, setup_ends, teardown_ends)
{
	end_recv(&b, 7, 0, 8192);
	ud_send(&a, work(MTU + 1));
	next_one_arrives(100);
}

TEST(number__of_no_queue_pair_takes_what_comes, setup_ends, teardown_ends)
{
	ud_send(&a, ud_work(&a, to_b, b.qp->qp_num ^ 0x5f, 100));
	end_recv(&b, 7, 0, ROOM);
	next_one_arrives(100);
}

TEST(queue_pair__of_another_type_takes_none, setup_ends, teardown_ends)
{
	struct end_options options = end_defaults();
	struct end_address peer;
	struct end rc = {0};

	end_open(&rc, &options, -1);
	peer = end_address(&rc);
	end_to_rtr(&rc, &peer);
	end_recv(&rc, 9, 0, ROOM);
	ud_send(&a, ud_work(&a, to_b, rc.qp->qp_num, 100));
	end_recv(&b, 7, 0, ROOM);
	next_one_arrives(100);
	expect_no_wc(rc.cq);
	end_close(&rc);
}

TEST(receiver__that_left_takes_none, setup_ends, teardown_ends)
{
	uint32_t gone = b.qp->qp_num;

	end_recv(&b, 7, 0, ROOM);
	ud_send(&a, work(100));
	ud_arrived(&b, 7, 0, &a, 100);
	end_close(&b);
	ud_send(&a, ud_work(&a, to_b, gone, 100));
	ud_open(&b, 2);
	end_recv(&b, 7, 0, ROOM);
	next_one_arrives(100);
}

TEST(key__of_no_region_fails_the_sender, setup_ends, teardown_ends)
{
	struct ibv_send_wr *wr = work(100);

	wr->sg_list->lkey ^= 0x100;
	ud_post(&a, wr);
	expect_own_mistake(a.cq);
	end_expect_error(&a);
}

TEST(requests__that_datagrams_do_not_have_are_refused, setup_ends, teardown_ends)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
						     IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
						     IBV_WR_ATOMIC_FETCH_AND_ADD};

	NOT_ON_RXE("it takes them, and fails them later");
	for (unsigned i = 0; i < ARRAY_LENGTH(opcodes); i++) {
		struct ibv_send_wr *wr = work(8), *bad = NULL;

		wr->opcode = opcodes[i];
		FAILS(EINVAL, ibv_post_send(a.qp, wr, &bad));
		assert_ptr_equal(bad, wr);
	}
}

TEST(shared_receive_queue__serves_datagrams, setup_ends, teardown_ends)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct end_options options = end_defaults();
	struct ibv_recv_wr recv = {.wr_id = 7}, *bad = NULL;
	struct ibv_sge sge;

	options.type = IBV_QPT_UD;
	end_open(&c, &options, -1);
	OK(ibv_destroy_qp(c.qp));
	c.srq = ibv_create_srq(c.pd, &attr);
	assert_non_null(c.srq);
	c.qp = end_make_qp(&c);
	assert_non_null(c.qp);
	end_to_init(&c);
	end_to_rtr(&c, NULL);
	sge = (struct ibv_sge){(uintptr_t)c.memory, ROOM, c.mr->lkey};
	recv.sg_list = &sge;
	recv.num_sge = 1;
	OK(ibv_post_srq_recv(c.srq, &recv, &bad));
	ud_send(&a, ud_work(&a, to_b, c.qp->qp_num, 100));
	ud_arrived(&c, 7, 0, &a, 100);
}

TEST(extended_queue_pair__sends, setup_ends, teardown_ends)
{
	struct end_options options = end_defaults();
	struct ibv_qp_ex *ex;

	NOT_ON_RXE("ibv_qp_to_qp_ex() of its queue pairs is asked in test_qp_ex.c");
	options.type = IBV_QPT_UD;
	options.send_ops = IBV_QP_EX_WITH_SEND;
	ud_open_with(&c, &options, 3);
	ah = ud_ah(&c, &b.gid);
	ex = ibv_qp_to_qp_ex(c.qp);
	end_recv(&b, 7, 0, ROOM);
	ibv_wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, ah, b.qp->qp_num, END_QKEY);
	ibv_wr_set_sge(ex, c.mr->lkey, (uintptr_t)c.memory, 100);
	OK(ibv_wr_complete(ex));
	EXPECT_WC(c.cq, 1, IBV_WC_SUCCESS);
	ud_arrived(&b, 7, 0, &c, 100);
}

TEST(path__needs_a_header_and_the_port, setup_ends, teardown_ends)
{
	struct ibv_ah_attr path = ud_path(&a, &b.gid);

	path.is_global = 0;
	NONE(EINVAL, ibv_create_ah(a.pd, &path));
	path = ud_path(&a, &b.gid);
	path.port_num = 2;
	NONE(EINVAL, ibv_create_ah(a.pd, &path));
	path = ud_path(&a, &b.gid);
	path.grh.sgid_index = 200;
	NONE(DIFFERS(EINVAL, ENODATA, "its table has an entry there, which is free"),
	     ibv_create_ah(a.pd, &path));
}

TEST(protection_domain__with_a_handle_is_busy, setup_ends, teardown_ends)
{
	struct ibv_pd *pd = ibv_alloc_pd(a.context);
	struct ibv_ah_attr path = ud_path(&a, &b.gid);

	assert_non_null(pd);
	ah = ibv_create_ah(pd, &path);
	assert_non_null(ah);
	FAILS(EBUSY, ibv_dealloc_pd(pd));
	OK(ibv_destroy_ah(ah));
	ah = NULL;
	OK(ibv_dealloc_pd(pd));
}

/* qp_state_table in drivers/infiniband/core/verbs.c */
TEST(states__take_their_attributes, setup_ends, teardown_ends)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = END_QKEY};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR}, rts = {.qp_state = IBV_QPS_RTS};
	struct ibv_qp *qp = end_make_qp(&a);
	const int place = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	assert_non_null(qp);
	FAILS(EINVAL, ibv_modify_qp(qp, &init, place));
	FAILS(EINVAL, ibv_modify_qp(qp, &init, place | IBV_QP_ACCESS_FLAGS));
	OK(ibv_modify_qp(qp, &init, place | IBV_QP_QKEY));
	FAILS(EINVAL, ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_DEST_QPN));
	OK(ibv_modify_qp(qp, &rtr, IBV_QP_STATE));
	FAILS(EINVAL, ibv_modify_qp(qp, &rts, IBV_QP_STATE));
	OK(ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN));
	OK(ibv_destroy_qp(qp));
}
