/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cq_ex.c -- extended completion queues: ibv_create_cq_ex(3). The near end of a pair has
 * one, which ibv_start_poll() and its kin look at.
 */
#include "pair.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <time.h>

#define STAMPS (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static struct ibv_cq_ex *cq;

/* A pair whose near CQ is an extended one. */
static void make(const struct ibv_cq_init_attr_ex *attr)
{
	struct end_options near = end_defaults(), far = end_defaults();

	near.cq_ex = attr;
	pair_make(&near, &far);
	cq = (struct ibv_cq_ex *)w.near.cq;
}

static int setup_ex(void **unused)
{
	static const struct ibv_cq_init_attr_ex attr = {.cqe = 64,
							.wc_flags = IBV_WC_STANDARD_FLAGS};

	make(&attr);
	return 0;
}

/* Can the device tell these `wc_flags`? */
static bool has(uint64_t wc_flags)
{
	struct ibv_context *context = open_device();
	struct ibv_cq_init_attr_ex attr = {.cqe = 1, .wc_flags = wc_flags};
	struct ibv_cq_ex *made = ibv_create_cq_ex(context, &attr);

	if (made == NULL)
		assert_int_equal(errno, EOPNOTSUPP);
	else
		OK(ibv_destroy_cq(ibv_cq_ex_to_cq(made)));
	OK(ibv_close_device(context));
	return made != NULL;
}

/* Begin a batch at the next completion, waited for. */
static void start(void)
{
	struct ibv_poll_cq_attr attr = {0};
	double until = deadline();
	int result;

	while ((result = ibv_start_poll(cq, &attr)) == ENOENT)
		wait_a_little(until, "a completion");
	OK(result);
}

static void next(void)
{
	double until = deadline();
	int result;

	while ((result = ibv_next_poll(cq)) == ENOENT)
		wait_a_little(until, "the next completion");
	OK(result);
}

static void write_with_id(uint64_t id)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

	wr->wr_id = id;
	post(wr);
}

TEST(poll__without_completions_says_so, setup_ex, teardown_pair)
{
	struct ibv_poll_cq_attr attr = {0};

	EQUAL((ibv_start_poll(cq, &attr), ENOENT), (ibv_start_poll(cq, &attr), ENOENT));
}

TEST(poll__refuses_an_unknown_attribute, setup_ex, teardown_pair)
{
	struct ibv_poll_cq_attr attr = {.comp_mask = 1};

	NOT_ON_RXE("it does not look at them");
	FAILS(EINVAL, ibv_start_poll(cq, &attr));
}

TEST(poll__tells_of_a_send, setup_ex, teardown_pair)
{
	write_with_id(77);
	start();
	EQUAL((cq->wr_id, 77), (cq->status, IBV_WC_SUCCESS),
	      (ibv_wc_read_opcode(cq), IBV_WC_RDMA_WRITE),
	      (ibv_wc_read_qp_num(cq), w.near.qp->qp_num),
	      (ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM, 0));
	ibv_end_poll(cq);
}

TEST(poll__tells_of_a_receive, setup_ex, teardown_pair)
{
	recv_near(5, 0, 100);
	far_send(6, 0, 80);
	start();
	EQUAL((cq->wr_id, 5), (cq->status, IBV_WC_SUCCESS), (ibv_wc_read_opcode(cq), IBV_WC_RECV),
	      (ibv_wc_read_byte_len(cq), 80), (ibv_wc_read_qp_num(cq), w.near.qp->qp_num));
	ibv_end_poll(cq);
	far_expect(6, IBV_WC_SUCCESS);
}

TEST(poll__tells_immediate_data, setup_ex, teardown_pair)
{
	struct ibv_send_wr *wr = work(IBV_WR_SEND_WITH_IMM, 0, 8, 0), *bad = NULL;
	struct ibv_qp *first = w.near.qp, *second;

	/* two more queue pairs of the near end */
	w.near.qp = end_make_qp(&w.near);
	assert_non_null(w.near.qp);
	end_to_init(&w.near);
	second = end_to_another(&w.near);
	recv_near(3, 1000, 100);
	wr->imm_data = htonl(0xc0ffee);
	wr->send_flags = 0;
	OK(ibv_post_send(second, wr, &bad));
	start();
	assert_int_equal(cq->wr_id, 3);
	assert_int_not_equal(ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM, 0);
	assert_int_equal(ntohl(ibv_wc_read_imm_data(cq)), 0xc0ffee);
	ibv_end_poll(cq);
	OK(ibv_destroy_qp(second));
	OK(ibv_destroy_qp(w.near.qp));
	w.near.qp = first;
}

