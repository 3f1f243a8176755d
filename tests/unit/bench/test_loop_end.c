/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_loop_end.c -- how a closed loop ends: in time, after its operations,
 * when it is told to, and when something fails.
 */
#include "common/base/cli.h"
#include "common/base/failure.h"
#include "fake_qps.h"

LATENCY(never, op < 100 ? 1000 : FAKE_NEVER)

TEST(a_warm_up_waits_for_its_operations)
{
	cfg = fake_setup(fake_ten_us, 1, 1000000);
	cfg.min_ops = 250;
	cfg.limit_ns = 4000000;
	cfg.latency = NULL;
	fake_run_well(250);
	/* but not for more than it may take */
	cfg = fake_setup(fake_ten_us, 1, 1000000);
	cfg.min_ops = 1000;
	cfg.limit_ns = 4000000;
	fake_run_well(400);
}

TEST(it_ends_after_so_many_operations)
{
	cfg = fake_setup(fake_ten_us, 8, UINT64_MAX);
	cfg.max_ops = 1001;
	cfg.signal_every = 4;
	cfg.qps_count = 3;
	fake_run_well(1001);
	assert_int_equal(fake.posted, 1001);
	/* 334, 334, 333: each queue pair sees its last one complete */
	EQUAL((fake_latency.count, 84 + 84 + 84), (m.interrupted, false));
}

TEST(the_last_operation_is_always_signalled)
{
	/* wherever the signal comes, of a depth that is not a multiple */
	for (uint64_t at = 0; at < 40; at++) {
		cfg = fake_setup(fake_ten_us, 7, 1000000000);
		cfg.signal_every = 5;
		fake.stop_at = at;
		EQUAL((fake_run(&cfg, &m), 0), (fake.qps[0].last_signal, true),
		      (fake.finished, fake.posted), (m.ops, fake.posted));
	}
}

/* Wherever the end comes, nothing is left that waits for another one, or has no completion. */
TEST(a_batch_is_complete_at_the_end)
{
	static const uint32_t batches[][2] = {{4, 1}, {4, 4}, {8, 4}, {4, 8}};

	for (uint64_t at = 0; at < 160; at++) {
		cfg = fake_setup(fake_ten_us, 9, 1000000000);
		cfg.batch = batches[at % 4][0];
		cfg.signal_every = batches[at % 4][1];
		fake.stop_at = at / 4;
		EQUAL((fake_run(&cfg, &m), 0), (fake.qps[0].waiting, 0),
		      (fake.qps[0].last_signal, true), (fake.finished, fake.posted),
		      (m.ops, fake.posted));
	}
}

TEST(a_signal_or_a_word_ends_it_in_good_order)
{
	uint64_t *const ends[] = {&fake.signal_at, &fake.stop_at};

	for (size_t i = 0; i < 2; i++) {
		cfg = fake_setup(fake_ten_us, 4, 1000000000);
		*ends[i] = 42;
		EQUAL((fake_run(&cfg, &m), 0), (m.interrupted, true), (fake.finished, fake.posted),
		      (m.ops, fake.posted));
		/* within a millisecond: 400 operations */
		assert_in_range(m.ops, 43, 450);
	}
}

TEST(a_failed_completion_names_its_status)
{
	/* whether or not it would have had a completion if it were good */
	for (uint32_t every = 1; every <= 4; every++) {
		cfg = fake_setup(fake_ten_us, 4, 1000000000);
		cfg.signal_every = every;
		fake.fail_at = 42;
		assert_int_not_equal(fake_run(&cfg, &m), 0);
		EQUAL((failure_get()->code, EXIT_RUN_FAILED),
		      (failure_get()->text, HAS("server X")),
		      (failure_get()->text, HAS("REM_ACCESS_ERR")));
	}
}

TEST(a_message_too_long_for_the_device_is_told)
{
	cfg = fake_setup(fake_ten_us, 4, 1000000000);
	fake.fail_at = 42;
	fake.fail_with = IBV_WC_LOC_LEN_ERR;
	fake_run_fails("more than the RDMA device takes");
}

TEST(a_failed_post_is_told)
{
	cfg = fake_setup(fake_ten_us, 4, 1000000000);
	fake.post_fails_at = 42;
	fake_run_fails("posting a write");
}

/* Once is enough: a completion may be gone. */
TEST(a_failed_poll_is_told)
{
	for (uint32_t depth = 1; depth <= 4; depth += 3) {
		cfg = fake_setup(fake_ten_us, depth, 1000000000);
		fake.poll_fails_at = 42;
		fake_run_fails("polling for completions failed");
	}
}

TEST(a_peer_that_went_is_noticed)
{
	cfg = fake_setup(never, 1, 1000000000);
	fake.peer_gone = true;
	fake.step_ns = 1000;
	assert_int_not_equal(fake_run(&cfg, &m), 0);
	assert_string_equal(failure_get()->text, "gone");
	/* looked for after 100 ms without a completion, in steps of 4096 polls */
	assert_in_range(fake.now_ns, fake.begin_ns + 100000000, fake.begin_ns + 110000000);
}

TEST(a_silent_device_is_given_up)
{
	for (int completion = 0; completion < BENCH_COMPLETIONS; completion++) {
		cfg = fake_setup(never, 1, 1000000000);
		cfg.completion = (enum bench_completion)completion;
		fake.step_ns = 1000;
		fake_run_fails("no completion within 10 s");
		assert_in_range(fake.now_ns, fake.begin_ns + 10000000000,
				fake.begin_ns + 10210000000);
	}
}
