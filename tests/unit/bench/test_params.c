/* SPDX-License-Identifier: BSD-3-Clause */
/* test_params.c -- which parameters go together. */
#include "tests/lib/test.h"
#include "tools/rpma-bench/protocol/params.h"

static struct params usual(void)
{
	return (struct params){
		.test = BENCH_BW,
		.op = BENCH_WRITE,
		.persist = BENCH_NONE,
		.size_bytes = 64,
		.depth = 8,
		.threads = 1,
		.connections = 1,
		.batch = 1,
		.signal_every = 1,
	};
}

/* A word of the sentence that refuses it; NULL: it is fine. */
static void expect(const struct params *params, const char *word)
{
	const char *conflict = params_conflict(params);

	if (word == NULL)
		assert_null(conflict);
	else if (conflict == NULL || strstr(conflict, word) == NULL)
		fail_msg("expected \"%s\", got \"%s\"", word, conflict ? conflict : "no conflict");
}

#define TRY(word, ...)                                                                             \
	do {                                                                                       \
		struct params p = usual();                                                         \
		__VA_ARGS__;                                                                       \
		expect(&p, word);                                                                  \
	} while (0)

TEST(every_field_has_its_range)
{
	TRY(NULL, p.size_bytes = 1);
	TRY(NULL, p.size_bytes = PARAMS_SIZE_MAX);
	TRY("size", p.size_bytes = 0);
	TRY("size", p.size_bytes = PARAMS_SIZE_MAX + 1);
	TRY(NULL, p.depth = 4096);
	TRY("depth", p.depth = 0);
	TRY("depth", p.depth = 4097);
	TRY(NULL, p.threads = 64);
	TRY("threads", p.threads = 0);
	TRY("threads", p.threads = 65);
	TRY(NULL, p.connections = 256);
	TRY("connections", p.connections = 0);
	TRY("connections", p.connections = 257);
	TRY(NULL, p.threads = p.connections = 16);
	TRY("--threads x --connections", p.threads = 2, p.connections = 129);
	TRY(NULL, p.server_load_millionths = PARAMS_MILLION);
	TRY("load", p.server_load_millionths = PARAMS_MILLION + 1);
	TRY(NULL, p.target = 15);
	TRY("targets", p.target = 16);
}

TEST(foreign_words_are_refused)
{
	TRY("words", p.test = BENCH_TESTS);
	TRY("words", p.op = BENCH_OPS);
	TRY("words", p.persist = (enum bench_persist)(BENCH_AUTO + 1));
	TRY("words", p.completion = BENCH_COMPLETIONS);
	TRY("words", p.pattern.kind = BENCH_PATTERNS);
	TRY("words", p.arrivals.kind = BENCH_ARRIVALS);
	TRY("theta", p.pattern.kind = BENCH_ZIPF);
	TRY("theta", p.pattern = (struct variant){BENCH_ZIPF, PARAMS_ZIPF_MAX + 1});
	TRY(NULL, p.pattern = (struct variant){BENCH_ZIPF, PARAMS_ZIPF_MAX});
	TRY("burst", p.test = BENCH_RATE, p.arrivals = (struct variant){BENCH_BURST, 1});
	TRY("words", p.test = (enum bench_test) - 1);
}

TEST(a_signal_comes_within_the_depth)
{
	TRY(NULL, p.signal_every = 8);
	TRY("signal-every", p.signal_every = 9);
	TRY("signal-every", p.signal_every = 0);
	TRY("signal-every", p.signal_every = 2, p.op = BENCH_SEND);
	TRY("signal-every", p.signal_every = 2, p.persist = BENCH_GPSPM);
	TRY("signal-every", p.signal_every = 2, p.persist = BENCH_GPSPM_RT);
	TRY(NULL, p.signal_every = 2, p.op = BENCH_WRITE_IMM);
}

TEST(a_batch_is_of_what_is_in_flight)
{
	TRY(NULL, p.batch = 8);
	TRY(NULL, p.batch = 8, p.test = BENCH_MIX);
	TRY(NULL, p.batch = 8, p.op = BENCH_SEND);
	TRY(NULL, p.batch = 8, p.persist = BENCH_APPEND);
	TRY("batch is 1 to 4096", p.batch = 0);
	TRY("batch is 1 to 4096", p.batch = 4097);
	TRY("--batch is 1 to --depth", p.batch = 9);
	TRY("test bw or mix", p.batch = 2, p.test = BENCH_LAT, p.depth = 1);
	TRY("test bw or mix", p.batch = 2, p.test = BENCH_LAT);
	TRY("test bw or mix", p.batch = 2, p.test = BENCH_RATE, p.rate_per_s = 1000);
	TRY("test bw or mix", p.batch = 2, p.test = BENCH_CONNECT, p.depth = 1);
	TRY("--batch is 1 to --depth", p.batch = 2, p.persist = BENCH_RPMEM, p.depth = 1);
	TRY(NULL, p.batch = 4, p.signal_every = 2);
	TRY(NULL, p.batch = 4, p.signal_every = 8);
	TRY("multiple of the other", p.batch = 4, p.signal_every = 3);
	TRY("multiple of the other", p.batch = 4, p.signal_every = 6);
}

TEST(persistence_belongs_to_writes)
{
	for (int persist = 0; persist <= BENCH_AUTO; persist++) {
		TRY(NULL, p.persist = (enum bench_persist)persist, p.depth = 1);
		TRY(persist == BENCH_NONE ? NULL : "persist",
		    p.persist = (enum bench_persist)persist, p.op = BENCH_READ);
	}
	TRY(NULL, p.op = BENCH_ATOMIC_WRITE, p.size_bytes = 8);
	TRY("--size 8", p.op = BENCH_ATOMIC_WRITE, p.size_bytes = 16);
	TRY("append", p.persist = BENCH_APPEND, p.pattern.kind = BENCH_RAND);
}

