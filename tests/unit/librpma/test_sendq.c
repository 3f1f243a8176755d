/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sendq.c -- operations that wait for another one, and slots in the send queue. */
#include "pipeline.h"

/* --- RPMA_F_MORE ------------------------------------------------------------------------ */

TEST(more__waits_for_one_without, setup_nothing, teardown)
{
	connect_with(16, 0, 8);
	post(1, MORE);
	post(2, RPMA_F_MORE | ALWAYS);
	assert_got(0, "");
	post(3, ALWAYS);
	assert_got(1, "1 2! 3! ");
	post(4, ON_ERROR);
	assert_got(1, "4 ");
}

TEST(more__waits_for_submit, setup_nothing, teardown)
{
	connect_with(16, 0, 8);
	expect(0, rpma_submit(w.conn));
	post(1, MORE);
	post(2, MORE);
	expect(0, rpma_submit(w.conn));
	assert_got(1, "1 2 ");
	expect(0, rpma_submit(w.conn));
	assert_got(0, "");
	expect(RPMA_E_INVAL, rpma_submit(NULL));
}

TEST(more__ends_with_the_batch, setup_nothing, teardown)
{
	connect_with(16, 0, 3);
	for (uint64_t i = 1; i <= 4; i++)
		post(i, MORE);
	assert_got(1, "1 2 3 ");
	expect(0, rpma_submit(w.conn));
	assert_got(1, "4 ");
}

TEST(more__is_nothing_without_a_batch, setup_nothing, teardown)
{
	connect_with(16, 0, 0);
	post(1, MORE);
	assert_got(1, "1 ");
}

TEST(more__ends_with_the_connection, setup_nothing, teardown)
{
	connect_with(16, 0, 8);
	post(1, MORE);
	expect(0, rpma_conn_disconnect(w.conn));
	assert_got(1, "1 ");
	assert_true(calls_in_order("ibv_post_send", "rdma_disconnect"));
}

TEST(disconnect__tells_what_could_not_be_posted, setup_nothing, teardown)
{
	connect_with(16, 0, 8);
	post(1, MORE);
	calls_fail_on("ibv_post_send", EIO);
	expect(RPMA_E_PROVIDER, rpma_conn_disconnect(w.conn));
	assert_int_equal(calls_count("rdma_disconnect"), 1);
}

TEST(delete__tells_what_was_not_posted, setup_nothing, teardown)
{
	connect_with(16, 0, 8);
	post(1, MORE);
	post(2, MORE);
	expect(0, rpma_conn_delete(&w.conn));
	expect_logged(RPMA_LOG_LEVEL_WARNING, "2 operations");
	assert_got(0, "");
}

/* The bytes that the arguments point to end with the call. */
TEST(more__keeps_inline_bytes, setup_nothing, teardown)
{
	char word[8] = "12345678";

	connect_with(16, 0, 8);
	strcpy(region, "ABCDEFG");
	expect(0, rpma_write(w.conn, w.remote, 0, w.mr, 0, 8, MORE | RPMA_F_INLINE, NULL));
	expect(0, rpma_atomic_write(w.conn, w.remote, 64, word, MORE, NULL));
	memset(region, 0, 8);
	memset(word, 0, 8);
	expect(0, rpma_submit(w.conn));
	assert_int_equal(provider.sends_count, 2);
	assert_memory_equal(provider.sends_data[0], "ABCDEFG", 8);
	assert_memory_equal(provider.sends_data[1], "12345678", 8);
}

/* Nothing that was accepted is lost, and nothing of the call that fails is left. */
TEST(failure__leaves_the_others_waiting, setup_nothing, teardown)
{
	connect_with(16, 0, 8);
	post(1, MORE);
	post(2, MORE);
	provider.send_fails_at = 2;
	expect_named(RPMA_E_PROVIDER, "rpma_write", write_8(3, ALWAYS));
	assert_got(1, "1 ");
	expect_logged(RPMA_LOG_LEVEL_ERROR, "wr_id 0x2");
	provider.send_fails_at = 1;
	expect(RPMA_E_PROVIDER, rpma_submit(w.conn));
	assert_got(1, "");
	provider.send_fails_at = 0;
	post(4, MORE);
	expect(0, rpma_submit(w.conn));
	assert_got(1, "2 4 ");
	expect(0, rpma_submit(w.conn));
	assert_got(0, "");
}

