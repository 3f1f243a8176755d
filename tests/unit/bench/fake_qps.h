/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_qps.h -- queue pairs with a time and completions of our own, for the tests
 * of the measuring loops.
 *
 * Time stands still but for what the queue pairs take: each operation is due a
 * scripted latency after its post. A poll that finds nothing lets time pass
 * until something is due, or by one step; while nothing is in flight, looking
 * at the clock does.
 */
#pragma once

#include "common/base/failure.h"
#include "tests/lib/test.h"
#include "tools/rpma-bench/measure/loop.h"

#define FAKE_QPS     4
#define FAKE_PENDING 256
#define FAKE_NEVER   UINT64_MAX

struct fake_completion {
	uint64_t due_ns;
	uint64_t op; /* over all queue pairs, from 0 */
	uint32_t slot;
	bool signal;
	enum ibv_wc_opcode opcode;
};

struct fake_qp {
	struct fake_completion pending[FAKE_PENDING]; /* in the order of their arrival */
	uint32_t pending_count;
	uint64_t posted;
	uint64_t finished;
	uint64_t armed_receives;
	uint64_t received;
	uint64_t first_receive; /* where a measurement before this one left off */
	bool last_signal;	/* the last post's */
	uint32_t waiting;	/* posted with RPMA_F_MORE, and nothing behind them yet */
	/* events */
	bool armed;
	bool event;
	uint64_t arrived_ns; /* all that is due until then has arrived */
};

struct fake {
	uint64_t now_ns;
	uint64_t begin_ns;
	uint64_t step_ns; /* the most that passes in a poll */
	uint64_t idle_ns; /* passes in a look at the clock while nothing is in flight */
	uint64_t wait_ns; /* rpma_cq_wait takes so long, before it arms the queue */
	uint64_t (*latency_ns)(uint32_t qp, uint64_t op);
	uint64_t request_ns; /* answered operations: until the request completes */
	unsigned idle_looks; /* at the clock, since nothing is in flight */
	uint64_t posted;
	uint64_t finished;
	uint64_t most_in_flight;      /* on any queue pair */
	uint64_t doorbells;	      /* posts without RPMA_F_MORE */
	uint64_t most_waited;	      /* with one of these, itself included */
	uint64_t waits;		      /* calls of ppoll */
	uint64_t fail_at;	      /* the operation whose completion fails */
	enum ibv_wc_status fail_with; /* the status it has */
	uint64_t post_fails_at;	      /* the operation whose post fails */
	uint64_t poll_fails_at;	      /* polls behind the post of this operation fail once */
	uint64_t signal_at;	      /* the operation that brings a signal */
	uint64_t stop_at;	      /* the operation that sets stop */
	uint64_t refuse_at;	      /* the operation whose answer is wrong */
	uint64_t twice_at;	      /* the operation that is answered twice */
	bool peer_gone;
	enum ibv_wc_opcode opcode;
	struct fake_qp qps[FAKE_QPS];
};

extern struct fake fake;
extern struct operation fake_operation; /* a write */
extern struct operation fake_reads;
extern struct operation fake_answered;
extern struct histogram fake_latency;
extern struct histogram fake_read_latency;
extern struct histogram fake_response;
extern atomic_int fake_stop;

/* Resets everything: a closed loop over one queue pair. */
struct measure_cfg fake_setup(uint64_t (*latency_ns)(uint32_t qp, uint64_t op), uint32_t depth,
			      uint64_t duration_ns);
/* measure_run() with slots for it. */
int fake_run(const struct measure_cfg *of, struct measured *measured);

/* Configuration and results of a test. */
static __attribute__((unused)) struct measure_cfg cfg;
static __attribute__((unused)) struct measured m;

/* A run that is good and did so many operations. */
static __attribute__((unused)) void fake_run_well(uint64_t ops)
{
	EQUAL((fake_run(&cfg, &m), 0), (m.ops, ops));
}

/* A run that fails, with these words. */
static __attribute__((unused)) void fake_run_fails(const char *words)
{
	assert_int_not_equal(fake_run(&cfg, &m), 0);
	if (strstr(failure_get()->text, words) == NULL)
		fail_msg("%s, expected \"%s\"", failure_get()->text, words);
}

uint64_t fake_ten_us(uint32_t qp, uint64_t op);

/* Nanoseconds of operation op, over all queue pairs, on queue pair qp. */
#define LATENCY(name, expression)                                                                  \
	static uint64_t name(uint32_t qp, uint64_t op)                                             \
	{                                                                                          \
		return expression;                                                                 \
	}
