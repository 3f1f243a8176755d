/* SPDX-License-Identifier: BSD-3-Clause */
/* test_messaging.c -- rpma_send(), rpma_send_with_imm() and rpma_recv(). */
#include "world.h"

#include <arpa/inet.h>

#define CONTEXT UNTOUCHED
#define IMM	0x11223344

static int post_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
		     size_t len, int flags)
{
	return rpma_send(conn, src, offset, len, flags, CONTEXT);
}

static int post_send_with_imm(struct rpma_conn *conn, const struct rpma_mr_local *src,
			      size_t offset, size_t len, int flags)
{
	return rpma_send_with_imm(conn, src, offset, len, flags, IMM, CONTEXT);
}

static const struct message {
	const char *name;
	int (*post)(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
		    size_t len, int flags);
	enum ibv_wr_opcode opcode;
} sends[] = {
	{"rpma_send", post_send, IBV_WR_SEND},
	{"rpma_send_with_imm", post_send_with_imm, IBV_WR_SEND_WITH_IMM},
};

#define expect_each(value, ...)                                                                    \
	for (const struct message *m = sends; m < sends + ARRAY_LENGTH(sends); m++)                \
	expect_named(value, m->name, m->post(__VA_ARGS__))

/* --- sending ------------------------------------------------------------- */

TEST(sends__post_the_range, setup_conn, teardown)
{
	for (size_t i = 0; i < ARRAY_LENGTH(sends); i++) {
		const struct ibv_send_wr *wr = &provider.send.wr;

		expect_named(0, sends[i].name,
			     sends[i].post(w.conn, w.mr, 8, 16, RPMA_F_COMPLETION_ON_ERROR));
		assert_int_equal(provider.send.posted, i + 1);
		assert_int_equal(wr->opcode, sends[i].opcode);
		assert_int_equal(wr->wr_id, (uintptr_t)CONTEXT);
		assert_int_equal(wr->send_flags, 0);
		assert_null(wr->next);
		assert_int_equal(wr->num_sge, 1);
		assert_int_equal(provider.send.sge.addr, (uintptr_t)region + 8);
		assert_int_equal(provider.send.sge.length, 16);
		assert_int_equal(provider.send.sge.lkey, 0x10000);
	}
}

TEST(sends__without_a_region_are_empty, setup_conn, teardown)
{
	for (size_t i = 0; i < ARRAY_LENGTH(sends); i++) {
		expect_named(0, sends[i].name,
			     sends[i].post(w.conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS));
		assert_int_equal(provider.send.wr.opcode, sends[i].opcode);
		assert_int_equal(provider.send.wr.num_sge, 0);
		assert_int_equal(provider.send.wr.send_flags, IBV_SEND_SIGNALED);
	}
}

TEST(send_with_imm__sends_the_value_big_endian, setup_conn, teardown)
{
	expect(0, rpma_send_with_imm(w.conn, w.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS, IMM, NULL));
	assert_int_equal(provider.send.wr.imm_data, htonl(IMM));
}

TEST(sends__refuse_bad_arguments, setup_conn, teardown)
{
	expect_each(RPMA_E_INVAL, NULL, w.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS);
	expect_each(RPMA_E_INVAL, w.conn, w.mr, 0, 8, 0);
	expect_each(RPMA_E_INVAL, w.conn, NULL, 1, 0, RPMA_F_COMPLETION_ALWAYS);
	expect_each(RPMA_E_INVAL, w.conn, NULL, 0, 1, RPMA_F_COMPLETION_ALWAYS);
	assert_int_equal(provider.send.posted, 0);
}

TEST(sends__refuse_what_32_bits_cannot_say, setup_conn, teardown)
{
	int want = DIFFERS(RPMA_E_INVAL, 0, "it cuts the length to 32 bits");

	expect_each(want, w.conn, w.mr, 0, UINT32_MAX + (size_t)1, RPMA_F_COMPLETION_ALWAYS);
	assert_int_equal(provider.send.posted, want == 0 ? ARRAY_LENGTH(sends) : 0);
}

TEST(sends__report_a_full_queue, setup_conn, teardown)
{
	calls_fail_always("ibv_post_send", ENOMEM);
	expect_each(RPMA_E_PROVIDER, w.conn, w.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS);
}

/* --- receiving ----------------------------------------------------------- */

TEST(recv__posts_the_range, setup_conn, teardown)
{
	expect(0, rpma_recv(w.conn, w.mr, 8, 16, CONTEXT));
	assert_int_equal(provider.recv.posted, 1);
	assert_int_equal(provider.recv.wr.wr_id, (uintptr_t)CONTEXT);
	assert_int_equal(provider.recv.wr.num_sge, 1);
	assert_null(provider.recv.wr.next);
	assert_int_equal(provider.recv.sge.addr, (uintptr_t)region + 8);
	assert_int_equal(provider.recv.sge.length, 16);
	assert_int_equal(provider.recv.sge.lkey, 0x10000);
}

TEST(recv__posts_an_empty_buffer, setup_conn, teardown)
{
	expect(0, rpma_recv(w.conn, NULL, 0, 0, CONTEXT));
	assert_int_equal(provider.recv.wr.num_sge, 0);
}

TEST(recv__refuses_bad_arguments, setup_conn, teardown)
{
	expect(RPMA_E_INVAL, rpma_recv(NULL, w.mr, 0, 8, NULL));
	expect(RPMA_E_INVAL, rpma_recv(w.conn, NULL, 1, 0, NULL));
	expect(RPMA_E_INVAL, rpma_recv(w.conn, NULL, 0, 1, NULL));
	assert_int_equal(provider.recv.posted, 0);
}

TEST(recv__refuses_what_32_bits_cannot_say, setup_conn, teardown)
{
	int want = DIFFERS(RPMA_E_INVAL, 0, "it cuts the length to 32 bits");

	expect(want, rpma_recv(w.conn, w.mr, 0, UINT32_MAX + (size_t)1, NULL));
	assert_int_equal(provider.recv.posted, want == 0);
}

TEST(recv__reports_a_full_queue, setup_conn, teardown)
{
	calls_fail_on("ibv_post_recv", ENOMEM);
	expect(RPMA_E_PROVIDER, rpma_recv(w.conn, w.mr, 0, 8, UNTOUCHED));
	if (!on_reference()) /* which logs the error alone */
		expect_logged(RPMA_LOG_LEVEL_ERROR, "length 8, local address 0x");
	if (!on_reference())
		expect_logged(RPMA_LOG_LEVEL_ERROR, "lkey 0x10000, wr_id 0x5afe5afe");
}
