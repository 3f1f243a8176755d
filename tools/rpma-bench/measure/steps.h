/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * steps.h -- what is done in steps, over and over, with each step timed by
 * itself: how connections and registrations are measured.
 */
#pragma once

#include "loop.h"
#include "tools/rpma-bench/protocol/message.h"
#include "workers.h"

#define STEPS_MAX 8

struct steps {
	const struct clock *clock;
	const char *const *names;
	unsigned count;
	unsigned until_ready; /* the latency is that of the first until_ready steps */
	/* All of them once; stamps[i] is taken before step i, stamps[count] after the last. */
	int (*once)(void *arg, uint64_t *stamps);
	/* Is it to end early? */
	bool (*stopped)(void *arg);
	void *arg;
	/* where samples go */
	struct histogram *latency;
	struct histogram *each[STEPS_MAX];
};

/*
 * Warms up and measures for as long, or as often, as begin sets, in the calling
 * thread, whose usage is that of the measurement. -ECANCELED: stopped before it.
 */
int steps_measure(const struct steps *steps, const struct message_begin *begin,
		  struct measured *warmup, struct measured *measured, struct thread_usage *usage);
