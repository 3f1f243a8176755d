/* SPDX-License-Identifier: BSD-3-Clause */
/* test_stats.c -- counts, loss and figures of pings. */
#include <math.h>

#include "tests/lib/test.h"
#include "tools/rpma-ping/ping.h"

static int make(void **state)
{
	static struct stats stats;

	*state = &stats;
	return stats_init(&stats, true);
}

static int unmake(void **state)
{
	stats_free(*state);
	return 0;
}

static void add(struct stats *stats, enum ping_end end, uint64_t rtt_ns)
{
	const struct ping_report report = {.end = end,
					   .step = STEP_READ,
					   .write_ns = rtt_ns / 4,
					   .flush_ns = rtt_ns / 4,
					   .read_ns = rtt_ns / 2,
					   .rtt_ns = rtt_ns};

	stats_add(stats, 64, &report);
}

TEST(lost_ones_are_those_that_did_not_come_back, make, unmake)
{
	struct stats *t = *state;

	assert_true(stats_loss(t) == 0);
	add(t, PING_BACK, 100);
	add(t, PING_LATE, 0);
	add(t, PING_CORRUPT, 100);
	add(t, PING_FAILED, 0);
	EQUAL((t->transmitted, 4), (t->received, 2), (t->corrupt, 1));
	assert_true(stats_loss(t) == 0.5);
	EQUAL((t->rtt->count, 2), (stats_records(t), 4), (t->records[1].end, PING_LATE));
}

TEST(one_that_a_signal_cut_short_does_not_count, make, unmake)
{
	struct stats *t = *state;

	add(t, PING_STOPPED, 0);
	EQUAL((t->transmitted, 0), (stats_records(t), 0));
}

/* mdev as ping(8) works it out; nearest ranks of 1..100. */
TEST(figures_are_those_of_arithmetic, make, unmake)
{
	struct stats *t = *state;
	struct stats_figures f;

	for (uint64_t i = 1; i <= 100; i++)
		add(t, PING_BACK, i);
	f = stats_figures(t->rtt);
	EQUAL((f.min_ns, 1), (f.max_ns, 100), (f.p50_ns, 50), (f.p99_ns, 99));
	assert_true(fabs(f.mean_ns - 50.5) < 1e-9);
	/* (101 * 201 / 6 - 50.5^2) ^ 0.5 */
	assert_true(fabs(f.mdev_ns - 28.866070047722118) < 1e-6);
}

TEST(of_few_pings_p99_is_the_slowest, make, unmake)
{
	struct stats *t = *state;
	struct stats_figures f;

	add(t, PING_BACK, 1000003);
	f = stats_figures(t->rtt);
	EQUAL((f.p50_ns, 1000003), (f.p99_ns, 1000003));
	assert_true(f.mdev_ns < 1e-3);
	add(t, PING_BACK, 3000001);
	f = stats_figures(t->rtt);
	EQUAL((f.p50_ns, 1000003), (f.p99_ns, 3000001));
}

TEST(what_is_kept_one_by_one_is_bounded, make, unmake)
{
	struct stats *t = *state;

	for (int i = 0; i < STATS_RECORDS + 5; i++)
		add(t, PING_BACK, 8);
	EQUAL((t->transmitted, STATS_RECORDS + 5), (stats_records(t), STATS_RECORDS),
	      (t->rtt->count, STATS_RECORDS + 5));
}
