/* SPDX-License-Identifier: BSD-3-Clause */
/* test_wait.c -- waits with an end. */
#include "every_call_fails.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "common/base/monotonic.h"

#define FOREVER (-1)

static int wakes;

static void queue_wc(uint64_t wr_id)
{
	provider_queue_wc(provider.cqs[0], &(struct ibv_wc){.wr_id = wr_id});
}

/* --- rpma_cq_arm() --------------------------------------------------------------------- */

TEST(arm__asks_for_the_next, setup_conn, teardown)
{
	unsigned armed = calls_count("ibv_req_notify_cq");

	expect(0, rpma_cq_arm(w.cq, true));
	assert_int_equal(provider.req_notify_cq.solicited_only, 1);
	expect(0, rpma_cq_arm(w.cq, false));
	EQUAL((provider.req_notify_cq.solicited_only, 0),
	      (calls_count("ibv_req_notify_cq"), armed + 2));
	expect(RPMA_E_INVAL, rpma_cq_arm(NULL, false));
	calls_fail_on("ibv_req_notify_cq", EIO);
	expect(RPMA_E_PROVIDER, rpma_cq_arm(w.cq, false));
}

/* A thread that is about to sleep arms the queue for the same completions. */
TEST(arm__lasts, setup_conn, teardown)
{
	struct rpma_wait_item item = {.cq = w.cq};
	struct ibv_wc wc;

	for (int solicited_only = 1; solicited_only >= 0; solicited_only--) {
		expect(0, rpma_cq_arm(w.cq, solicited_only));
		provider.req_notify_cq.solicited_only = 77;
		expect(RPMA_E_TIMEOUT, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 0));
		assert_int_equal(provider.req_notify_cq.solicited_only, solicited_only);
		provider.req_notify_cq.solicited_only = 77;
		provider_queue_cq_event(provider.cqs[0]);
		expect(0, rpma_wait(&item, 1, FOREVER, NULL));
		assert_int_equal(provider.req_notify_cq.solicited_only, solicited_only);
		provider.req_notify_cq.solicited_only = 77;
		provider_queue_cq_event(provider.cqs[0]);
		expect(0, rpma_cq_wait(w.cq));
		assert_int_equal(provider.req_notify_cq.solicited_only, solicited_only);
	}
}

TEST(arm__lasts_on_a_shared_channel, setup_shared_conn, teardown)
{
	struct rpma_cq *cq = NULL;

	expect(0, rpma_cq_arm(w.cq, true));
	provider.req_notify_cq.solicited_only = 77;
	provider_queue_cq_event(provider.cqs[0]);
	expect(0, rpma_conn_wait(w.conn, 0, &cq, NULL));
	assert_int_equal(provider.req_notify_cq.solicited_only, 1);
}

/* --- rpma_cq_await_wc() ------------------------------------------------------------------ */

TEST(await__takes_what_is_there, setup_conn, teardown)
{
	unsigned armed = calls_count("ibv_req_notify_cq");
	struct ibv_wc wc[4];
	int got = 0;

	for (uint64_t i = 0; i < 3; i++)
		queue_wc(i);
	expect(0, rpma_cq_await_wc(w.cq, 4, wc, &got, 0, FOREVER));
	EQUAL((got, 3), (wc[2].wr_id, 2));
	assert_int_equal(calls_count("ibv_req_notify_cq"), armed); /* no thread sleeps */
}

TEST(await__ends, setup_conn, teardown)
{
	const int64_t begin = monotonic_ms();
	struct ibv_wc wc;

	expect(RPMA_E_TIMEOUT, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 0));
	expect(RPMA_E_TIMEOUT, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 1000, 0));
	expect(RPMA_E_TIMEOUT, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 1, 20));
	assert_true(monotonic_ms() - begin >= 20);
}

/* An event may be for a completion that was fetched before. */
TEST(await__sleeps_again_after_an_empty_event, setup_conn, teardown)
{
	struct ibv_wc wc;

	provider_queue_cq_event(provider.cqs[0]);
	provider_queue_cq_event(provider.cqs[0]);
	expect(RPMA_E_TIMEOUT, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 50));
	assert_int_equal(calls_count("ibv_get_cq_event"), 2);
}