TEST(poll__goes_through_a_batch_in_order, setup_ex, teardown_pair)
{
	int last;

	for (uint64_t id = 1; id <= 8; id++)
		write_with_id(id);
	start();
	for (uint64_t id = 1; id <= 8; id++) {
		EQUAL((cq->wr_id, id), (cq->status, IBV_WC_SUCCESS));
		if (id < 8)
			next();
	}
	last = ibv_next_poll(cq);
	ibv_end_poll(cq);
	assert_int_equal(last, ENOENT);
	if (!on_rxe()) /* where the last one is found once more */
		poll__without_completions_says_so(NULL);
}

TEST(poll__of_a_batch_leaves_the_rest, setup_ex, teardown_pair)
{
	write_with_id(1);
	write_with_id(2);
	start();
	ibv_end_poll(cq);
	start();
	assert_int_equal(cq->wr_id, 2);
	ibv_end_poll(cq);
}

/* The slots of the send queue come back as with ibv_poll_cq(). */
TEST(poll__makes_room_in_the_send_queue, setup_ex, teardown_pair)
{
	for (uint64_t id = 1; id <= 100; id++) {
		write_with_id(id);
		start();
		assert_int_equal(cq->wr_id, id);
		ibv_end_poll(cq);
	}
}

TEST(poll__tells_a_failure, setup_ex, teardown_pair)
{
	struct ibv_send_wr *wr = work(IBV_WR_RDMA_WRITE, 0, 64, 0);

	wr->wr.rdma.rkey ^= 0xff00;
	wr->wr_id = 9;
	post(wr);
	start();
	EQUAL((cq->wr_id, 9), (cq->status, IBV_WC_REM_ACCESS_ERR),
	      (ibv_wc_read_qp_num(cq), w.near.qp->qp_num));
	(void)ibv_wc_read_vendor_err(cq);
	ibv_end_poll(cq);
}

TEST(plain_poll__takes_from_the_same_queue, setup_ex, teardown_pair)
{
	write_with_id(1);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	write_with_id(2);
	start();
	assert_int_equal(cq->wr_id, 2);
	ibv_end_poll(cq);
}

static _Atomic unsigned taken;

/* Polls until so many completions were taken, by whichever thread. */
static uint64_t take_until(unsigned total)
{
	struct ibv_poll_cq_attr attr = {0};
	double until = deadline();
	uint64_t sum = 0;

	while (taken < total) {
		if (ibv_start_poll(cq, &attr) == 0) {
			sum += cq->wr_id;
			taken++;
			ibv_end_poll(cq);
		} else {
			wait_a_little(until, "a completion");
		}
	}
	return sum;
}

static void *poll_many(void *sum)
{
	*(uint64_t *)sum = take_until(400);
	return NULL;
}

/* By default all objects are safe for several threads: ibv_alloc_td(3). */
TEST(poll__by_two_threads_gives_each_completion_once, setup_ex, teardown_pair)
{
	uint64_t ours = 0, theirs = 0;
	pthread_t thread;

	taken = 0;
	OK(pthread_create(&thread, NULL, poll_many, &theirs));
	for (unsigned id = 1; id <= 400; id++) {
		write_with_id(id);
		if (id % 8 == 0)
			ours += take_until(id);
	}
	OK(pthread_join(thread, NULL));
	assert_int_equal(ours + theirs, 400 * 401 / 2);
}

