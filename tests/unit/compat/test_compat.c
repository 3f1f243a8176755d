/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_compat.c -- librpma_compat.h: the calls of the 0.0, 0.9 and 0.11
 * manuals, over the scripted provider of the librpma tests.
 *
 * Expectations are what those releases did with the same verbs underneath.
 */
#include <arpa/inet.h>
#include <librpma_compat.h>
#include <poll.h>

#include "tests/unit/librpma/world.h"

#define CONTEXT ((void *)(uintptr_t)0xc0ffee)

#ifdef HEADERS_HAVE_FLUSH
_Static_assert(IBV_WC_FLUSH == 8 && IBV_WC_ATOMIC_WRITE == 9, "opcodes of librpma_compat.h");
#endif

static const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};

static void queue_wc(enum ibv_wc_status status, enum ibv_wc_opcode opcode)
{
	const struct ibv_wc wc = {
		.wr_id = (uintptr_t)CONTEXT,
		.status = status,
		.opcode = opcode,
		.byte_len = 40,
		.wc_flags = IBV_WC_WITH_IMM,
		.imm_data = htonl(0x01020304),
	};

	provider_queue_wc(provider.cqs[0], &wc);
}

/* The 0.0 and the 0.9 names of waiting and fetching. */
static const struct {
	const char *name;
	int (*wait)(struct rpma_conn *conn);
	int (*get)(struct rpma_conn *conn, struct rpma_completion *cmpl);
} manuals[] = {
	{"0.0", rpma_conn_prepare_completions, rpma_conn_next_completion},
	{"0.9", rpma_conn_completion_wait, rpma_conn_completion_get},
};

TEST(wait__arms_again, setup_conn, teardown)
{
	for (size_t i = 0; i < ARRAY_LENGTH(manuals); i++) {
		unsigned armed = calls_count("ibv_req_notify_cq");

		provider_queue_cq_event(provider.cqs[0]);
		EQUAL((manuals[i].wait(w.conn), 0), (calls_count("ibv_req_notify_cq"), armed + 1));
	}
}

TEST(wait__passes_errors_on, setup_conn, teardown)
{
	for (size_t i = 0; i < ARRAY_LENGTH(manuals); i++) {
		assert_int_equal(manuals[i].wait(NULL), RPMA_E_INVAL);
		calls_fail_on("ibv_get_cq_event", EAGAIN);
		assert_int_equal(manuals[i].wait(w.conn), RPMA_E_NO_COMPLETION);
	}
}

TEST(get__fills_the_whole_completion, setup_conn, teardown)
{
	for (size_t i = 0; i < ARRAY_LENGTH(manuals); i++) {
		struct rpma_completion cmpl = {0};

		queue_wc(IBV_WC_SUCCESS, IBV_WC_RECV);
		assert_int_equal(manuals[i].get(w.conn, &cmpl), 0);
		assert_ptr_equal(cmpl.op_context, CONTEXT);
		EQUAL((cmpl.op, RPMA_OP_RECV), (cmpl.byte_len, 40),
		      (cmpl.op_status, IBV_WC_SUCCESS), (cmpl.flags, IBV_WC_WITH_IMM),
		      (cmpl.imm, 0x01020304));
	}
}

TEST(get__passes_errors_on, setup_conn, teardown)
{
	struct rpma_completion cmpl = {0};

	for (size_t i = 0; i < ARRAY_LENGTH(manuals); i++) {
		EQUAL((manuals[i].get(NULL, &cmpl), RPMA_E_INVAL),
		      (manuals[i].get(w.conn, NULL), RPMA_E_INVAL),
		      (manuals[i].get(w.conn, &cmpl), RPMA_E_NO_COMPLETION));
	}
}

TEST(get_completion__names_each_operation, setup_conn, teardown)
{
	static const struct {
		int opcode;
		enum rpma_op op;
	} cases[] = {
		{IBV_WC_RDMA_READ, RPMA_OP_READ},
		{8 /* IBV_WC_FLUSH */, RPMA_OP_READ},
		{IBV_WC_RDMA_WRITE, RPMA_OP_WRITE},
		{9 /* IBV_WC_ATOMIC_WRITE */, RPMA_OP_WRITE},
		{IBV_WC_SEND, RPMA_OP_SEND},
		{IBV_WC_RECV, RPMA_OP_RECV},
		{IBV_WC_RECV_RDMA_WITH_IMM, RPMA_OP_RECV_RDMA_WITH_IMM},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct rpma_completion cmpl = {0};

		queue_wc(IBV_WC_SUCCESS, (enum ibv_wc_opcode)cases[i].opcode);
		EQUAL((rpma_cq_get_completion(w.cq, &cmpl), 0), (cmpl.op, cases[i].op));
	}
}

