/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect_test.h -- what it takes to connect and disconnect, step by step.
 */
#ifndef CONNECT_TEST_H
#define CONNECT_TEST_H

#include "../common/clock.h"
#include "repeat.h"
#include "run.h"
#include "worker.h"

struct connect_test {
	const struct remote *remote;
	struct rpma_peer *peer;
	const struct clock *clock;
	struct message_ready ready;
	struct workers *workers; /* of one thread */
	uint64_t warmup_ns;
	uint64_t duration_ns;
	uint64_t ops;	       /* 0: by time */
	struct repeat *repeat; /* gets latency, steps, threads, ops and time */
};

/* A job of one thread. arg is a struct connect_test. */
int connect_test_run(void *arg, uint32_t thread);

#endif /* CONNECT_TEST_H */
