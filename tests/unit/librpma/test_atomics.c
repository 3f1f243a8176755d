/* SPDX-License-Identifier: BSD-3-Clause */
/* test_atomics.c -- compare-and-swap and fetch-and-add; and flags of operations that are new
 * in 1.4. */
#include "every_call_fails.h"

#define CONTEXT UNTOUCHED
#define ALWAYS	RPMA_F_COMPLETION_ALWAYS
#define USAGES                                                                                     \
	(RPMA_MR_USAGE_ATOMIC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC |                 \
	 RPMA_MR_USAGE_WRITE_DST)

/* A connection whose region is for atomics, here and as the peer sees it. */
static void connect_for_atomics(uint32_t sq_size, uint32_t every)
{
	unsigned char desc[64];
	size_t size;

	setup_nothing(NULL);
	provider.device_attr.orig_attr.atomic_cap = IBV_ATOMIC_HCA;
	make_peer();
	expect(0, rpma_mr_reg(w.peer, region, REGION_SIZE, USAGES, &w.mr));
	expect(0, rpma_mr_get_descriptor_size(w.mr, &size));
	expect(0, rpma_mr_get_descriptor(w.mr, desc));
	expect(0, rpma_mr_remote_from_descriptor(desc, size, &w.remote));
	make_cfg();
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_SQ_SIZE, sq_size));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_SIGNAL_EVERY, every));
	make_req();
	make_conn();
}

static int setup_atomics(void **unused)
{
	connect_for_atomics(10, 0);
	return 0;
}

static int compare_swap(int flags)
{
	return rpma_atomic_compare_swap(w.conn, w.remote, 16, w.mr, 8, 3, 5, flags, CONTEXT);
}

static int fetch_add(int flags)
{
	return rpma_atomic_fetch_add(w.conn, w.remote, 16, w.mr, 8, 7, flags, CONTEXT);
}

static void assert_posted(enum ibv_wr_opcode opcode, uint64_t compare_add, uint64_t swap)
{
	const struct ibv_send_wr *wr = &provider.send.wr;

	EQUAL((wr->opcode, opcode), (wr->wr_id, (uintptr_t)CONTEXT), (wr->num_sge, 1),
	      (wr->next, NULL), (provider.send.sge.addr, (uintptr_t)region + 8),
	      (provider.send.sge.length, 8), (wr->wr.atomic.remote_addr, (uintptr_t)region + 16),
	      (wr->wr.atomic.compare_add, compare_add), (wr->wr.atomic.swap, swap));
}

TEST(atomics__are_posted, setup_atomics, teardown)
{
	expect_named(0, "rpma_atomic_compare_swap", compare_swap(ALWAYS));
	assert_posted(IBV_WR_ATOMIC_CMP_AND_SWP, 3, 5);
	assert_int_equal(provider.send.wr.send_flags, IBV_SEND_SIGNALED);
	expect_named(0, "rpma_atomic_fetch_add", fetch_add(RPMA_F_COMPLETION_ON_ERROR));
	assert_posted(IBV_WR_ATOMIC_FETCH_AND_ADD, 7, 0);
	assert_int_equal(provider.send.wr.send_flags, 0);
}

