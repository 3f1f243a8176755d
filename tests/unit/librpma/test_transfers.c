/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_transfers.c -- rpma_read(), rpma_write(), rpma_send(), the two with an immediate value, and
 * rpma_atomic_write(): which work request each posts, and what each refuses.
 */
#include "world.h"

#include <arpa/inet.h>

#define CONTEXT UNTOUCHED
#define IMM	0x11223344u

static int post_read(struct rpma_conn *conn, struct rpma_mr_local *local, size_t local_offset,
		     struct rpma_mr_remote *remote, size_t remote_offset, size_t len, int flags)
{
	return rpma_read(conn, local, local_offset, remote, remote_offset, len, flags, CONTEXT);
}

static int post_write(struct rpma_conn *conn, struct rpma_mr_local *local, size_t local_offset,
		      struct rpma_mr_remote *remote, size_t remote_offset, size_t len, int flags)
{
	return rpma_write(conn, remote, remote_offset, local, local_offset, len, flags, CONTEXT);
}

static int post_write_with_imm(struct rpma_conn *conn, struct rpma_mr_local *local,
			       size_t local_offset, struct rpma_mr_remote *remote,
			       size_t remote_offset, size_t len, int flags)
{
	return rpma_write_with_imm(conn, remote, remote_offset, local, local_offset, len, flags,
				   IMM, CONTEXT);
}

static int post_send(struct rpma_conn *conn, struct rpma_mr_local *local, size_t local_offset,
		     struct rpma_mr_remote *remote, size_t remote_offset, size_t len, int flags)
{
	return rpma_send(conn, local, local_offset, len, flags, CONTEXT);
}

static int post_send_with_imm(struct rpma_conn *conn, struct rpma_mr_local *local,
			      size_t local_offset, struct rpma_mr_remote *remote,
			      size_t remote_offset, size_t len, int flags)
{
	return rpma_send_with_imm(conn, local, local_offset, len, flags, IMM, CONTEXT);
}

/* Operations that move a range, behind one order of arguments; first those with a place at the
 * peer. */
#define WITH_REMOTE 3
static const struct transfer {
	const char *name;
	int (*post)(struct rpma_conn *conn, struct rpma_mr_local *local, size_t local_offset,
		    struct rpma_mr_remote *remote, size_t remote_offset, size_t len, int flags);
	enum ibv_wr_opcode opcode;
} transfers[] = {
	{"rpma_read", post_read, IBV_WR_RDMA_READ},
	{"rpma_write", post_write, IBV_WR_RDMA_WRITE},
	{"rpma_write_with_imm", post_write_with_imm, IBV_WR_RDMA_WRITE_WITH_IMM},
	{"rpma_send", post_send, IBV_WR_SEND},
	{"rpma_send_with_imm", post_send_with_imm, IBV_WR_SEND_WITH_IMM},
};

#define expect_first(count, value, ...)                                                            \
	for (const struct transfer *t = transfers; t < transfers + (count); t++)                   \
	expect_named(value, t->name, t->post(__VA_ARGS__))
#define expect_each(...) expect_first(ARRAY_LENGTH(transfers), __VA_ARGS__)

TEST(transfers__post_the_range, setup_conn, teardown)
{
	for (size_t i = 0; i < ARRAY_LENGTH(transfers); i++) {
		const struct transfer *t = &transfers[i];
		const struct ibv_send_wr *wr = &provider.send.wr;

		expect_named(
			0, t->name,
			t->post(w.conn, w.mr, 8, w.remote, 64, 16, RPMA_F_COMPLETION_ON_ERROR));
		EQUAL((provider.send.posted, i + 1), (wr->opcode, t->opcode),
		      (wr->wr_id, (uintptr_t)CONTEXT), (wr->send_flags, 0), (wr->next, NULL),
		      (wr->num_sge, 1), (provider.send.sge.addr, (uintptr_t)region + 8),
		      (provider.send.sge.length, 16), (provider.send.sge.lkey, 0x10000));
		if (i >= WITH_REMOTE)
			continue;
		EQUAL((wr->wr.rdma.remote_addr, (uintptr_t)region + 64),
		      (wr->wr.rdma.rkey, 0x20000));
	}
}

TEST(transfers__without_regions_move_nothing, setup_conn, teardown)
{
	for (size_t i = 0; i < ARRAY_LENGTH(transfers); i++) {
		expect_named(
			0, transfers[i].name,
			transfers[i].post(w.conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS));
		EQUAL((provider.send.wr.opcode, transfers[i].opcode), (provider.send.wr.num_sge, 0),
		      (provider.send.wr.send_flags, IBV_SEND_SIGNALED));
		if (i >= WITH_REMOTE)
			continue;
		EQUAL((provider.send.wr.wr.rdma.remote_addr, 0),
		      (provider.send.wr.wr.rdma.rkey, 0));
	}
}

TEST(immediate_values__are_sent_big_endian, setup_conn, teardown)
{
	expect(0, rpma_write_with_imm(w.conn, w.remote, 0, w.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS,
				      IMM, NULL));
	assert_int_equal(provider.send.wr.imm_data, htonl(IMM));
	expect(0, rpma_send_with_imm(w.conn, w.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS, ~IMM, NULL));
	assert_int_equal(provider.send.wr.imm_data, htonl(~IMM));
}

TEST(transfers__refuse_no_connection_and_no_flags, setup_conn, teardown)
{
	expect_each(RPMA_E_INVAL, NULL, w.mr, 0, w.remote, 0, 8, RPMA_F_COMPLETION_ALWAYS);
	expect_each(RPMA_E_INVAL, w.conn, w.mr, 0, w.remote, 0, 8, 0);
	assert_int_equal(provider.send.posted, 0);
}