static int arm_and_raise(struct ibv_cq *cq, int solicited_only)
{
	(void)solicited_only;
	provider_queue_cq_event(cq);
	return ++wakes > 9 ? EIO : 0;
}

/* Though there is an event each time: of completions that are not the program's. */
TEST(await__ends_however_many_events_come, setup_conn, teardown)
{
	struct ibv_wc wc;

	wakes = 0;
	provider.context->ops.req_notify_cq = arm_and_raise;
	expect(RPMA_E_TIMEOUT, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 0));
}

static volatile sig_atomic_t signals;

static void complete_in_handler(int number)
{
	if (++signals == 2) /* the first one only interrupts */
		queue_wc(9);
}

/* Signals interrupt its sleep, and it goes on. */
TEST(await__survives_signals, setup_conn, teardown)
{
	const struct itimerspec ticks = {{0, 5000000}, {0, 5000000}};
	struct sigaction action = {.sa_handler = complete_in_handler};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct ibv_wc wc = {.wr_id = 0};
	timer_t timer;
	int ret;

	signals = 0;
	EQUAL((sigaction(SIGALRM, &action, NULL), 0),
	      (timer_create(CLOCK_MONOTONIC, &event, &timer), 0),
	      (timer_settime(timer, 0, &ticks, NULL), 0));
	/* no event comes with the completion: it sleeps until its time is over */
	do {
		ret = rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 30);
	} while (ret == RPMA_E_TIMEOUT && signals < 2);
	timer_delete(timer);
	if (ret == RPMA_E_TIMEOUT)
		ret = rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 30);
	expect_named(0, "rpma_cq_await_wc", ret);
	assert_int_equal(wc.wr_id, 9);
}

TEST(await__refuses_what_it_cannot_do, setup_shared_conn, teardown)
{
	struct ibv_wc wc[2];

	expect(RPMA_E_INVAL, rpma_cq_await_wc(NULL, 1, wc, NULL, 0, 0));
	expect(RPMA_E_INVAL, rpma_cq_await_wc(w.cq, 0, wc, NULL, 0, 0));
	expect(RPMA_E_INVAL, rpma_cq_await_wc(w.cq, 1, NULL, NULL, 0, 0));
	expect(RPMA_E_INVAL, rpma_cq_await_wc(w.cq, 2, wc, NULL, 0, 0));
	expect(RPMA_E_SHARED_CHANNEL, rpma_cq_await_wc(w.cq, 1, wc, NULL, 0, 0));
	queue_wc(1);
	expect(0, rpma_cq_await_wc(w.cq, 1, wc, NULL, 0, 0)); /* no need to sleep */
}

TEST(await__tells_failures, setup_conn, teardown)
{
	struct ibv_wc wc;

	calls_fail_on("ibv_poll_cq", EIO);
	expect(RPMA_E_PROVIDER, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 0));
	provider.poll_cq_answer = 2;
	expect(RPMA_E_UNKNOWN, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 0));
	provider.poll_cq_answer = 0;
	calls_fail_on("ibv_req_notify_cq", EIO);
	expect(RPMA_E_PROVIDER, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 0));
	provider_queue_cq_event(provider.cqs[0]);
	calls_fail_on("ibv_get_cq_event", EIO);
	expect(RPMA_E_PROVIDER, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, FOREVER));
}

/* --- rpma_wait() --------------------------------------------------------------------------- */

SETUP(setup_all, setup_accepted, provider.num_cqs = 1)

