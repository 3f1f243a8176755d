/* SPDX-License-Identifier: BSD-3-Clause */
/* test_loop.c -- the closed measuring loop with a time and completions of our own. */
#include <math.h>

#include "common/base/cli.h"
#include "common/base/failure.h"
#include "fake_qps.h"

LATENCY(rising, 1000 * (op + 1))
/* 100 ms once, else 10 us. */
LATENCY(stall, op == 3000 ? 100000000 : 10000)
LATENCY(qp_1_is_slow, qp == 1 ? 100000 : 10000)

TEST(operations_are_counted_and_timed)
{
	/* 10 us each, one after the other, for 1 ms: exactly 100 */
	cfg = fake_setup(fake_ten_us, 1, 1000000);
	fake_run_well(100);
	EQUAL((m.elapsed_ns, 1000000), (m.begin_raw_ns, fake.begin_ns), (cfg.qps[0].touched, 100),
	      (fake_latency.count, 100), (fake_latency.min_ns, 10000), (fake_latency.max_ns, 10000),
	      (m.interrupted, false));
}

/* The percentile lies in the bucket of the value of this rank. */
static void assert_percentile(double p, uint64_t exact_ns)
{
	struct percentile found = histogram_percentile(&fake_latency, p);
	size_t index = histogram_index(exact_ns);
	double offset = found.ns - (double)histogram_bucket_low(index) + 0.5;

	assert_true(found.known);
	assert_true(offset >= 0 && offset <= (double)histogram_bucket_width(index));
}

/* 1, 2, 3 ... 1000 us: all figures of an arithmetic series. */
TEST(every_figure_is_exact)
{
	cfg = fake_setup(rising, 1, 500500000);
	fake_run_well(1000);
	EQUAL((m.elapsed_ns, 500500000), (fake_latency.min_ns, 1000),
	      (fake_latency.max_ns, 1000000), (fake_latency.sum_ns, 500500000));
	assert_true(histogram_mean_ns(&fake_latency) == 500500.0);
	/* n consecutive numbers have sqrt(n (n + 1) / 12) */
	assert_true(fabs(histogram_stddev_ns(&fake_latency) - 1000 * sqrt(1000.0 * 1001.0 / 12.0)) <
		    1e-3);
	for (unsigned percent = 1; percent < 100; percent++)
		assert_percentile(percent / 100.0, percent * 10000);
	for (uint64_t us = 1; us <= 1000; us++)
		assert_true(fake_latency.buckets[histogram_index(us * 1000)] > 0);
}

TEST(a_stall_is_one_slow_sample)
{
	uint64_t slow = 0;

	cfg = fake_setup(stall, 1, 1000000000);
	assert_int_equal(fake_run(&cfg, &m), 0);
	for (size_t i = histogram_index(10000) + 1; i < HISTOGRAM_BUCKETS; i++)
		slow += fake_latency.buckets[i];
	EQUAL((slow, 1), (fake_latency.max_ns, 100000000));
	/* no operation waited: 10,000 of them are simply missing */
	EQUAL((m.ops, 90001), (m.late_ops, 0));
}

TEST(unsignalled_operations_are_counted_not_timed)
{
	cfg = fake_setup(fake_ten_us, 8, 1000000);
	cfg.signal_every = 4;
	EQUAL((fake_run(&cfg, &m), 0), (fake.finished, fake.posted), (m.ops, fake.posted),
	      (fake.qps[0].last_signal, true), (fake_latency.count, (m.ops + 3) / 4),
	      (fake_latency.min_ns, 10000), (fake_latency.max_ns, 10000));
}

/* Operations of any latency, so that completions come one by one. */
LATENCY(any_latency, 1000 + op * 7919 % 5000)

TEST(a_batch_waits_for_room_for_all_of_it)
{
	static const uint32_t batches[][2] = {{2, 1}, {4, 2}, {8, 4}, {8, 8},
					      {2, 8}, {4, 4}, {7, 1}};

	for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
		const uint32_t batch = batches[i][0];

		cfg = fake_setup(any_latency, 8, UINT64_MAX);
		cfg.batch = batch;
		cfg.signal_every = batches[i][1];
		cfg.max_ops = 1001;
		cfg.qps_count = 2;
		fake_run_well(1001);
		assert_int_equal(fake.most_waited, batch);
		/* 501 and 500: the last one of each queue pair may be less than a batch */
		EQUAL((fake.doorbells, (501 + batch - 1) / batch + (500 + batch - 1) / batch),
		      (fake.finished, fake.posted));
	}
}

TEST(answered_operations_and_mixes_are_batched_too)
{
	cfg = fake_setup(fake_ten_us, 8, UINT64_MAX);
	cfg.operation = &fake_answered;
	cfg.batch = 4;
	cfg.max_ops = 1000;
	fake_run_well(1000);
	assert_int_equal(fake.doorbells, 250);

	cfg = fake_setup(fake_ten_us, 8, UINT64_MAX);
	cfg.reads = &fake_reads;
	cfg.read_millionths = 500000;
	cfg.read_latency = &fake_read_latency;
	cfg.batch = 4;
	cfg.max_ops = 1000;
	fake_run_well(1000);
	assert_int_equal(fake.doorbells, 250);
}

/* 1.05 s of 10 us each: ten whole windows of 100 ms with 10,000 operations. */
TEST(windows_are_counted)
{
	cfg = fake_setup(fake_ten_us, 1, 1050000000);
	EQUAL((fake_run(&cfg, &m), 0), (m.windows_used, 10));
	for (unsigned i = 0; i < 10; i++)
		assert_true(m.windows[i] > 9999 && m.windows[i] < 10001);
}

