/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_many.c -- processes that connect each to each, write to one another, and find what the
 * others wrote. RPMA_MANY is how many there are, RPMA_MANY_IDLE how many other TCP connections the
 * host has meanwhile.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_peer.h"

#define MANY_MAX 128

/* The memory that the processes share. */
static struct {
	_Atomic int arrived; /* counts all processes at each point in turn */
	struct end_address at[MANY_MAX][MANY_MAX];
} * shared;

static int count_of(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? atoi(text) : otherwise;
}

/* Waits until all have come to their `points`th point. */
static void meet(int many, int points)
{
	const double until = deadline() + 60;

	atomic_fetch_add(&shared->arrived, 1);
	while (atomic_load(&shared->arrived) < many * points)
		wait_a_little(until, "the other processes");
}

static uint64_t mark(int from, int to)
{
	return (uint64_t)(from + 1) << 32 | (uint64_t)(to + 1);
}

static void write_mark(struct end *end, const struct end_address *to, int own, int other)
{
	uint64_t *words = (uint64_t *)(void *)end->memory;
	struct ibv_sge sge = {(uintptr_t)&words[MANY_MAX + other], 8, end->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {to->memory + (uint64_t)own * 8, to->rkey},
	};
	struct ibv_send_wr *bad;

	words[MANY_MAX + other] = mark(own, other);
	OK(ibv_post_send(end->qp, &wr, &bad));
}

static void live(int own, int many)
{
	struct end_options options = end_defaults();
	struct end end = {0}, one;
	struct ibv_qp *qps[MANY_MAX];

	options.cqe = 2 * MANY_MAX;
	options.timeout = 18; /* a second for each try: there are few processors */
	end_open(&end, &options, -1);
	for (int i = 0; i < many; i++) {
		one = end;
		one.qp = qps[i] = end_make_qp(&end);
		assert_non_null(one.qp);
		end_to_init(&one);
		shared->at[own][i] = end_address(&one);
	}
	meet(many, 1);
	for (int i = 0; i < many; i++) {
		one = end;
		one.qp = qps[i];
		end_to_rtr(&one, &shared->at[i][own]);
		end_to_rts(&one);
	}
	meet(many, 2);
	for (int i = 0; i < many; i++) {
		one = end;
		one.qp = qps[i];
		write_mark(&one, &shared->at[i][own], own, i);
	}
	for (int i = 0; i < many; i++)
		EXPECT_WC(end.cq, 1, IBV_WC_SUCCESS);
	meet(many, 3);
	for (int i = 0; i < many; i++) /* what others wrote, as ThreadSanitizer cannot know */
		assert_int_equal(
			__atomic_load_n((uint64_t *)(void *)end.memory + i, __ATOMIC_ACQUIRE),
			mark(i, own));
	meet(many, 4);
}

TEST(test_many_processes_connect_each_to_each)
{
	const int many = count_of("RPMA_MANY", 12);
	struct timespec from, to;
	pid_t pids[MANY_MAX];

	assert_true(many > 0 && many <= MANY_MAX);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	fake_peer_open_idle(NULL, count_of("RPMA_MANY_IDLE", 200));
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < many; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			live(i, many);
			_exit(0);
		}
	}
	for (int i = 0; i < many; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	print_message("%d processes: %.1f s\n", many,
		      (double)(to.tv_sec - from.tv_sec) +
			      (double)(to.tv_nsec - from.tv_nsec) / 1e9);
}