TEST(wait__tells_which_are_ready, setup_all, teardown)
{
	struct rpma_wait_item items[] = {
		{.cq = w.cq, .ready = true}, {.conn = w.conn}, {.ep = w.ep}};
	unsigned armed = calls_count("ibv_req_notify_cq");
	size_t ready = 77;

	expect(RPMA_E_TIMEOUT, rpma_wait(items, 3, 0, &ready));
	EQUAL((items[0].ready, false), (ready, 77));
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	expect(0, rpma_wait(items, 3, FOREVER, &ready));
	assert_int_equal(ready, 1);
	assert_true(items[1].ready && !items[0].ready && !items[2].ready);
	provider_queue_connect_request(NULL, 0);
	provider_queue_cq_event(provider.cqs[0]);
	expect(0, rpma_wait(items, 3, FOREVER, NULL));
	assert_true(items[0].ready && items[1].ready && items[2].ready);
	/* the event of the queue was taken, those of the others are for the calls that fetch */
	assert_int_equal(calls_count("ibv_req_notify_cq"), armed + 1);
	expect(0, rpma_wait(items, 3, FOREVER, &ready));
	EQUAL((ready, 2), (items[0].ready, false));
	enum rpma_conn_event event;
	expect(0, rpma_conn_next_event(w.conn, &event));
	struct rpma_conn_req *req = NULL;
	provider.num_cqs = 0;
	expect(0, rpma_ep_next_conn_req(w.ep, NULL, &req));
	expect(0, rpma_conn_req_delete(&req));
}

/* An event is there once, so it is taken once. */
TEST(wait__takes_the_same_queue_twice, setup_conn, teardown)
{
	struct rpma_wait_item items[] = {{.cq = w.cq}, {.cq = w.cq}};
	size_t ready = 0;

	provider_queue_cq_event(provider.cqs[0]);
	expect(0, rpma_wait(items, 2, FOREVER, &ready));
	assert_int_equal(ready, 2);
	expect(RPMA_E_TIMEOUT, rpma_wait(items, 2, 0, &ready));
}

TEST(wait__waits_for_descriptors_of_the_program, setup_conn, teardown)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	struct pollfd reading = {.fd = ends[0], .events = POLLIN};
	struct pollfd writing = {.fd = ends[1], .events = POLLIN | POLLOUT};
	struct rpma_wait_item items[] = {
		{.pollfd = &reading, .context = UNTOUCHED}, {.cq = w.cq}, {.pollfd = &writing}};
	size_t ready = 0;

	expect(0, rpma_wait(items, 3, FOREVER, &ready));
	assert_int_equal(ready, 1);
	assert_true(items[2].ready && writing.revents == POLLOUT && reading.revents == 0);
	assert_ptr_equal(items[0].context, UNTOUCHED);
	assert_int_equal(write(ends[1], "x", 1), 1);
	expect(0, rpma_wait(items, 2, FOREVER, &ready));
	assert_true(items[0].ready && reading.revents == POLLIN);
	close(ends[0]);
	close(ends[1]);
}

TEST(wait__refuses_bad_arguments, setup_conn, teardown)
{
	static struct rpma_wait_item many[RPMA_WAIT_ITEMS_MAX + 1];
	struct rpma_wait_item none = {.ready = false}, two = {.cq = w.cq, .conn = w.conn};

	expect(RPMA_E_INVAL, rpma_wait(NULL, 1, 0, NULL));
	expect(RPMA_E_INVAL, rpma_wait(&two, 0, 0, NULL));
	expect(RPMA_E_INVAL, rpma_wait(many, RPMA_WAIT_ITEMS_MAX + 1, 0, NULL));
	expect(RPMA_E_INVAL, rpma_wait(&none, 1, 0, NULL));
	expect(RPMA_E_INVAL, rpma_wait(&two, 1, 0, NULL));
}

TEST(wait__refuses_a_shared_channel, setup_shared_conn, teardown)
{
	struct rpma_wait_item item = {.cq = w.cq};

	expect(RPMA_E_SHARED_CHANNEL, rpma_wait(&item, 1, 0, NULL));
}

TEST(wait__tells_failures, setup_conn, teardown)
{
	struct rpma_wait_item item = {.cq = w.cq};

	provider_queue_cq_event(provider.cqs[0]);
	calls_fail_on("ibv_get_cq_event", EIO);
	expect(RPMA_E_PROVIDER, rpma_wait(&item, 1, FOREVER, NULL));
	calls_fail_on("ibv_req_notify_cq", EIO);
	expect(RPMA_E_PROVIDER, rpma_wait(&item, 1, FOREVER, NULL));
	assert_false(item.ready);
}
