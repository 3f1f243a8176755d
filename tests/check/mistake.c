/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mistake.c -- posts to a queue pair in RESET, at one place or at many, or makes another mistake,
 * and ends in one of the ways in which a process may end.
 *
 * Usage: rpma-soft --check mistake none|once|often|many|narrow|asleep|built|late ENDING
 */
#include <infiniband/verbs.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_qp *qp;

static void need(int is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "%s\n", what);
	exit(70);
}

static void open_all(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 4, .max_send_sge = 1}};
	struct ibv_context *context;
	struct ibv_pd *pd;

	need(list != NULL && list[0] != NULL, "no device");
	context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	need(context != NULL, "no context");
	pd = ibv_alloc_pd(context);
	channel = ibv_create_comp_channel(context);
	cq = ibv_create_cq(context, 16, NULL, channel, 0);
	need(pd != NULL && cq != NULL, "no CQ");
	init.send_cq = init.recv_cq = cq;
	qp = ibv_create_qp(pd, &init);
	need(qp != NULL, "no QP");
}

static int post(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;

	return ibv_post_send(qp, &wr, &bad); /* HERE */
}

static __attribute__((noinline)) int left(unsigned path, unsigned depth);

/* 32 ways of calls to the same post. */
static __attribute__((noinline)) int right(unsigned path, unsigned depth)
{
	int ret;

	if (depth == 0)
		ret = post();
	else
		ret = path & 1 ? left(path >> 1, depth - 1) : right(path >> 1, depth - 1);
	__asm__ volatile("# right"); /* no tail call, and not the same function as the other */
	return ret;
}

static int left(unsigned path, unsigned depth)
{
	int ret = depth == 0 ? post()
		  : path & 1 ? left(path >> 1, depth - 1)
			     : right(path >> 1, depth - 1);

	__asm__ volatile("# left");
	return ret;
}

static void fail_queue_pair(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	need(ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
		     0,
	     "not in INIT");
	attr.qp_state = IBV_QPS_ERR;
	need(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0, "not in ERR");
}

/* A warning: the completion is there before the queue is armed, and it is not polled after that. */
static void sleep_on(void)
{
	struct ibv_wc wc;

	fail_queue_pair();
	need(post() == 0, "not posted");
	need(ibv_req_notify_cq(cq, 0) == 0, "not armed");
	usleep(700000);
	need(ibv_poll_cq(cq, 1, &wc) == 1, "no completion");
}

static void *acknowledge_late(void *unused)
{
	usleep(1500000);
	ibv_ack_cq_events(cq, 1);
	return unused;
}

/* No mistake, as it turns out: another thread acknowledges the event. */
static void destroy_before_it_is_acknowledged(void)
{
	struct ibv_cq *got;
	pthread_t thread;
	void *context;
	struct ibv_wc wc;

	fail_queue_pair();
	need(ibv_req_notify_cq(cq, 0) == 0, "not armed");
	need(post() == 0, "not posted");
	need(ibv_get_cq_event(channel, &got, &context) == 0, "no event");
	need(ibv_poll_cq(cq, 1, &wc) == 1, "no completion");
	need(ibv_destroy_qp(qp) == 0, "QP not destroyed");
	need(pthread_create(&thread, NULL, acknowledge_late, NULL) == 0, "no thread");
	need(ibv_destroy_cq(cq) == 0, "CQ not destroyed");
	pthread_join(thread, NULL);
}

static void *post_there(void *unused)
{
	post();
	return unused;
}

/* In a thread with the smallest stack that there is. */
static void post_narrow(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	need(pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN) == 0, "no small stack");
	need(pthread_create(&thread, &attr, post_there, NULL) == 0, "no thread");
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}

/* More requests than the queue has slots. */
static void build(void)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_send_sge = 1},
		.send_cq = cq,
		.recv_cq = cq,
		.pd = qp->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	struct ibv_qp *made = ibv_create_qp_ex(qp->context, &init);
	struct ibv_qp_ex *builder = made == NULL ? NULL : ibv_qp_to_qp_ex(made);

	need(builder != NULL, "no extended QP");
	ibv_wr_start(builder);
	for (unsigned i = 0; i <= init.cap.max_send_wr; i++)
		ibv_wr_send(builder);
	need(ibv_wr_complete(builder) != 0, "posted");
}

static void make_mistakes(const char *which)
{
	if (strcmp(which, "once") == 0)
		post();
	for (int i = 0; i < 5 && strcmp(which, "often") == 0; i++)
		post();
	for (unsigned path = 0; path < 32 && strcmp(which, "many") == 0; path++)
		right(path, 5);
	if (strcmp(which, "narrow") == 0)
		post_narrow();
	if (strcmp(which, "asleep") == 0)
		sleep_on();
	if (strcmp(which, "built") == 0)
		build();
	if (strcmp(which, "late") == 0)
		destroy_before_it_is_acknowledged();
}

int main(int argc, char **argv)
{
	const char *ending = argc == 3 ? argv[2] : "";

	if (argc != 3)
		return 64;
	open_all();
	printf("unflushed ");
	make_mistakes(argv[1]);
	if (strcmp(ending, "exit") == 0)
		exit(3);
	if (strcmp(ending, "_exit") == 0)
		_exit(3);
	if (strcmp(ending, "abort") == 0)
		abort();
	if (strcmp(ending, "segv") == 0)
		raise(SIGSEGV);
	if (strcmp(ending, "term") == 0)
		raise(SIGTERM);
	return 0;
}