TEST(event__comes_from_an_extended_queue, setup_ex, teardown_pair)
{
	struct ibv_cq *told = NULL;
	void *context = NULL;

	OK(ibv_req_notify_cq(ibv_cq_ex_to_cq(cq), 0));
	write_with_id(1);
	wait_readable(w.near.channel->fd, "a completion event");
	OK(ibv_get_cq_event(w.near.channel, &told, &context));
	assert_ptr_equal(told, ibv_cq_ex_to_cq(cq));
	ibv_ack_cq_events(told, 1);
	start();
	ibv_end_poll(cq);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t ticks_of_device(void)
{
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};

	OK(ibv_query_rt_values_ex(w.near.context, &values));
	assert_int_equal(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	return (uint64_t)values.raw_clock.tv_sec * 1000000000u + (uint64_t)values.raw_clock.tv_nsec;
}

OWN_PAIR_TEST(stamps__lie_between_readings_of_the_clock)
{
	const struct ibv_cq_init_attr_ex attr = {.cqe = 64, .wc_flags = STAMPS};
	uint64_t before, middle, after, wall_before, first, second, wall;

	SKIP_UNLESS(has(STAMPS), "the device has no stamps of completions");
	make(&attr);
	before = ticks_of_device();
	wall_before = clock_ns(CLOCK_REALTIME);
	write_with_id(1);
	start();
	middle = ticks_of_device();
	first = ibv_wc_read_completion_ts(cq);
	wall = ibv_wc_read_completion_wallclock_ns(cq);
	ibv_end_poll(cq);
	write_with_id(2);
	start();
	second = ibv_wc_read_completion_ts(cq);
	ibv_end_poll(cq);
	after = ticks_of_device();
	assert_true(before <= first && first <= middle && middle <= second && second <= after);
	/* the two clocks are read one after the other, so one is off by what is between */
	assert_true(wall + 1000000 >= wall_before && wall <= clock_ns(CLOCK_REALTIME) + 1000000);
}

/* A receive has the time when the message came, not when it was polled. */
OWN_PAIR_TEST(stamps__are_of_when_the_message_came)
{
	const struct ibv_cq_init_attr_ex attr = {.cqe = 64, .wc_flags = STAMPS};
	uint64_t came;

	SKIP_UNLESS(has(STAMPS), "the device has no stamps of completions");
	make(&attr);
	recv_near(5, 0, 100);
	far_send(6, 0, 80);
	far_expect(6, IBV_WC_SUCCESS); /* it is there, as the far end is told */
	came = ticks_of_device();
	start();
	assert_int_equal(cq->wr_id, 5);
	assert_true(ibv_wc_read_completion_ts(cq) <= came);
	ibv_end_poll(cq);
}

TEST(device__tells_the_clock_of_its_stamps)
{
	struct ibv_context *context = open_device();
	struct ibv_device_attr_ex attr = {0};

	OK(ibv_query_device_ex(context, NULL, &attr));
	/* "0 if not supported": ibv_query_device_ex(3) */
	if (has(STAMPS)) {
		assert_int_not_equal(attr.completion_timestamp_mask, 0);
		assert_int_not_equal(attr.hca_core_clock, 0);
	}
	OK(ibv_close_device(context));
}

OWN_PAIR_TEST(create__takes_one_thread)
{
	const struct ibv_cq_init_attr_ex attr = {.cqe = 64,
						 .wc_flags = IBV_WC_STANDARD_FLAGS,
						 .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
						 .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED};

	NOT_ON_RXE("its CQs have no flags");
	make(&attr);
	write_with_id(1);
	start();
	ibv_end_poll(cq);
}

/* "This CQ will not pass to error state if overrun": ibv_create_cq_ex(3). */
OWN_PAIR_TEST(overrun__is_no_error_where_it_is_to_be_ignored)
{
	const struct ibv_cq_init_attr_ex attr = {.cqe = 4,
						 .wc_flags = IBV_WC_STANDARD_FLAGS,
						 .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
						 .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN};

	NOT_ON_RXE("its CQs have no flags");
	make(&attr);
	for (uint64_t id = 1; id <= 12; id++)
		write_with_id(id);
	for (uint64_t id = 1; id <= 4; id++) {
		start();
		ibv_end_poll(cq);
	}
	expect_no_async(w.near.context);
	assert_int_equal(end_state(&w.near), IBV_QPS_RTS);
	write_with_id(13); /* it goes on */
	start();
	ibv_end_poll(cq);
}

TEST(create__refuses_what_the_device_has_not)
{
	struct ibv_context *context = open_device();
	struct ibv_cq_init_attr_ex attr = {.cqe = 1};
	struct ibv_device_attr device;

	OK(ibv_query_device(context, &device));
	attr.cqe = (uint32_t)device.max_cqe + 1;
	NONE(EINVAL, ibv_create_cq_ex(context, &attr));
	attr = (struct ibv_cq_init_attr_ex){.cqe = 1,
					    .comp_vector = (uint32_t)context->num_comp_vectors};
	NONE(EINVAL, ibv_create_cq_ex(context, &attr));
	attr = (struct ibv_cq_init_attr_ex){.cqe = 1, .wc_flags = 1ull << 40};
	NONE(EOPNOTSUPP, ibv_create_cq_ex(context, &attr));
	OK(ibv_close_device(context));
}
