/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_polling.c -- answers over TCP to a program that polls: its own thread receives them. When it
 * sleeps, or does something else, the agent, the thread of the device, takes them as before.
 */
#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include "common/base/monotonic.h"
#include "tests/device/pair.h"

#define WRITES 500 /* in each round */
#define ROUNDS 20

/* Polls without a pause, as programs do that spin. */
static void spin_for_wc(uint64_t wr_id)
{
	const double until = deadline();
	struct ibv_wc wc;
	int count;

	while ((count = ibv_poll_cq(w.near.cq, 1, &wc)) == 0)
		assert_true(deadline() < until + WAIT_S);
	EQUAL((count, 1), (wc.wr_id, wr_id), (wc.status, IBV_WC_SUCCESS));
}

static void write_spinning(unsigned writes)
{
	for (unsigned i = 0; i < writes; i++) {
		post(work(IBV_WR_RDMA_WRITE, 0, 4096, 0));
		spin_for_wc(1);
	}
}

/* The number behind a field of /proc/self/task/TID/status (proc(5)); -1: it is not the agent's. */
static long switches_of(const char *tid)
{
	char path[300], line[256];
	bool is_agent = false;
	long switches = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", tid);
	file = fopen(path, "re");
	if (file == NULL)
		return -1;
	while (fgets(line, sizeof(line), file) != NULL) {
		is_agent |= strcmp(line, "Name:\trpma-soft\n") == 0;
		sscanf(line, "voluntary_ctxt_switches: %ld", &switches);
	}
	fclose(file);
	return is_agent ? switches : -1;
}

/* The same of the agent; -1: no thread has its name yet, which it gives itself. */
static long switches_of_agent(void)
{
	DIR *threads = opendir("/proc/self/task");
	struct dirent *thread;
	long switches = -1;

	assert_non_null(threads);
	while (switches < 0 && (thread = readdir(threads)) != NULL)
		switches = switches_of(thread->d_name);
	closedir(threads);
	return switches;
}

/* How often the agent has given up its core by itself: each time something woke it. */
static long agent_wakeups(void)
{
	const double until = deadline();
	long wakeups;

	while ((wakeups = switches_of_agent()) < 0)
		wait_a_little(until, "the agent");
	return wakeups;
}

/*
 * The agent looks now and then whether the thread still polls, and steps in where that was kept
 * from its core: some times in a millisecond, however many writes there are.
 */
TWO_PROCESSES_TEST(test_polled_answers_do_not_wake_the_agent)
{
	bool few = false;

	for (unsigned round = 0; round < ROUNDS && !few; round++) {
		const long begun_ms = monotonic_ms(), before = agent_wakeups();

		write_spinning(WRITES);
		few = agent_wakeups() - before < WRITES / 5 + 6 * (monotonic_ms() - begun_ms);
	}
	assert_true(few);
}

TWO_PROCESSES_TEST(test_event_comes_right_after_polling)
{
	for (unsigned i = 0; i < 50; i++) {
		struct ibv_cq *cq;
		void *context;

		write_spinning(20);
		OK(ibv_req_notify_cq(w.near.cq, 0));
		post(work(IBV_WR_RDMA_WRITE, 0, 4096, 0));
		wait_readable(w.near.channel->fd, "a completion event");
		OK(ibv_get_cq_event(w.near.channel, &cq, &context));
		ibv_ack_cq_events(cq, 1);
		spin_for_wc(1);
	}
}

/* A write that follows a read leaves when the read's answer has come, which no thread polls for. */
TWO_PROCESSES_TEST(test_fenced_write_leaves_when_polling_has_ended)
{
	volatile const unsigned char *last = w.far_memory + 4095;

	for (unsigned char i = 1; i <= 20; i++) {
		const double until = deadline();
		struct ibv_send_wr *write;

		write_spinning(20);
		post(work(IBV_WR_RDMA_READ, 8192, 4096, 0));
		memset(w.near.memory, i, 4096);
		write = work(IBV_WR_RDMA_WRITE, 0, 4096, 0);
		write->send_flags |= IBV_SEND_FENCE;
		write->wr_id = 2;
		post(write);
		while (*last != i)
			wait_a_little(until, "the fenced write");
		spin_for_wc(1);
		spin_for_wc(2);
	}
}

TWO_PROCESSES_TEST(test_death_of_the_peer_is_told_right_after_polling)
{
	write_spinning(20);
	far_die();
	post(work(IBV_WR_RDMA_WRITE, 0, 4096, 0));
	/* RETRY_EXC_ERR, or it was known before the post */
	assert_int_not_equal(next_wc(w.near.cq).status, IBV_WC_SUCCESS);
}

static void *poll_for_ever(void *unused)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(w.near.cq, 1, &wc) == 0)
		pthread_testcancel();
	return unused;
}

/* Polling is no cancellation point: a thread that ends so holds nothing that others need. */
TWO_PROCESSES_TEST(test_thread_that_polls_can_be_cancelled)
{
	for (unsigned i = 0; i < 50; i++) {
		pthread_t thread;
		void *result;

		post(work(IBV_WR_RDMA_WRITE, 0, 4096, 0));
		OK(pthread_create(&thread, NULL, poll_for_ever, NULL));
		OK(pthread_cancel(thread));
		OK(pthread_join(thread, &result));
		if (result == PTHREAD_CANCELED)
			spin_for_wc(1);
	}
}
