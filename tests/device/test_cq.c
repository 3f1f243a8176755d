/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cq.c -- completion queues, their channels and their events. */
#include "pair.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* The next event of the channel is that of the near CQ; it is acknowledged. */
static void expect_event(void)
{
	struct ibv_cq *cq = NULL;
	void *cq_context = NULL;

	wait_readable(w.near.channel->fd, "a completion event");
	OK(ibv_get_cq_event(w.near.channel, &cq, &cq_context));
	assert_ptr_equal(cq, w.near.cq);
	assert_ptr_equal(cq_context, &w.near);
	ibv_ack_cq_events(cq, 1);
}

static void expect_no_event(void)
{
	struct ibv_cq *cq = NULL;
	void *cq_context = NULL;

	assert_false(is_readable(w.near.channel->fd));
	make_nonblocking(w.near.channel->fd);
	FAILS(EAGAIN, ibv_get_cq_event(w.near.channel, &cq, &cq_context));
}

static void write_once(void)
{
	post(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
}

TEST(create__gives_as_many_entries_or_more)
{
	struct ibv_device_attr attr;
	struct ibv_context *context = open_device();

	OK(ibv_query_device(context, &attr));
	for (int cqe = 1; cqe < attr.max_cqe; cqe = cqe * 5 + 1) {
		struct ibv_cq *cq = ibv_create_cq(context, cqe, &cqe, NULL, 0);

		assert_non_null(cq);
		assert_true(cq->cqe >= cqe);
		assert_null(cq->channel);
		assert_ptr_equal(cq->cq_context, &cqe);
		assert_ptr_equal(cq->context, context);
		expect_no_wc(cq);
		OK(ibv_destroy_cq(cq));
	}
	OK(ibv_close_device(context));
}

TEST(create__refuses_what_the_device_has_not)
{
	struct ibv_context *context = open_device();
	struct ibv_device_attr attr;

	OK(ibv_query_device(context, &attr));
	NONE(EINVAL, ibv_create_cq(context, 0, NULL, NULL, 0));
	NONE(EINVAL, ibv_create_cq(context, attr.max_cqe + 1, NULL, NULL, 0));
	NONE(EINVAL, ibv_create_cq(context, 1, NULL, NULL, context->num_comp_vectors));
	NONE(EINVAL, ibv_create_cq(context, 1, NULL, NULL, -1));
	OK(ibv_close_device(context));
}

PAIR_TEST(resize__keeps_the_completions)
{
	for (uint64_t id = 1; id <= 4; id++) {
		struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

		wr->wr_id = id;
		post(wr);
	}
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	int result = ibv_resize_cq(w.near.cq, 200);
	SKIP_UNLESS(result != EOPNOTSUPP && result != ENOSYS, "the device resizes no CQ");
	OK(result);
	assert_true(w.near.cq->cqe >= 200);
	for (uint64_t id = 2; id <= 4; id++)
		EXPECT_WC(w.near.cq, id, IBV_WC_SUCCESS);
}

PAIR_TEST(poll__gives_no_more_than_asked)
{
	struct ibv_wc wcs[8];
	double until = deadline();
	int count = 0;

	for (uint64_t id = 1; id <= 6; id++) {
		struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

		wr->wr_id = id;
		post(wr);
	}
	assert_int_equal(ibv_poll_cq(w.near.cq, 0, wcs), 0);
	while (count < 6) {
		int got = ibv_poll_cq(w.near.cq, 4, wcs);

		assert_in_range(got, 0, 4);
		for (int i = 0; i < got; i++)
			assert_int_equal(wcs[i].wr_id, ++count);
		wait_a_little(until, "six completions");
	}
	assert_int_equal(ibv_poll_cq(w.near.cq, 8, wcs), 0);
}

PAIR_TEST(armed__cq_gives_one_event)
{
	OK(ibv_req_notify_cq(w.near.cq, 0));
	expect_no_event();
	write_once();
	expect_event();
	write_once();
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	expect_no_event();
}

PAIR_TEST(armed__twice_gives_one_event)
{
	OK(ibv_req_notify_cq(w.near.cq, 0));
	OK(ibv_req_notify_cq(w.near.cq, 0));
	write_once();
	expect_event();
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	expect_no_event();
}

/* IBA 11.4.2.2: the event is for what comes after the request for it. */
PAIR_TEST(armed__late_tells_nothing_of_what_is_there)
{
	write_once();
	struct ibv_wc wc = next_wc(w.near.cq); /* the first has come, and the second will: */
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	expect_no_wc(w.near.cq);
	OK(ibv_req_notify_cq(w.near.cq, 0));
	expect_no_event();
	write_once();
	expect_event();
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
}

PAIR_TEST(armed__again_in_the_event_gives_the_next)
{
	for (int i = 0; i < 20; i++) {
		OK(ibv_req_notify_cq(w.near.cq, 0));
		write_once();
		expect_event();
		EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	}
}

PAIR_TEST(solicited__arm_waits_for_a_solicited_message)
{
	recv_near(1, 0, 64);
	recv_near(2, 0, 64);
	OK(ibv_req_notify_cq(w.near.cq, 1));
	far_send(1, 0, 64);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	far_expect(1, IBV_WC_SUCCESS);
	expect_no_event();
	far_send_solicited(2, 0, 64);
	expect_event();
	EXPECT_WC(w.near.cq, 2, IBV_WC_SUCCESS);
}

PAIR_TEST(solicited__arm_takes_an_error_for_one)
{
	recv_near(1, 0, 64);
	OK(ibv_req_notify_cq(w.near.cq, 1));
	end_to_error(&w.near);
	if (!on_rxe()) /* rxe asks the message alone; IBA 11.4.2.2 names errors, too */
		expect_event();
	EXPECT_WC(w.near.cq, 1, IBV_WC_WR_FLUSH_ERR);
}

PAIR_TEST(solicited__message_serves_an_arm_for_any)
{
	recv_near(1, 0, 64);
	OK(ibv_req_notify_cq(w.near.cq, 0));
	far_send_solicited(1, 0, 64);
	expect_event();
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
}

/* The event was for a completion that is there no more: it is given still. */
PAIR_TEST(event__stays_when_the_completion_is_polled)
{
	OK(ibv_req_notify_cq(w.near.cq, 0));
	done(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
	expect_event();
	expect_no_wc(w.near.cq);
}

PAIR_TEST(channel__serves_two_queues)
{
	int name = 0;
	struct ibv_cq *other = ibv_create_cq(w.near.context, 4, &name, w.near.channel, 0);

	assert_non_null(other);
	OK(ibv_req_notify_cq(other, 0));
	OK(ibv_req_notify_cq(w.near.cq, 0));
	write_once();
	expect_event();
	expect_no_event();
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	OK(ibv_destroy_cq(other));
}

PAIR_TEST(channel__is_busy_while_a_queue_uses_it)
{
	FAILS(EBUSY, ibv_destroy_comp_channel(w.near.channel));
}

PAIR_TEST(destroy__is_busy_while_a_qp_uses_it)
{
	FAILS(EBUSY, ibv_destroy_cq(w.near.cq));
}

struct waiter {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	int result;
};

static void *wait_for_event(void *argument)
{
	struct waiter *waiter = argument;
	void *cq_context = NULL;

	waiter->result = ibv_get_cq_event(waiter->channel, &waiter->cq, &cq_context);
	return NULL;
}

PAIR_TEST(get_cq_event__blocks_until_there_is_one)
{
	struct waiter waiter = {.channel = w.near.channel, .result = -2};
	pthread_t thread;

	OK(ibv_req_notify_cq(w.near.cq, 0));
	OK(pthread_create(&thread, NULL, wait_for_event, &waiter));
	write_once();
	OK(pthread_join(thread, NULL));
	assert_int_equal(waiter.result, 0);
	assert_ptr_equal(waiter.cq, w.near.cq);
	ibv_ack_cq_events(w.near.cq, 1);
}

static void *destroy_cq(void *argument)
{
	struct waiter *waiter = argument;

	waiter->result = ibv_destroy_cq(waiter->cq);
	return NULL;
}

/* ibv_get_cq_event(3): "destroy waits for all events to be acknowledged". */
PAIR_TEST(destroy__waits_for_the_ack)
{
	struct waiter waiter = {.result = -2};
	struct ibv_cq *cq = NULL;
	void *cq_context = NULL;
	pthread_t thread;

	OK(ibv_req_notify_cq(w.near.cq, 0));
	write_once();
	wait_readable(w.near.channel->fd, "a completion event");
	OK(ibv_get_cq_event(w.near.channel, &cq, &cq_context));
	OK(ibv_destroy_qp(w.near.qp));
	w.near.qp = NULL;
	waiter.cq = w.near.cq;
	OK(pthread_create(&thread, NULL, destroy_cq, &waiter));
	ibv_ack_cq_events(cq, 1);
	OK(pthread_join(thread, NULL));
	w.near.cq = NULL;
	assert_int_equal(waiter.result, 0);
}

/* More completions than there is room for: the CQ is lost, with an event. */
OWN_PAIR_TEST(overflow__is_an_asynchronous_event)
{
	struct end_options near = end_defaults(), far = end_defaults();

	near.cqe = 1;
	near.cap.max_send_wr = 512;
	pair_make(&near, &far);
	for (int i = 0; i <= w.near.cq->cqe && i < 512; i++)
		write_once();
	struct ibv_async_event event = expect_async(w.near.context, IBV_EVENT_CQ_ERR);
	assert_ptr_equal(event.element.cq, w.near.cq);
}

static void moderate(uint16_t completions, uint16_t period_us)
{
	struct ibv_modify_cq_attr attr = {IBV_CQ_ATTR_MODERATE, {completions, period_us}};
	int result = ibv_modify_cq(w.near.cq, &attr);

	SKIP_UNLESS(result != EOPNOTSUPP && result != ENOSYS, "the device moderates no CQ");
	OK(result);
}

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ibv_modify_cq(3): "number of completions per event". */
PAIR_TEST(moderated__cq_gives_an_event_for_so_many)
{
	bool was_quick = false; /* else the period may have ended, and nothing is shown */

	moderate(4, UINT16_MAX);
	for (int tries = 0; tries < 100 && !was_quick; tries++) {
		const int64_t begin_us = now_us();

		OK(ibv_req_notify_cq(w.near.cq, 0));
		for (int i = 0; i < 3; i++)
			done(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
		bool is_early = is_readable(w.near.channel->fd);

		was_quick = now_us() - begin_us < UINT16_MAX;
		assert_false(was_quick && is_early);
		done(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
		expect_event();
	}
	SKIP_UNLESS(was_quick, "four writes take longer than any period here");
	expect_no_event();
}

/* ... and "in micro seconds": then fewer will do. */
PAIR_TEST(moderated__cq_gives_an_event_after_the_period)
{
	moderate(1000, 2000);
	for (int i = 0; i < 5; i++) {
		OK(ibv_req_notify_cq(w.near.cq, 0));
		done(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
		expect_event();
	}
	expect_no_event();
}

PAIR_TEST(moderated__cq_gives_events_for_receives_too)
{
	moderate(1000, 2000);
	recv_near(1, 0, 64);
	OK(ibv_req_notify_cq(w.near.cq, 0));
	far_send(1, 0, 64);
	expect_event();
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	far_expect(1, IBV_WC_SUCCESS);
}

PAIR_TEST(moderation__ends_with_0)
{
	bool was_quick = false; /* before the period that does not count any more */

	moderate(1000, UINT16_MAX);
	moderate(0, 0);
	for (int tries = 0; tries < 100 && !was_quick; tries++) {
		const int64_t begin_us = now_us();

		OK(ibv_req_notify_cq(w.near.cq, 0));
		done(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
		expect_event();
		was_quick = now_us() - begin_us < UINT16_MAX;
	}
	assert_true(was_quick);
}

PAIR_TEST(moderated__cq_can_be_destroyed_while_it_waits)
{
	moderate(1000, UINT16_MAX);
	OK(ibv_req_notify_cq(w.near.cq, 0));
	done(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
}

PAIR_TEST(modify__refuses_an_unknown_attribute)
{
	struct ibv_modify_cq_attr attr = {1u << 30, {0, 0}};
	int result = ibv_modify_cq(w.near.cq, &attr);

	SKIP_UNLESS(result != EOPNOTSUPP && result != ENOSYS, "the device moderates no CQ");
	FAILS(EINVAL, result);
}