/* However often: the slots are reused. */
TEST(failure__may_be_tried_again_and_again, setup_nothing, teardown)
{
	connect_with(16, 0, 3);
	post(1, MORE);
	post(2, MORE);
	for (int i = 0; i < 10; i++) {
		calls_fail_on("ibv_post_send", ENOMEM);
		expect_named(RPMA_E_PROVIDER, "rpma_write", write_8(3, MORE));
		assert_got(1, "");
	}
	provider.send_fails_at = 2;
	expect_named(RPMA_E_PROVIDER, "rpma_write", write_8(3, RPMA_F_MORE | ALWAYS));
	provider.send_fails_at = 0;
	assert_got(1, "1 ");
	post(4, MORE); /* the last slot of the batch */
	post(5, MORE);
	expect(0, rpma_submit(w.conn));
	assert_int_equal(provider.sends_count, 3);
}

/* An operation in the list goes out as one that is posted alone. */
TEST(list__has_what_the_arguments_say, setup_nothing, teardown)
{
	connect_with(16, 0, 8);
	post(1, MORE);
	expect(0, rpma_write(w.conn, w.remote, 640, w.mr, 320, 77, MORE, (void *)2));
	expect(0, rpma_send(w.conn, w.mr, 8, 16, MORE | RPMA_F_SOLICITED, (void *)3));
	expect(0, rpma_write(w.conn, NULL, 0, NULL, 0, 0, MORE, (void *)4));
	expect(0, rpma_read(w.conn, w.mr, 8, w.remote, 16, 24, RPMA_F_MORE | ALWAYS, (void *)5));
	expect(0, rpma_submit(w.conn));
	EQUAL((provider.sends[1].wr.rdma.remote_addr, (uintptr_t)region + 640),
	      (provider.sends[1].wr.rdma.rkey, 0x20000), (provider.sends_bytes[1], 77),
	      (provider.sends[2].opcode, IBV_WR_SEND),
	      (provider.sends[2].send_flags, IBV_SEND_SOLICITED), (provider.sends[3].num_sge, 0),
	      (provider.sends[4].opcode, IBV_WR_RDMA_READ), (provider.sends_bytes[4], 24));
	assert_got(1, "1 2 3 4 5! ");
}

TEST(list__refuses_what_a_single_post_refuses, setup_nothing, teardown)
{
	connect_with(16, 0, 8);
	post(1, MORE);
	expect(RPMA_E_INVAL, rpma_write(NULL, w.remote, 0, w.mr, 0, 8, MORE, NULL));
	expect(RPMA_E_INVAL, rpma_write(w.conn, NULL, 0, w.mr, 0, 8, MORE, NULL));
	expect(RPMA_E_INVAL, rpma_write(w.conn, w.remote, 0, NULL, 0, 8, MORE, NULL));
	expect(RPMA_E_INVAL, rpma_write(w.conn, w.remote, 0, w.mr, 0, 8, 0, NULL));
	expect(RPMA_E_INVAL,
	       rpma_write(w.conn, w.remote, 0, w.mr, 0, UINT32_MAX + (size_t)1, MORE, NULL));
	expect(RPMA_E_INVAL,
	       rpma_write(w.conn, w.remote, 0, w.mr, 0, 33, MORE | RPMA_F_INLINE, NULL));
	expect(0, rpma_submit(w.conn));
	assert_got(1, "1 ");
}

TEST(list__allocates_nothing, setup_nothing, teardown)
{
	connect_with(16, 4, 8);
	calls_watch_allocations(true);
	for (uint64_t i = 1; i <= 12; i++)
		post(i, i % 2 == 0 ? MORE : MORE | RPMA_F_INLINE);
	expect(0, rpma_write_flush(w.conn, w.remote, 64, w.mr, 8, 8, RPMA_FLUSH_TYPE_VISIBILITY,
				   ALWAYS, NULL));
	assert_fetched("");
	assert_int_equal(calls_count("malloc") + calls_count("calloc") + calls_count("mmap"), 0);
}

/* --- RPMA_CONN_OPT_SIGNAL_EVERY ----------------------------------------------------------------
 */

TEST(every__signals_what_the_program_does_not, setup_nothing, teardown)
{
	connect_with(16, 4, 8);
	for (uint64_t i = 1; i <= 9; i++)
		post(i, i == 6 ? ALWAYS : ON_ERROR);
	assert_got(9, "1 2 3 4! 5 6! 7 8 9 ");
}

TEST(every__counts_what_waits, setup_nothing, teardown)
{
	connect_with(16, 4, 8);
	for (uint64_t i = 1; i <= 6; i++)
		post(i, MORE);
	expect(0, rpma_submit(w.conn));
	assert_got(1, "1 2 3 4! 5 6 ");
}