TEST(get_completion__does_not_know_other_opcodes, setup_conn, teardown)
{
	struct rpma_completion cmpl = {0};

	queue_wc(IBV_WC_SUCCESS, IBV_WC_COMP_SWAP);
	EQUAL((rpma_cq_get_completion(w.cq, &cmpl), RPMA_E_NOSUPP),
	      (rpma_cq_get_completion(w.cq, &cmpl), RPMA_E_NO_COMPLETION));
}

TEST(get_completion__of_a_failure_has_context_and_status_only, setup_conn, teardown)
{
	struct rpma_completion cmpl = {0};

	memset(&cmpl, 0x5a, sizeof(cmpl));
	struct rpma_completion expected = cmpl;
	expected.op_context = CONTEXT;
	expected.op_status = IBV_WC_REM_ACCESS_ERR;
	queue_wc(IBV_WC_REM_ACCESS_ERR, IBV_WC_RDMA_READ);
	assert_int_equal(rpma_cq_get_completion(w.cq, &cmpl), 0);
	assert_memory_equal(&cmpl, &expected, sizeof(cmpl));
}

TEST(get_completion__refuses_null, setup_conn, teardown)
{
	struct rpma_completion cmpl = {0};

	EQUAL((rpma_cq_get_completion(NULL, &cmpl), RPMA_E_INVAL),
	      (rpma_cq_get_completion(w.cq, NULL), RPMA_E_INVAL));
}

TEST(completion_fd__is_readable_on_an_event, setup_conn, teardown)
{
	struct pollfd pollfd = {.events = POLLIN};

	assert_int_equal(rpma_conn_get_completion_fd(w.conn, &pollfd.fd), 0);
	provider_queue_cq_event(provider.cqs[0]);
	assert_int_equal(poll(&pollfd, 1, 0), 1);
}

TEST(completion_fd__refuses_null, setup_conn, teardown)
{
	int fd = 77;

	EQUAL((rpma_conn_get_completion_fd(NULL, &fd), RPMA_E_INVAL),
	      (rpma_conn_get_completion_fd(w.conn, NULL), RPMA_E_INVAL), (fd, 77));
}

static int write_atomic(size_t dst_offset, const struct rpma_mr_local *src, size_t src_offset)
{
	return rpma_write_atomic(w.conn, w.remote, dst_offset, src, src_offset,
				 RPMA_F_COMPLETION_ALWAYS, CONTEXT);
}

TEST(write_atomic__posts_a_fenced_write_of_the_bytes, setup_conn, teardown)
{
	memcpy(region + 24, bytes, sizeof(bytes));
	EQUAL((write_atomic(16, w.mr, 24), 0), (provider.send.wr.opcode, IBV_WR_RDMA_WRITE));
	assert_true(provider.send.wr.send_flags & IBV_SEND_FENCE);
	assert_true(provider.send.wr.send_flags & IBV_SEND_SIGNALED);
	EQUAL((provider.send.wr.wr_id, (uintptr_t)CONTEXT), (provider.send.sge.length, 8));
	assert_memory_equal(provider.send.inline_data, bytes, sizeof(bytes));
}

TEST(write_atomic__takes_the_last_bytes_of_a_region, setup_conn, teardown)
{
	memcpy(region + REGION_SIZE - 8, bytes, sizeof(bytes));
	assert_int_equal(write_atomic(0, w.mr, REGION_SIZE - 8), 0);
	assert_memory_equal(provider.send.inline_data, bytes, sizeof(bytes));
}

TEST(write_atomic__refuses_what_it_cannot_write, setup_conn, teardown)
{
	EQUAL((write_atomic(0, NULL, 0), RPMA_E_INVAL), (write_atomic(4, w.mr, 0), RPMA_E_INVAL),
	      (write_atomic(0, w.mr, REGION_SIZE - 7), RPMA_E_INVAL),
	      (write_atomic(0, w.mr, SIZE_MAX - 3), RPMA_E_INVAL),
	      (rpma_write_atomic(w.conn, NULL, 0, w.mr, 0, 1, NULL), RPMA_E_INVAL),
	      (rpma_write_atomic(NULL, w.remote, 0, w.mr, 0, 1, NULL), RPMA_E_INVAL),
	      (rpma_write_atomic(w.conn, w.remote, 0, w.mr, 0, 0, NULL), RPMA_E_INVAL),
	      (provider.send.posted, 0));
}
