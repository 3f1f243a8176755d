/* SPDX-License-Identifier: BSD-3-Clause */
/* test_multicast.c -- datagrams to a group of queue pairs on one host. */
#include <unistd.h>

#include "ud.h"

#define ROOM	  (GRH + 256)
#define GROUP_QPN 0xffffff

static struct end a, b, c;
static struct ibv_ah *to_group;
static union ibv_gid group = {.raw = {[10] = 0xff, 0xff, 239}};

/* A group is the host's: those of other processes have other numbers, of 22 bits at most. */
static void choose_group(void)
{
	const unsigned pid = (unsigned)getpid();

	group.raw[13] = (uint8_t)(pid >> 16);
	group.raw[14] = (uint8_t)(pid >> 8);
	group.raw[15] = (uint8_t)pid;
}

static int setup_ends(void **unused)
{
	choose_group();
	ud_open(&a, 1);
	ud_open(&b, 2);
	ud_open(&c, 3);
	to_group = ud_ah(&a, &group);
	return 0;
}

static int teardown_ends(void **unused)
{
	if (to_group != NULL)
		OK(ibv_destroy_ah(to_group));
	to_group = NULL;
	end_close(&a);
	end_close(&b);
	end_close(&c);
	return 0;
}

static void send_to_group(void)
{
	ud_send(&a, ud_work(&a, to_group, GROUP_QPN, 100));
}

TEST(members__get_what_is_sent_to_the_group, setup_ends, teardown_ends)
{
	NOT_ON_RXE("there no message to a group has come to its own process");
	OK(ibv_attach_mcast(b.qp, &group, 0));
	OK(ibv_attach_mcast(c.qp, &group, 0));
	end_recv(&b, 7, 0, ROOM);
	end_recv(&c, 8, 0, ROOM);
	send_to_group();
	ud_arrived(&b, 7, 0, &a, 100);
	ud_arrived(&c, 8, 0, &a, 100);
	/* the IPv4 header in the GRH names the group */
	assert_memory_equal(b.memory + 36, group.raw + 12, 4);
	OK(ibv_detach_mcast(b.qp, &group, 0));
	OK(ibv_detach_mcast(c.qp, &group, 0));
}

TEST(others__get_nothing, setup_ends, teardown_ends)
{
	union ibv_gid other = group;

	NOT_ON_RXE("there no message to a group has come to its own process");
	other.raw[13] ^= 0x80; /* no process has it */
	OK(ibv_attach_mcast(b.qp, &group, 0));
	OK(ibv_attach_mcast(c.qp, &other, 0));
	end_recv(&b, 7, 0, ROOM);
	end_recv(&c, 8, 0, ROOM);
	send_to_group();
	ud_arrived(&b, 7, 0, &a, 100);
	expect_no_wc(c.cq);
	OK(ibv_detach_mcast(b.qp, &group, 0));
	OK(ibv_detach_mcast(c.qp, &other, 0));
}

TEST(member__that_left_gets_nothing, setup_ends, teardown_ends)
{
	struct ibv_ah *to_b = ud_ah(&a, &b.gid);

	OK(ibv_attach_mcast(b.qp, &group, 0));
	OK(ibv_detach_mcast(b.qp, &group, 0));
	end_recv(&b, 7, 0, ROOM);
	send_to_group();
	a.memory[0] ^= 0xff;
	ud_send(&a, ud_work(&a, to_b, b.qp->qp_num, 50));
	ud_arrived(&b, 7, 0, &a, 50);
	OK(ibv_destroy_ah(to_b));
}

TEST(member__without_a_receive_misses_it, setup_ends, teardown_ends)
{
	NOT_ON_RXE("there no message to a group has come to its own process");
	OK(ibv_attach_mcast(b.qp, &group, 0));
	send_to_group();
	ud_settle(&a, &c);
	end_recv(&b, 7, 0, ROOM);
	a.memory[0] ^= 0xff;
	send_to_group();
	ud_arrived(&b, 7, 0, &a, 100);
	expect_no_wc(b.cq);
	OK(ibv_detach_mcast(b.qp, &group, 0));
}

/* A posted message is sent even if its program leaves at once, as mckey(1) does. */
TEST(sender__may_leave_at_once, setup_ends, teardown_ends)
{
	struct ibv_send_wr *wr;

	NOT_ON_RXE("there no message to a group has come to its own process");
	OK(ibv_attach_mcast(b.qp, &group, 0));
	end_recv(&b, 7, 0, ROOM);
	wr = ud_work(&a, to_group, GROUP_QPN, 100);
	wr->send_flags = 0;
	ud_post(&a, wr);
	OK(ibv_destroy_qp(a.qp));
	a.qp = NULL;
	assert_int_equal(EXPECT_WC(b.cq, 7, IBV_WC_SUCCESS).byte_len, GRH + 100);
	OK(ibv_detach_mcast(b.qp, &group, 0));
}

/* ib_attach_mcast() in drivers/infiniband/core/verbs.c */
TEST(only_datagrams__have_groups, setup_ends, teardown_ends)
{
	struct end_options options = end_defaults();
	struct end rc = {0};

	end_open(&rc, &options, -1);
	FAILS(EINVAL, ibv_attach_mcast(rc.qp, &group, 0));
	FAILS(EINVAL, ibv_attach_mcast(b.qp, &b.gid, 0));
	FAILS(EINVAL, ibv_detach_mcast(b.qp, &group, 0));
	end_close(&rc);
}

/* ib_uverbs_attach_mcast() and uverbs_free_qp() of the kernel */
TEST(membership__is_had_once_and_keeps_the_queue_pair, setup_ends, teardown_ends)
{
	OK(ibv_attach_mcast(b.qp, &group, 0));
	OK(ibv_attach_mcast(b.qp, &group, 0));
	FAILS(EBUSY, ibv_destroy_qp(b.qp));
	OK(ibv_detach_mcast(b.qp, &group, 0));
	FAILS(EINVAL, ibv_detach_mcast(b.qp, &group, 0));
}
