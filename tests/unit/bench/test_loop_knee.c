/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_loop_knee.c -- a search for a rate over the open loop, with a time of our own and
 * operations whose service time is known: the knee is depth by service time.
 */
#include "fake_qps.h"
#include "tools/rpma-bench/result/knee.h"

#define SERVICE_NS  200000
#define DURATION_NS 100000000 /* 0.4 % above the knee, the last one waits two services */

LATENCY(service, SERVICE_NS)

/* One repeat of one rate: its response within three services, and the rate achieved. */
static enum knee_verdict measure(uint64_t rate, uint32_t depth)
{
	const struct params params = {.rate_per_s = rate};
	struct measure_cfg own = fake_setup(service, depth, DURATION_NS);
	json_t *repeats;
	bool kept;

	own.limit_ns = 2 * own.duration_ns;
	own.period_ns = 1e9 / (double)rate;
	own.response = &fake_response;
	fake.step_ns = fake.idle_ns = 1000;
	assert_int_equal(fake_run(&own, &m), 0);
	repeats = json_pack("[{s:b, s:I, s:I}]", "complete", 1, "elapsed_ns",
			    (json_int_t)m.elapsed_ns, "unbegun_ops", (json_int_t)m.unbegun_ops);
	kept = knee_achieved(repeats, DURATION_NS, &params) &&
	       histogram_percentile(&fake_response, 0.99).ns < 3 * SERVICE_NS;
	json_decref(repeats);
	return kept ? KNEE_KEPT : KNEE_MISSED;
}

TEST(the_knee_is_depth_by_service_time)
{
	static const uint32_t depths[] = {1, 2, 4};

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		struct knee knee = {.low = 1000, .high = 100000};
		const double wanted = depths[i] * 1e9 / SERVICE_NS;
		struct knee_next next;
		uint64_t kept, missed;

		while ((next = knee_next(&knee)).step != KNEE_END) {
			struct knee_trial *t = &knee.trials[next.trial];

			if (next.step == KNEE_TRY) {
				t = &knee.trials[knee.trials_count++];
				t->rate_per_s = next.rate_per_s;
			}
			t->again = next.step == KNEE_AGAIN;
			t->verdict = measure(t->rate_per_s, depths[i]);
		}
		knee.over = true;
		assert_string_equal(knee_outcome(&knee), "found");
		kept = knee_kept(&knee)->rate_per_s;
		missed = knee_missed(&knee)->rate_per_s;
		assert_in_range(kept, wanted * 0.97, wanted * 1.03);
		assert_in_range(missed, wanted * 0.97, wanted * 1.03);
	}
}
