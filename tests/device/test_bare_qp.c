/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_bare_qp.c -- connecting by ibv_modify_qp() with GIDs and QP numbers that
 * the programs exchange themselves: the order of the steps and wrong addresses.
 */
#include "end.h"

static struct end a, b;

static int setup_ends(void **unused)
{
	struct end_options options = end_defaults();

	options.timeout = 12;
	options.retry_cnt = 2;
	end_open(&a, &options, -1);
	end_open(&b, &options, -1);
	fill(a.memory, END_MEMORY, 1);
	fill(b.memory, END_MEMORY, 2);
	return 0;
}

static int teardown_ends(void **unused)
{
	end_close(&a);
	end_close(&b);
	return 0;
}

static void post_write(struct end *from, const struct end_address *to)
{
	struct ibv_sge sge = {(uintptr_t)from->memory, 64, from->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = to->memory, .rkey = to->rkey},
	};
	struct ibv_send_wr *bad = NULL;

	OK(ibv_post_send(from->qp, &wr, &bad));
}

static void write_works(struct end *from, struct end *to)
{
	struct end_address address = end_address(to);

	post_write(from, &address);
	EXPECT_WC(from->cq, 1, IBV_WC_SUCCESS);
	assert_memory_equal(to->memory, from->memory, 64);
}

static void connect_both(void)
{
	struct end_address of_a = end_address(&a), of_b = end_address(&b);

	end_to_rtr(&a, &of_b);
	end_to_rtr(&b, &of_a);
	end_to_rts(&a);
	end_to_rts(&b);
}

TEST(one_end__may_be_ready_first, setup_ends, teardown_ends)
{
	struct end_address of_a = end_address(&a), of_b = end_address(&b);

	end_to_rtr(&a, &of_b);
	end_to_rts(&a);
	end_to_rtr(&b, &of_a);
	write_works(&a, &b); /* RTR is enough to be a target */
	end_to_rts(&b);
	write_works(&b, &a);
}

/* A request before the other end is there gets through when that comes in time. */
TEST(request__before_the_peer_is_ready_is_tried_again, setup_ends, teardown_ends)
{
	struct end_address of_a = end_address(&a), of_b = end_address(&b);

	a.options.timeout = 16;
	a.options.retry_cnt = 6;
	end_to_rtr(&a, &of_b);
	end_to_rts(&a);
	post_write(&a, &of_b);
	end_to_rtr(&b, &of_a);
	EXPECT_WC(a.cq, 1, IBV_WC_SUCCESS);
	assert_memory_equal(b.memory, a.memory, 64);
}

TEST(peer__that_never_gets_ready_is_given_up, setup_ends, teardown_ends)
{
	struct end_address of_b = end_address(&b);

	end_to_rtr(&a, &of_b);
	end_to_rts(&a);
	post_write(&a, &of_b);
	EXPECT_WC(a.cq, 1, IBV_WC_RETRY_EXC_ERR);
	end_expect_error(&a);
}

TEST(number__of_no_qp_is_given_up, setup_ends, teardown_ends)
{
	struct end_address wrong = end_address(&b);

	wrong.qp_num ^= 0x5f;
	end_to_rtr(&a, &wrong);
	end_to_rts(&a);
	post_write(&a, &wrong);
	EXPECT_WC(a.cq, 1, IBV_WC_RETRY_EXC_ERR);
}

/* B is connected with another one: it does not answer A. */
TEST(unconnected_sender__is_not_answered, setup_ends, teardown_ends)
{
	struct end_address of_b = end_address(&b), other = end_address(&a);
	unsigned char before = b.memory[0];

	NOT_ON_RXE("it does not look who sends; IBA 9.6.1.1.1 names the source as checked");
	other.qp_num ^= 0x5f;
	end_to_rtr(&b, &other);
	end_to_rtr(&a, &of_b);
	end_to_rts(&a);
	post_write(&a, &of_b);
	EXPECT_WC(a.cq, 1, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(b.memory[0], before);
}

/* A QP may be its own peer. */
TEST(loop__to_oneself_writes, setup_ends, teardown_ends)
{
	struct end_address of_a = end_address(&a);

	end_to_rtr(&a, &of_a);
	end_to_rts(&a);
	of_a.memory += 1000;
	post_write(&a, &of_a);
	EXPECT_WC(a.cq, 1, IBV_WC_SUCCESS);
	assert_memory_equal(a.memory + 1000, a.memory, 64);
}

/* After an error both ends can begin again. */
TEST(reset__ends_connect_again, setup_ends, teardown_ends)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	for (int i = 0; i < 3; i++) {
		connect_both();
		write_works(&a, &b);
		end_to_error(&a);
		end_to_error(&b);
		OK(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE));
		OK(ibv_modify_qp(b.qp, &attr, IBV_QP_STATE));
		end_to_init(&a);
		end_to_init(&b);
		fill(a.memory, 64, (unsigned)i + 10);
	}
}

/* The access of the QP may change while it works. */
TEST(access__of_the_qp_is_changed_in_rts, setup_ends, teardown_ends)
{
	struct ibv_qp_attr attr = {.qp_access_flags = IBV_ACCESS_REMOTE_READ};

	connect_both();
	write_works(&a, &b);
	OK(ibv_modify_qp(b.qp, &attr, IBV_QP_ACCESS_FLAGS));
	struct end_address of_b = end_address(&b);
	post_write(&a, &of_b);
	EXPECT_WC(a.cq, 1, IBV_WC_REM_INV_REQ_ERR);
}