TEST(atomics__refuse_bad_arguments, setup_atomics, teardown)
{
	expect(RPMA_E_INVAL,
	       rpma_atomic_compare_swap(NULL, w.remote, 0, w.mr, 0, 1, 2, ALWAYS, NULL));
	expect(RPMA_E_INVAL,
	       rpma_atomic_compare_swap(w.conn, NULL, 0, w.mr, 0, 1, 2, ALWAYS, NULL));
	expect(RPMA_E_INVAL,
	       rpma_atomic_compare_swap(w.conn, w.remote, 0, NULL, 0, 1, 2, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_atomic_compare_swap(w.conn, w.remote, 0, w.mr, 0, 1, 2, 0, NULL));
	expect(RPMA_E_INVAL,
	       rpma_atomic_compare_swap(w.conn, w.remote, 4, w.mr, 0, 1, 2, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_atomic_fetch_add(NULL, w.remote, 0, w.mr, 0, 1, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_atomic_fetch_add(w.conn, NULL, 0, w.mr, 0, 1, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_atomic_fetch_add(w.conn, w.remote, 0, NULL, 0, 1, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_atomic_fetch_add(w.conn, w.remote, 0, w.mr, 0, 1, 0, NULL));
	expect(RPMA_E_INVAL, rpma_atomic_fetch_add(w.conn, w.remote, 1, w.mr, 0, 1, ALWAYS, NULL));
	assert_int_equal(provider.send.posted, 0);
}

TEST(atomics__need_a_region_for_them, setup_conn, teardown)
{
	expect_named(RPMA_E_NOSUPP, "rpma_atomic_compare_swap", compare_swap(ALWAYS));
	expect_named(RPMA_E_NOSUPP, "rpma_atomic_fetch_add", fetch_add(ALWAYS));
	expect_logged(RPMA_LOG_LEVEL_ERROR, "not registered for atomics");
	assert_int_equal(provider.send.posted, 0);
}

TEST(atomics__tell_what_could_not_be_posted, setup_atomics, teardown)
{
	calls_fail_on("ibv_post_send", ENOMEM);
	expect_named(RPMA_E_PROVIDER, "rpma_atomic_compare_swap", compare_swap(ALWAYS));
	expect_logged(RPMA_LOG_LEVEL_ERROR, "remote address 0x");
	calls_fail_on("ibv_post_send", ENOMEM);
	expect_named(RPMA_E_PROVIDER, "rpma_atomic_fetch_add", fetch_add(ALWAYS));
}

TEST(atomics__tell_a_full_queue, setup_nothing, teardown)
{
	connect_for_atomics(1, 1);
	expect_named(0, "rpma_atomic_fetch_add", fetch_add(ALWAYS));
	expect_named(RPMA_E_AGAIN, "rpma_atomic_fetch_add", fetch_add(ALWAYS));
	expect_named(RPMA_E_AGAIN, "rpma_atomic_compare_swap", compare_swap(ALWAYS));
	assert_int_equal(provider.send.posted, 1);
}

/* --- regions for atomics ------------------------------------------------------------------ */

TEST(region__has_the_access, setup_atomics, teardown)
{
	struct rpma_mr_local *mr = NULL;

	expect(0, rpma_mr_reg(w.peer, region, 64, USAGES, &mr));
	assert_int_equal(provider.reg_mr.access, IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE |
							 IBV_ACCESS_REMOTE_WRITE);
	expect(0, rpma_mr_dereg(&mr));
}

TEST(region__for_nothing_else_is_described, setup_atomics, teardown)
{
	struct rpma_mr_remote *remote = NULL;
	struct rpma_mr_local *mr = NULL;
	unsigned char desc[22];

	expect(0, rpma_mr_reg(w.peer, region, 64, RPMA_MR_USAGE_ATOMIC, &mr));
	assert_int_equal(provider.reg_mr.access, IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE);
	expect(0, rpma_mr_get_descriptor(mr, desc));
	EQUAL((desc[20], 0), (desc[21], 2));
	expect(0, rpma_mr_remote_from_descriptor(desc, 22, &remote));
	expect(0, rpma_mr_remote_delete(&remote));
	/* as a release before 1.4 reads it: a region for nothing */
	expect(RPMA_E_NOSUPP, rpma_mr_remote_from_descriptor(desc, 21, &remote));
	expect(0, rpma_mr_dereg(&mr));
}

TEST(region__needs_a_device_that_can, setup_nothing, teardown)
{
	struct rpma_mr_local *mr = UNTOUCHED;

	provider.device_attr.orig_attr.atomic_cap = IBV_ATOMIC_NONE;
	make_peer();
	expect(RPMA_E_NOSUPP, rpma_mr_reg(w.peer, region, 64, RPMA_MR_USAGE_ATOMIC, &mr));
	assert_ptr_equal(mr, UNTOUCHED);
	assert_int_equal(calls_count("ibv_reg_mr"), 0);
}

/* --- RPMA_F_INLINE, RPMA_F_SOLICITED -------------------------------------------------------- */

static int post(unsigned which, size_t len, int flags)
{
	switch (which) {
	case 0:
		return rpma_write(w.conn, w.remote, 0, w.mr, 0, len, flags, NULL);
	case 1:
		return rpma_write_with_imm(w.conn, w.remote, 0, w.mr, 0, len, flags, 1, NULL);
	case 2:
		return rpma_send(w.conn, w.mr, 0, len, flags, NULL);
	default:
		return rpma_send_with_imm(w.conn, w.mr, 0, len, flags, 1, NULL);
	}
}

static const char *const posts[] = {"rpma_write", "rpma_write_with_imm", "rpma_send",
				    "rpma_send_with_imm"};

TEST(flags__are_those_of_verbs, setup_atomics, teardown)
{
	for (unsigned i = 0; i < ARRAY_LENGTH(posts); i++) {
		expect_named(0, posts[i], post(i, 8, ALWAYS | RPMA_F_INLINE));
		assert_int_equal(provider.send.wr.send_flags, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
		expect_named(0, posts[i], post(i, 9, ALWAYS | RPMA_F_SOLICITED));
		assert_int_equal(provider.send.wr.send_flags,
				 IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
		expect_named(0, posts[i], post(i, 9, 0x7fffffff & ~(RPMA_F_INLINE | RPMA_F_MORE)));
		assert_int_equal(provider.send.wr.send_flags,
				 IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
	}
}

TEST(inline_data__is_limited, setup_atomics, teardown)
{
	for (unsigned i = 0; i < ARRAY_LENGTH(posts); i++)
		expect_named(RPMA_E_INVAL, posts[i], post(i, 9, ALWAYS | RPMA_F_INLINE));
	assert_int_equal(provider.send.posted, 0);
}

/* There is nothing to send with them. */
TEST(flags__mean_nothing_to_reads, setup_atomics, teardown)
{
	expect(0, rpma_read(w.conn, w.mr, 0, w.remote, 0, 4096,
			    ALWAYS | RPMA_F_INLINE | RPMA_F_SOLICITED, NULL));
	assert_int_equal(provider.send.wr.send_flags, IBV_SEND_SIGNALED);
}
