/* SPDX-License-Identifier: BSD-3-Clause */
/* test_receives.c -- rpma_recv(), rpma_conn_req_recv() and rpma_srq_recv(). */
#include "world.h"

SETUP(setup_receives, setup_conn, make_req(); make_srq(5))

static int post_recv(bool somewhere, struct rpma_mr_local *dst, size_t offset, size_t len,
		     const void *context)
{
	return rpma_recv(somewhere ? w.conn : NULL, dst, offset, len, context);
}

static int post_req_recv(bool somewhere, struct rpma_mr_local *dst, size_t offset, size_t len,
			 const void *context)
{
	return rpma_conn_req_recv(somewhere ? w.req : NULL, dst, offset, len, context);
}

static int post_srq_recv(bool somewhere, struct rpma_mr_local *dst, size_t offset, size_t len,
			 const void *context)
{
	return rpma_srq_recv(somewhere ? w.srq : NULL, dst, offset, len, context);
}

static const struct receive {
	const char *name;
	int (*post)(bool somewhere, struct rpma_mr_local *dst, size_t offset, size_t len,
		    const void *context);
	const char *verb;
	const struct provider_recv *recv;
	int empty; /* what a buffer of no bytes comes to */
} receives[] = {
	{"rpma_recv", post_recv, "ibv_post_recv", &provider.recv, 0},
	{"rpma_conn_req_recv", post_req_recv, "ibv_post_recv", &provider.recv, RPMA_E_INVAL},
	{"rpma_srq_recv", post_srq_recv, "ibv_post_srq_recv", &provider.srq_recv, 0},
};

/* NOLINTBEGIN(bugprone-macro-parentheses): r is declared */
#define FOR_EACH(r)                                                                                \
	for (const struct receive *r = receives; r < receives + ARRAY_LENGTH(receives); r++)
/* NOLINTEND(bugprone-macro-parentheses) */

TEST(receives__post_the_range, setup_receives, teardown)
{
	FOR_EACH(r)
	{
		const unsigned before = r->recv->posted;

		expect_named(0, r->name, r->post(true, w.mr, 8, 16, UNTOUCHED));
		EQUAL((r->recv->posted, before + 1), (r->recv->wr.wr_id, (uintptr_t)UNTOUCHED),
		      (r->recv->wr.num_sge, 1), (r->recv->wr.next, NULL),
		      (r->recv->sge.addr, (uintptr_t)region + 8), (r->recv->sge.length, 16),
		      (r->recv->sge.lkey, 0x10000));
		/* the manual of rpma_conn_req_recv() has RPMA_E_INVAL */
		expect_named(0, r->name, r->post(true, w.mr, 0, 8, NULL));
	}
}

TEST(receives__may_be_empty, setup_receives, teardown)
{
	FOR_EACH(r)
	{
		expect_named(r->empty, r->name, r->post(true, NULL, 0, 0, UNTOUCHED));
		assert_int_equal(r->recv->wr.num_sge, 0);
	}
}

TEST(receives__refuse_bad_arguments, setup_receives, teardown)
{
	FOR_EACH(r)
	{
		expect_named(RPMA_E_INVAL, r->name, r->post(false, w.mr, 0, 8, NULL));
		expect_named(RPMA_E_INVAL, r->name, r->post(true, NULL, 1, 0, NULL));
		expect_named(RPMA_E_INVAL, r->name, r->post(true, NULL, 0, 1, NULL));
		assert_int_equal(r->recv->posted, 0);
	}
}

TEST(receives__refuse_what_32_bits_cannot_say, setup_receives, teardown)
{
	int want = DIFFERS(RPMA_E_INVAL, 0, "it cuts the length to 32 bits");

	FOR_EACH(r)
	expect_named(want, r->name, r->post(true, w.mr, 0, UINT32_MAX + (size_t)1, NULL));
	EQUAL((calls_count("ibv_post_recv"), want == 0 ? 2 : 0),
	      (calls_count("ibv_post_srq_recv"), want == 0));
}

TEST(receives__report_a_full_queue, setup_receives, teardown)
{
	FOR_EACH(r)
	{
		calls_fail_on(r->verb, ENOMEM);
		expect_named(RPMA_E_PROVIDER, r->name, r->post(true, w.mr, 0, 8, UNTOUCHED));
		if (on_reference())
			continue; /* it logs the error alone */
		expect_logged(RPMA_LOG_LEVEL_ERROR, "length 8, local address 0x");
		expect_logged(RPMA_LOG_LEVEL_ERROR, "lkey 0x10000, wr_id 0x5afe5afe");
	}
}