TEST(every__is_half_of_the_queue_at_most, setup_nothing, teardown)
{
	connect_with(6, 100, 8);
	for (uint64_t i = 1; i <= 4; i++)
		post(i, ON_ERROR);
	assert_got(4, "1 2 3! 4 ");
}

TEST(its_completions__stay_inside, setup_nothing, teardown)
{
	connect_with(16, 2, 8);
	for (uint64_t i = 1; i <= 6; i++)
		post(i, i == 4 ? ALWAYS : ON_ERROR);
	assert_got(6, "1 2! 3 4! 5 6! ");
	complete(2, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	complete(4, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	complete(50, IBV_WC_SUCCESS, IBV_WC_RECV);
	complete(6, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	assert_fetched("4 50 ");
	assert_fetched("");
}

/* One that fetches one at a time goes on behind what stays inside. */
TEST(its_completions__do_not_end_a_fetch, setup_nothing, teardown)
{
	struct ibv_wc wc;

	connect_with(16, 2, 8);
	for (uint64_t i = 1; i <= 4; i++)
		post(i, i == 4 ? ALWAYS : ON_ERROR);
	complete(2, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	complete(4, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	expect(0, rpma_cq_get_wc(w.cq, 1, &wc, NULL));
	assert_int_equal(wc.wr_id, 4);
}

TEST(a_full_queue__is_told_and_passes, setup_nothing, teardown)
{
	connect_with(6, 2, 8);
	for (uint64_t i = 1; i <= 6; i++)
		post(i, ON_ERROR);
	assert_got(6, "1 2! 3 4! 5 6! ");
	expect_named(RPMA_E_AGAIN, "rpma_write", write_8(7, ON_ERROR));
	expect_named(RPMA_E_AGAIN, "rpma_write", write_8(7, MORE));
	complete(2, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	assert_fetched("");
	post(7, MORE);
	post(8, MORE);
	/* what waits has its slots, and is posted: nothing else would make room */
	expect_named(RPMA_E_AGAIN, "rpma_write", write_8(9, MORE));
	assert_got(1, "7 8! ");
	expect(0, rpma_submit(w.conn));
	assert_got(0, "");
	assert_int_equal(logged[RPMA_LOG_LEVEL_ERROR], 0);
}

/* Many times around the ring. */
TEST(slots__never_run_out_while_completions_are_fetched, setup_nothing, teardown)
{
	uint64_t number = 0;

	connect_with(5, 2, 8);
	for (int round = 0; round < 200; round++) {
		while (write_8(++number % 64, round % 3 == 0 ? MORE : ON_ERROR) == 0)
			continue;
		expect(0, rpma_submit(w.conn));
		for (unsigned i = 0; i < provider.sends_count; i++) {
			if (provider.sends[i].send_flags & IBV_SEND_SIGNALED)
				complete(1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
		}
		assert_true(provider.sends_count >= 2);
		provider.sends_count = 0;
		assert_fetched("");
	}
}

/* Each operation that was posted completes with an error then, and none of them is hidden. */
TEST(errors__are_shown_and_free_slots, setup_nothing, teardown)
{
	connect_with(4, 2, 8);
	for (uint64_t i = 1; i <= 4; i++)
		post(i, ON_ERROR);
	for (uint64_t i = 1; i <= 4; i++)
		complete(i, i == 1 ? IBV_WC_REM_ACCESS_ERR : IBV_WC_WR_FLUSH_ERR,
			 IBV_WC_RDMA_WRITE);
	assert_fetched("1 2 3 4 ");
	/* more of them fail by their completions, too */
	for (uint64_t i = 5; i <= 8; i++)
		post(i, ON_ERROR);
	expect_named(RPMA_E_AGAIN, "rpma_write", write_8(9, ON_ERROR));
	complete(5, IBV_WC_WR_FLUSH_ERR, IBV_WC_RDMA_WRITE);
	assert_fetched("5 ");
	post(9, MORE);
	calls_fail_on("ibv_post_send", ENOMEM); /* the one that failed was a receive */
	expect(RPMA_E_AGAIN, rpma_submit(w.conn));
	assert_int_equal(logged[RPMA_LOG_LEVEL_ERROR], 0);
	provider.sends_count = provider.send.posted = 0;
	expect(0, rpma_submit(w.conn));
	assert_got(1, "9 ");
}

/* A receive that fails breaks the connection, too; what succeeded before it stays inside. */
TEST(errors__of_receives_leave_the_others_inside, setup_nothing, teardown)
{
	connect_with(16, 2, 8);
	for (uint64_t i = 1; i <= 4; i++)
		post(i, ON_ERROR);
	complete(50, IBV_WC_LOC_LEN_ERR, IBV_WC_RECV);
	complete(2, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	complete(3, IBV_WC_WR_FLUSH_ERR, IBV_WC_RDMA_WRITE);
	assert_fetched("50 3 ");
}

TEST(what_the_program_posts_itself__is_shown, setup_nothing, teardown)
{
	connect_with(16, 4, 8);
	post(1, ON_ERROR);
	complete(99, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	assert_fetched("99 ");
}

TEST(failed_posts__are_not_counted, setup_nothing, teardown)
{
	connect_with(8, 2, 8);
	calls_fail_on("ibv_post_send", EIO);
	expect_named(RPMA_E_PROVIDER, "rpma_write", write_8(1, ALWAYS));
	for (uint64_t i = 1; i <= 4; i++)
		post(i, MORE);
	provider.send_fails_at = 3;
	expect(RPMA_E_PROVIDER, rpma_submit(w.conn));
	provider.send_fails_at = 0;
	assert_int_equal(provider.sends_count, 2);
	complete(2, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	assert_fetched("");
	expect(0, rpma_submit(w.conn));
	assert_got(3, "1 2! 3 4! ");
	complete(4, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	assert_fetched("");
	complete(7, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE); /* none that is counted */
	assert_fetched("7 ");
}

/* The one that could not be posted was to leave the completion: the next one does. */
TEST(failed_posts__pass_the_signal_on, setup_nothing, teardown)
{
	connect_with(8, 2, 8);
	post(1, ON_ERROR);
	assert_got(1, "1 ");
	for (int i = 0; i < 3; i++) {
		calls_fail_on("ibv_post_send", EIO);
		expect_named(RPMA_E_PROVIDER, "rpma_write", write_8(2, ON_ERROR));
	}
	assert_got(3, "");
	post(3, ON_ERROR);
	post(4, ON_ERROR);
	assert_got(2, "3! 4 ");
}

/* On failure each operation and each receive leaves a completion. */
TEST(every__has_room_in_the_cq, setup_nothing, teardown)
{
	static const struct {
		uint32_t every, cq, rcq, cqe;
	} cases[] = {{0, 3, 0, 3}, {4, 3, 0, 16 + 5}, {4, 3, 9, 16}, {4, 100, 0, 100}};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		setup_cfg(NULL);
		set(RPMA_CONN_OPT_SQ_SIZE, 16);
		set(RPMA_CONN_OPT_RQ_SIZE, 5);
		set(RPMA_CONN_OPT_CQ_SIZE, cases[i].cq);
		set(RPMA_CONN_OPT_RCQ_SIZE, cases[i].rcq);
		set(RPMA_CONN_OPT_SIGNAL_EVERY, cases[i].every);
		make_req();
		assert_int_equal(provider.create_cq[0].cqe, cases[i].cqe);
		teardown(NULL);
	}
}

/* Receives of a shared queue without a queue for completions leave theirs here. */
TEST(every__has_room_for_shared_receives, setup_cfg, teardown)
{
	make_srq(0);
	expect(0, rpma_conn_cfg_set_srq(w.cfg, w.srq));
	set(RPMA_CONN_OPT_SQ_SIZE, 16);
	set(RPMA_CONN_OPT_SIGNAL_EVERY, 4);
	make_req();
	assert_int_equal(provider.create_cq[0].cqe, 16 + 20);
}

/* The program posts a new batch while completions of the one before come in with failures. */
TEST(peer_death__shows_each_operation_once, setup_nothing, teardown)
{
	connect_with(8, 4, 4);
	for (uint64_t i = 1; i <= 4; i++)
		post(i, MORE);
	post(5, MORE);
	post(6, MORE);
	assert_got(1, "1 2 3 4! ");
	complete(4, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	assert_fetched("");
	expect(0, rpma_submit(w.conn));
	assert_got(1, "5 6 ");
	complete(5, IBV_WC_RETRY_EXC_ERR, IBV_WC_RDMA_WRITE);
	complete(6, IBV_WC_WR_FLUSH_ERR, IBV_WC_RDMA_WRITE);
	post(7, MORE);
	assert_fetched("5 6 ");
	expect(0, rpma_conn_disconnect(w.conn));
	assert_got(1, "7 ");
	complete(7, IBV_WC_WR_FLUSH_ERR, IBV_WC_RDMA_WRITE);
	assert_fetched("7 ");
}