TEST(every_qp_keeps_its_depth)
{
	cfg = fake_setup(fake_ten_us, 4, 1000000);
	cfg.qps_count = 3;
	EQUAL((fake_run(&cfg, &m), 0), (fake.most_in_flight, 4), (m.ops, 3 * 400),
	      (fake.finished, fake.posted));
	for (int i = 0; i < 3; i++) {
		EQUAL((fake.qps[i].posted, 400), (cfg.qps[i].touched, 400));
	}
}

TEST(a_slow_qp_holds_no_other_one_up)
{
	cfg = fake_setup(qp_1_is_slow, 1, 10000000);
	cfg.qps_count = 2;
	EQUAL((fake_run(&cfg, &m), 0), (fake.qps[0].posted, 1000), (fake.qps[1].posted, 100));
}

TEST(a_mix_has_its_share_of_reads)
{
	struct measured again;

	cfg = fake_setup(fake_ten_us, 4, 1000000000);
	cfg.reads = &fake_reads;
	cfg.read_millionths = 300000;
	cfg.read_latency = &fake_read_latency;
	cfg.seed = 42;
	fake_operation.flushes = true;
	fake.opcode = IBV_WC_RDMA_WRITE;
	fake_run_well(400000);
	/* five deviations of a binomial distribution: 5 sqrt(n p (1 - p)) */
	assert_in_range(m.read_ops, 120000 - 1450, 120000 + 1450);
	EQUAL((fake_read_latency.count, m.read_ops), (fake_latency.count, m.ops - m.read_ops),
	      (cfg.qps[0].touched, m.ops - m.read_ops));
	/* whatever a read completed as last */
	assert_true(m.native_flush);

	cfg = fake_setup(fake_ten_us, 4, 1000000000);
	cfg.reads = &fake_reads;
	cfg.read_millionths = 300000;
	cfg.seed = 42;
	EQUAL((fake_run(&cfg, &again), 0), (again.read_ops, m.read_ops));
}

TEST(a_mix_may_be_all_of_one_kind)
{
	for (uint32_t fraction = 0; fraction <= 1; fraction++) {
		cfg = fake_setup(fake_ten_us, 1, 1000000);
		cfg.reads = &fake_reads;
		cfg.read_millionths = fraction * PARAMS_MILLION;
		fake_run_well(100);
		assert_int_equal(m.read_ops, fraction * 100);
	}
}

/* The answer is the sample, whether its request completes before or after it. */
TEST(an_answered_operation_ends_with_its_answer)
{
	static const uint64_t request_ns[] = {1000, 12000};

	for (size_t i = 0; i < 2; i++) {
		cfg = fake_setup(fake_ten_us, 4, 1000000);
		cfg.operation = &fake_answered;
		fake.request_ns = request_ns[i];
		fake.qps[0].first_receive = 3;
		EQUAL((fake_run(&cfg, &m), 0), (fake_latency.count, m.ops),
		      (fake_latency.min_ns, 10000), (fake_latency.max_ns, 10000),
		      (m.ops, fake.posted), (fake.qps[0].pending_count, 0));
		/* one receive is ready for each of those to come */
		assert_int_equal(fake.qps[0].armed_receives, 4 + m.ops);
	}
}

TEST(a_wrong_answer_is_told)
{
	cfg = fake_setup(fake_ten_us, 4, 1000000);
	cfg.operation = &fake_answered;
	fake.refuse_at = 42;
	fake_run_fails("it is not what was asked");
}

TEST(an_answer_to_nothing_is_told)
{
	cfg = fake_setup(fake_ten_us, 1, 1000000);
	cfg.operation = &fake_answered;
	fake.twice_at = 42;
	fake_run_fails("unexpected answer");
}

/* One at a time, and more at once than one poll gives. */
TEST(events_give_the_same_figures)
{
	for (uint32_t depth = 1; depth <= 64; depth += 63) {
		cfg = fake_setup(fake_ten_us, depth, 1000000);
		cfg.completion = BENCH_EVENT;
		fake_run_well(100 * depth);
		EQUAL((m.elapsed_ns, 1000000), (fake_latency.min_ns, 10000),
		      (fake_latency.max_ns, 10000), (fake.waits > 0, true));
	}
}

/* Eight in flight on two queue pairs, and one arrives while a queue is armed again. */
TEST(no_event_is_slept_through)
{
	cfg = fake_setup(rising, 8, 20000000);
	cfg.completion = BENCH_EVENT;
	cfg.qps_count = 2;
	fake.wait_ns = 1500;
	fake.step_ns = 300;
	EQUAL((fake_run(&cfg, &m), 0), (m.ops, fake.posted), (fake.finished, fake.posted));
}

/* A flush completes as anything but a read, and an atomic write as nothing but itself. */
TEST(the_kind_of_a_completion_is_seen)
{
	static const struct {
		bool flushes, atomic_writes;
		enum ibv_wc_opcode opcode;
		bool native_flush, native_atomic_write;
	} cases[] = {
		{true, false, IBV_WC_RDMA_READ, false, false},
		{true, false, IBV_WC_RDMA_WRITE, true, false},
		{false, false, IBV_WC_RDMA_WRITE, false, false},
		{false, true, IBV_WC_RDMA_WRITE, false, false},
		{false, true, IBV_WC_ATOMIC_WRITE, false, true},
		{false, false, IBV_WC_RDMA_READ, false, false},
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		cfg = fake_setup(fake_ten_us, i % 2 == 0 ? 1 : 4, 1000000);
		fake_operation.flushes = cases[i / 2].flushes;
		fake_operation.atomic_writes = cases[i / 2].atomic_writes;
		fake.opcode = cases[i / 2].opcode;
		EQUAL((fake_run(&cfg, &m), 0), (m.native_flush, cases[i / 2].native_flush),
		      (m.native_atomic_write, cases[i / 2].native_atomic_write));
	}
}
