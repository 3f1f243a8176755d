/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect_test.h -- what it takes to connect and disconnect, step by step.
 */
#ifndef BENCH_CLIENT_CONNECT_TEST_H
#define BENCH_CLIENT_CONNECT_TEST_H

#include "common/base/clock.h"
#include "run.h"
#include "tools/rpma-bench/measure/workers.h"
#include "tools/rpma-bench/result/repeat.h"

struct connect_test {
	const struct control *control;
	const struct clock *clock;
	struct message_ready ready;
	struct workers *workers; /* one thread's */
	const struct message_begin *begin;
	struct repeat *repeat; /* gets latency, steps, threads, ops and time */
};

/* A job of one thread. arg is a struct connect_test. */
int connect_test_run(void *arg, uint32_t thread);

#endif /* BENCH_CLIENT_CONNECT_TEST_H */
