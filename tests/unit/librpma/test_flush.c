/* SPDX-License-Identifier: BSD-3-Clause */
/* test_flush.c -- rpma_flush() on devices without the flush verb: the read behind the writes. */
#include "world.h"

#define CONTEXT	   UNTOUCHED
#define VISIBILITY RPMA_FLUSH_TYPE_VISIBILITY
#define PERSISTENT RPMA_FLUSH_TYPE_PERSISTENT
#define ALWAYS	   RPMA_F_COMPLETION_ALWAYS

/* The remote side sends a region of this size and usage. */
static void make_remote(uint64_t len, int usage)
{
	unsigned char desc[DESCRIPTOR_SIZE];

	write_descriptor(desc, 0x10000, len, 0xabcd, usage);
	expect(0, rpma_mr_remote_delete(&w.remote));
	expect(0, rpma_mr_remote_from_descriptor(desc, sizeof(desc), &w.remote));
}

static void allow_direct_write(bool supported)
{
	if (w.pcfg == NULL)
		expect(0, rpma_peer_cfg_new(&w.pcfg));
	expect(0, rpma_peer_cfg_set_direct_write_to_pmem(w.pcfg, supported));
	expect(0, rpma_conn_apply_remote_peer_cfg(w.conn, w.pcfg));
}

TEST(flush__reads_eight_bytes_behind_the_writes, setup_conn, teardown)
{
	const struct ibv_send_wr *wr = &provider.send.wr;

	expect(0, rpma_flush(w.conn, w.remote, 64, 128, VISIBILITY, RPMA_F_COMPLETION_ON_ERROR,
			     CONTEXT));
	EQUAL((provider.send.posted, 1), (wr->opcode, IBV_WR_RDMA_READ),
	      (wr->wr_id, (uintptr_t)CONTEXT), (wr->send_flags, 0), (wr->next, NULL),
	      (wr->num_sge, 1), (provider.send.sge.length, 8),
	      (wr->wr.rdma.remote_addr, (uintptr_t)region + 64), (wr->wr.rdma.rkey, 0x20000));
}

TEST(flush__reads_into_memory_of_its_own, setup_conn, teardown)
{
	/* the region registered last is that of the connection */
	EQUAL((provider.reg_mr.length, 8), (provider.reg_mr.access, IBV_ACCESS_LOCAL_WRITE));
	expect(0, rpma_flush(w.conn, w.remote, 0, 8, VISIBILITY, ALWAYS, CONTEXT));
	EQUAL((provider.send.sge.addr, (uintptr_t)provider.reg_mr.addr),
	      (provider.send.sge.lkey, 0x10001), (provider.send.wr.send_flags, IBV_SEND_SIGNALED));
}

TEST(flush__never_reads_past_the_region, setup_conn, teardown)
{
	static const struct {
		uint64_t region_len, offset, len;
		uint64_t read_offset, read_len;
	} cases[] = {
		{64, 56, 8, 56, 8}, {64, 57, 7, 56, 8}, {64, 63, 1, 56, 8}, {64, 64, 0, 56, 8},
		{8, 0, 8, 0, 8},    {8, 7, 1, 0, 8},	{3, 0, 3, 0, 3},    {3, 2, 1, 0, 3},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		make_remote(cases[i].region_len, ALL_USAGES);
		expect(0, rpma_flush(w.conn, w.remote, cases[i].offset, cases[i].len, VISIBILITY,
				     ALWAYS, NULL));
		assert_int_equal(provider.send.wr.wr.rdma.remote_addr - 0x10000,
				 DIFFERS(cases[i].read_offset, cases[i].offset,
					 "it reads from the offset, whatever the region's end"));
		assert_int_equal(provider.send.sge.length, DIFFERS(cases[i].read_len, 8, "always"));
	}
}

TEST(flush__refuses_a_range_outside, setup_conn, teardown)
{
	static const struct {
		size_t offset, len;
	} cases[] = {{0, 65}, {64, 1}, {65, 0}, {SIZE_MAX, 2 /* wraps */}, {1, SIZE_MAX}};

	make_remote(64, ALL_USAGES);
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
		expect(DIFFERS(RPMA_E_INVAL, 0, "it looks at neither"),
		       rpma_flush(w.conn, w.remote, cases[i].offset, cases[i].len, VISIBILITY,
				  ALWAYS, NULL));
}

TEST(flush__needs_the_region_s_and_the_peer_s_consent, setup_conn, teardown)
{
	static const struct {
		int usage;
		bool direct_write;
		enum rpma_flush_type type;
		int result;
	} cases[] = {
#define V RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY
#define P RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT
		{V, false, VISIBILITY, 0},
		{V, true, VISIBILITY, 0},
		{P, true, VISIBILITY, RPMA_E_NOSUPP},
		{RPMA_MR_USAGE_READ_SRC, true, VISIBILITY, RPMA_E_NOSUPP},
		{P, true, PERSISTENT, 0},
		{P, false, PERSISTENT, RPMA_E_NOSUPP},
		{V, true, PERSISTENT, RPMA_E_NOSUPP},
		{V | P, true, PERSISTENT, 0},
#undef V
#undef P
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		unsigned posted = provider.send.posted;

		make_remote(64, cases[i].usage);
		allow_direct_write(cases[i].direct_write);
		expect(cases[i].result,
		       rpma_flush(w.conn, w.remote, 0, 8, cases[i].type, ALWAYS, NULL));
		assert_int_equal(provider.send.posted - posted, cases[i].result == 0);
	}
}

TEST(flush__has_no_direct_write_until_the_peer_says_so, setup_conn, teardown)
{
	expect(RPMA_E_NOSUPP, rpma_flush(w.conn, w.remote, 0, 8, PERSISTENT, ALWAYS, NULL));
}

TEST(flush__needs_a_flag_whatever_the_region_allows, setup_conn, teardown)
{
	make_remote(64, RPMA_MR_USAGE_READ_SRC);
	expect(RPMA_E_INVAL, rpma_flush(w.conn, w.remote, 0, 8, VISIBILITY, 0, NULL));
}

TEST(flush__refuses_an_unknown_type, setup_conn, teardown)
{
	static const int types[] = {2, -1};

	for (size_t i = 0; i < ARRAY_LENGTH(types); i++)
		expect(DIFFERS(RPMA_E_INVAL, 0, "it flushes by any type"),
		       rpma_flush(w.conn, w.remote, 0, 8, (enum rpma_flush_type)types[i], ALWAYS,
				  NULL));
}

TEST(flush__refuses_bad_arguments, setup_conn, teardown)
{
	expect(RPMA_E_INVAL, rpma_flush(NULL, w.remote, 0, 8, VISIBILITY, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_flush(w.conn, NULL, 0, 8, VISIBILITY, ALWAYS, NULL));
	expect(RPMA_E_INVAL, rpma_flush(w.conn, w.remote, 0, 8, VISIBILITY, 0, NULL));
	assert_int_equal(provider.send.posted, 0);
}

TEST(flush__reports_a_full_queue, setup_conn, teardown)
{
	calls_fail_on("ibv_post_send", ENOMEM);
	expect(RPMA_E_PROVIDER, rpma_flush(w.conn, w.remote, 0, 8, VISIBILITY, ALWAYS, NULL));
}