TEST(transfers__refuse_half_an_empty_operation, setup_conn, teardown)
{
	const int flags = RPMA_F_COMPLETION_ALWAYS;

	expect_first(WITH_REMOTE, RPMA_E_INVAL, w.conn, NULL, 0, w.remote, 0, 0, flags);
	expect_first(WITH_REMOTE, RPMA_E_INVAL, w.conn, w.mr, 0, NULL, 0, 0, flags);
	expect_each(RPMA_E_INVAL, w.conn, NULL, 1, NULL, 0, 0, flags);
	expect_first(WITH_REMOTE, RPMA_E_INVAL, w.conn, NULL, 0, NULL, 1, 0, flags);
	expect_each(RPMA_E_INVAL, w.conn, NULL, 0, NULL, 0, 1, flags);
	assert_int_equal(provider.send.posted, 0);
}

TEST(transfers__refuse_what_32_bits_cannot_say, setup_conn, teardown)
{
	int want = DIFFERS(RPMA_E_INVAL, 0, "it cuts the length to 32 bits");

	expect_each(want, w.conn, w.mr, 0, w.remote, 0, UINT32_MAX + (size_t)1,
		    RPMA_F_COMPLETION_ALWAYS);
	assert_int_equal(provider.send.posted, want == 0 ? ARRAY_LENGTH(transfers) : 0);
	expect_each(0, w.conn, w.mr, 0, w.remote, 0, UINT32_MAX, RPMA_F_COMPLETION_ALWAYS);
	assert_int_equal(provider.send.sge.length, UINT32_MAX);
}

TEST(transfers__report_a_full_queue, setup_conn, teardown)
{
	calls_fail_always("ibv_post_send", ENOMEM);
	expect_each(RPMA_E_PROVIDER, w.conn, w.mr, 0, w.remote, 0, 8, RPMA_F_COMPLETION_ALWAYS);
	assert_int_equal(logged[RPMA_LOG_LEVEL_ERROR], ARRAY_LENGTH(transfers));
}

TEST(transfers__name_what_could_not_be_posted, setup_conn, teardown)
{
	char words[128];

	OURS_ONLY("its message has neither address nor wr_id");
	calls_fail_always("ibv_post_send", ENOMEM);
	snprintf(words, sizeof(words), "remote address 0x%jx, rkey 0x20000, wr_id 0x5afe5afe",
		 (uintmax_t)(uintptr_t)region + 64);
	expect(RPMA_E_PROVIDER,
	       rpma_write(w.conn, w.remote, 64, w.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS, UNTOUCHED));
	expect_logged(RPMA_LOG_LEVEL_ERROR, words);
	expect_logged(RPMA_LOG_LEVEL_ERROR, "Cannot allocate memory");
}

/* --- rpma_atomic_write() ------------------------------------------------- */

static const char eight[8] = "8 bytes";

TEST(atomic_write__is_a_fenced_inline_write, setup_conn, teardown)
{
	static const struct {
		int flags;
		unsigned send_flags;
	} cases[] = {
		{RPMA_F_COMPLETION_ON_ERROR, IBV_SEND_INLINE | IBV_SEND_FENCE},
		{RPMA_F_COMPLETION_ALWAYS, IBV_SEND_INLINE | IBV_SEND_FENCE | IBV_SEND_SIGNALED},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		expect(0, rpma_atomic_write(w.conn, w.remote, 64, eight, cases[i].flags, CONTEXT));
		assert_int_equal(provider.send.wr.send_flags, cases[i].send_flags);
	}
	EQUAL((provider.send.wr.opcode, IBV_WR_RDMA_WRITE),
	      (provider.send.wr.wr_id, (uintptr_t)CONTEXT), (provider.send.wr.num_sge, 1),
	      (provider.send.wr.next, NULL), (provider.send.sge.length, sizeof(eight)));
	assert_memory_equal(provider.send.inline_data, eight, sizeof(eight));
	EQUAL((provider.send.wr.wr.rdma.remote_addr, (uintptr_t)region + 64),
	      (provider.send.wr.wr.rdma.rkey, 0x20000));
}

TEST(atomic_write__refuses_bad_arguments, setup_conn, teardown)
{
	const int flags = RPMA_F_COMPLETION_ALWAYS;

	expect(RPMA_E_INVAL, rpma_atomic_write(NULL, w.remote, 0, eight, flags, NULL));
	expect(RPMA_E_INVAL, rpma_atomic_write(w.conn, NULL, 0, eight, flags, NULL));
	expect(RPMA_E_INVAL, rpma_atomic_write(w.conn, w.remote, 0, NULL, flags, NULL));
	expect(RPMA_E_INVAL, rpma_atomic_write(w.conn, w.remote, 0, eight, 0, NULL));
	for (size_t offset = 1; offset < RPMA_ATOMIC_WRITE_ALIGNMENT; offset++)
		expect(RPMA_E_INVAL,
		       rpma_atomic_write(w.conn, w.remote, offset, eight, flags, NULL));
	assert_int_equal(provider.send.posted, 0);
}

TEST(atomic_write__reports_a_full_queue, setup_conn, teardown)
{
	calls_fail_on("ibv_post_send", ENOMEM);
	expect(RPMA_E_PROVIDER,
	       rpma_atomic_write(w.conn, w.remote, 0, eight, RPMA_F_COMPLETION_ALWAYS, NULL));
}