TEST(a_call_is_one_at_a_time_in_a_thread)
{
	for (int persist = BENCH_RPMEM; persist <= BENCH_RPMEM_RELAXED; persist++) {
		TRY(NULL, p.persist = (enum bench_persist)persist, p.depth = 1, p.threads = 8);
		TRY(NULL, p.persist = (enum bench_persist)persist, p.depth = 1, p.test = BENCH_LAT);
		TRY("depth 1", p.persist = (enum bench_persist)persist);
		TRY("connections 1", p.persist = (enum bench_persist)persist, p.depth = 1,
		    p.connections = 2);
		TRY("completion poll", p.persist = (enum bench_persist)persist, p.depth = 1,
		    p.completion = BENCH_EVENT);
		TRY("lat or bw", p.persist = (enum bench_persist)persist, p.depth = 1,
		    p.test = BENCH_RATE, p.rate_per_s = 1000);
		TRY("mix", p.persist = (enum bench_persist)persist, p.depth = 1,
		    p.test = BENCH_MIX);
		TRY("bidirectional", p.persist = (enum bench_persist)persist, p.depth = 1,
		    p.bidirectional = true);
	}
}

TEST(a_mix_is_of_writes_and_reads)
{
	TRY(NULL, p.test = BENCH_MIX, p.read_millionths = 700000);
	TRY(NULL, p.test = BENCH_MIX, p.persist = BENCH_APM);
	TRY(NULL, p.test = BENCH_MIX, p.persist = BENCH_AUTO);
	TRY("mix", p.test = BENCH_MIX, p.op = BENCH_READ);
	TRY("mix", p.test = BENCH_MIX, p.persist = BENCH_GPSPM);
	TRY("mix", p.test = BENCH_MIX, p.persist = BENCH_APPEND);
	TRY("signal-every", p.test = BENCH_MIX, p.signal_every = 2);
	TRY("fraction", p.test = BENCH_MIX, p.read_millionths = PARAMS_MILLION + 1);
	TRY("fraction", p.read_millionths = 1);
}

TEST(a_rate_belongs_to_its_test)
{
	TRY(NULL, p.test = BENCH_RATE, p.rate_per_s = 1);
	TRY(NULL, p.test = BENCH_RATE, p.rate_per_s = 1000, p.op = BENCH_SEND);
	TRY("rate", p.test = BENCH_RATE);
	TRY("rate", p.test = BENCH_RATE, p.rate_per_s = PARAMS_RATE_MAX + 1);
	TRY("rate", p.rate_per_s = 1000);
	TRY("signal-every", p.test = BENCH_RATE, p.rate_per_s = 1000, p.signal_every = 2);
}

TEST(setting_up_takes_one_of_all)
{
	for (int test = BENCH_CONNECT; test <= BENCH_REGISTER; test++) {
		TRY(NULL, p.test = (enum bench_test)test, p.depth = 1);
		TRY("depth", p.test = (enum bench_test)test);
		TRY("threads", p.test = (enum bench_test)test, p.depth = 1, p.threads = 2);
		TRY("connections", p.test = (enum bench_test)test, p.depth = 1, p.connections = 2);
		TRY("no --op", p.test = (enum bench_test)test, p.depth = 1, p.op = BENCH_READ);
		TRY("no --op", p.test = (enum bench_test)test, p.depth = 1, p.persist = BENCH_APM);
		TRY("srq", p.test = (enum bench_test)test, p.depth = 1, p.srq = true);
		TRY("bidirectional", p.test = (enum bench_test)test, p.depth = 1,
		    p.bidirectional = true);
	}
}

TEST(both_ways_go_one_sided_operations)
{
	TRY(NULL, p.bidirectional = true);
	TRY(NULL, p.bidirectional = true, p.op = BENCH_READ);
	TRY(NULL, p.bidirectional = true, p.op = BENCH_ATOMIC_WRITE, p.size_bytes = 8);
	TRY(NULL, p.bidirectional = true, p.persist = BENCH_NATIVE);
	TRY("bidirectional", p.bidirectional = true, p.op = BENCH_SEND);
	TRY("bidirectional", p.bidirectional = true, p.op = BENCH_WRITE_IMM);
	TRY("bidirectional", p.bidirectional = true, p.persist = BENCH_GPSPM);
	TRY("bidirectional", p.bidirectional = true, p.persist = BENCH_APPEND);
	TRY("bidirectional", p.bidirectional = true, p.test = BENCH_RATE, p.rate_per_s = 1);
}

TEST(a_shared_queue_needs_something_to_receive)
{
	TRY(NULL, p.srq = true, p.op = BENCH_SEND);
	TRY(NULL, p.srq = true, p.op = BENCH_WRITE_IMM);
	TRY(NULL, p.srq = true, p.persist = BENCH_GPSPM_RT);
	TRY("srq", p.srq = true);
	TRY("srq", p.srq = true, p.op = BENCH_READ);
}

TEST(messages_fit_the_memory_of_a_server)
{
	TRY(NULL, p.op = BENCH_SEND, p.size_bytes = PARAMS_MESSAGES_MAX / 8);
	TRY("1 GiB", p.op = BENCH_SEND, p.size_bytes = PARAMS_MESSAGES_MAX / 8 + 1);
	/* the largest of all does not wrap */
	TRY("1 GiB", p.op = BENCH_SEND, p.size_bytes = PARAMS_SIZE_MAX, p.depth = 4096,
	    p.connections = 256);
}
