/* SPDX-License-Identifier: BSD-3-Clause */
/* made_repeat.h -- repeats with samples of the tests' own. */
#pragma once

#include "tests/lib/json_holds.h"
#include "tools/rpma-bench/result/repeat.h"

static inline struct histogram *made_histogram(const uint64_t *samples, size_t count)
{
	struct histogram *h = malloc(sizeof(*h));

	assert_non_null(h);
	histogram_reset(h);
	for (size_t i = 0; i < count; i++)
		histogram_record(h, samples[i]);
	return h;
}

/* A write of 4 KiB, one thread, one second, with so many samples of one value. */
static inline struct repeat made_repeat(uint64_t ns, size_t count)
{
	struct repeat r = {
		.params = {.test = BENCH_LAT,
			   .op = BENCH_WRITE,
			   .size_bytes = 4096,
			   .depth = 1,
			   .threads = 1,
			   .connections = 1,
			   .batch = 1,
			   .signal_every = 1},
		.complete = true,
		.latency_kind = "post_to_cqe",
		.ops = count,
		.elapsed_ns = 1000000000,
		.threads_count = 1,
		.threads = calloc(1, sizeof(struct thread_usage)),
		.latency = made_histogram(NULL, 0),
	};

	assert_non_null(r.threads);
	r.threads[0] = (struct thread_usage){.cpu = 2, .cpus = "2", .ops = count};
	for (size_t i = 0; i < count; i++)
		histogram_record(r.latency, ns);
	return r;
}

/* Takes the repeat. */
static inline json_t *made_json(struct repeat *r)
{
	json_t *json = repeat_json(r);

	assert_non_null(json);
	repeat_clear(r);
	return json;
}
