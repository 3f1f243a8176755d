/* SPDX-License-Identifier: BSD-3-Clause */
/* test_srq.c -- shared receive queues with and without a receive CQ of their own. */
#include "every_call_fails.h"

SETUP(setup_srq, setup_mr, make_srq(5))

SETUP(setup_srq_without_rcq, setup_mr, make_srq(0))

TEST(new__makes_queue_and_rcq_as_configured, setup_peer, teardown)
{
	expect(0, rpma_srq_cfg_new(&w.srq_cfg));
	expect(0, rpma_srq_cfg_set_rq_size(w.srq_cfg, 3));
	expect(0, rpma_srq_cfg_set_rcq_size(w.srq_cfg, 5));
	expect(0, rpma_srq_new(w.peer, w.srq_cfg, &w.srq));
	EQUAL((provider.create_srq.attr.max_wr, 3), (provider.create_srq.attr.max_sge, 1),
	      (provider.create_srq.attr.srq_limit, 0), (provider.live.cq, 1),
	      (provider.create_cq[0].cqe, 5));
	assert_ptr_equal(provider.req_notify_cq.cq, provider.cqs[0]);
	assert_int_equal(provider.req_notify_cq.solicited_only, 0);
}

TEST(new__takes_the_default_of_20_without_cfg, setup_peer, teardown)
{
	expect(0, rpma_srq_new(w.peer, NULL, &w.srq));
	EQUAL((provider.create_srq.attr.max_wr, 20), (provider.create_cq[0].cqe, 20));
}

TEST(get_rcq__gives_the_cq_of_the_srq, setup_srq, teardown)
{
	struct rpma_cq *rcq = NULL;
	int fd = -1;

	expect(0, rpma_srq_get_rcq(w.srq, &rcq));
	expect(0, rpma_cq_get_fd(rcq, &fd));
	assert_int_equal(fd, provider.cqs[0]->channel->fd);
}

TEST(get_rcq__gives_null_without_rcq, setup_srq_without_rcq, teardown)
{
	struct rpma_cq *rcq = UNTOUCHED;

	expect(0, rpma_srq_get_rcq(w.srq, &rcq));
	EQUAL((rcq, NULL), (provider.live.cq, 0));
}

MAKES(new_srq, struct rpma_srq, w.srq, rpma_srq_new(w.peer, NULL, &made))

ENDS(delete_srq, w.srq, rpma_srq_delete(&w.srq))

TEST(new_and_delete__survive_every_failing_call, setup_nothing, teardown)
{
	every_call_fails(&(struct operation){
		.function = "rpma_srq_new", .setup = setup_peer, .act = new_srq});
	every_call_fails(&(struct operation){
		.function = "rpma_srq_delete", .setup = setup_srq, .act = delete_srq});
}
