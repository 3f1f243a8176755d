/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_fork.c -- what a child may do with the device that its parent has
 * opened: nothing but open it again; and what that does to the parent:
 * nothing.
 *
 * A child tells by its status which line of it was wrong: a failed assertion of cmocka would
 * go on with the tests in two processes.
 */
#include "tests/device/pair.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Gives the line of the call when it was not refused with EIO. */
#define REFUSED_ERROR(call)                                                                        \
	do {                                                                                       \
		if ((call) != EIO)                                                                 \
			return __LINE__;                                                           \
	} while (0)
#define REFUSED(failed)                                                                            \
	do {                                                                                       \
		errno = 0;                                                                         \
		if (!(failed) || errno != EIO)                                                     \
			return __LINE__;                                                           \
	} while (0)

/* Runs `body` in a child; a line of more than a byte is told on standard error. */
static void in_child(int (*body)(void))
{
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int line = body();

		if (line != 0)
			dprintf(STDERR_FILENO, "the child failed at line %d: %d\n", line, errno);
		_exit(line != 0);
	}
	EQUAL((waitpid(pid, &status, 0), pid), (status, 0));
}

static int use_context(void)
{
	struct ibv_device_attr_ex extended;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_async_event event;
	union ibv_gid gid;

	REFUSED_ERROR(ibv_query_device(w.near.context, &attr));
	REFUSED_ERROR(ibv_query_device_ex(w.near.context, NULL, &extended));
	REFUSED_ERROR(ibv_query_port(w.near.context, 1, &port));
	REFUSED(ibv_query_gid(w.near.context, 1, 0, &gid) == -1);
	REFUSED(ibv_get_async_event(w.near.context, &event) == -1);
	REFUSED(ibv_alloc_pd(w.near.context) == NULL);
	REFUSED(ibv_create_comp_channel(w.near.context) == NULL);
	REFUSED(ibv_create_cq(w.near.context, 1, NULL, NULL, 0) == NULL);
	REFUSED(ibv_close_device(w.near.context) == -1);
	return 0;
}

static int use_memory(void)
{
	REFUSED(ibv_reg_mr(w.near.pd, w.near.memory, 1, 0) == NULL);
	REFUSED(ibv_rereg_mr(w.near.mr, IBV_REREG_MR_CHANGE_PD, w.near.pd, NULL, 0, 0) != 0);
	REFUSED_ERROR(ibv_dereg_mr(w.near.mr));
	REFUSED_ERROR(ibv_dealloc_pd(w.near.pd));
	return 0;
}

static int use_cq(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	REFUSED(ibv_poll_cq(w.near.cq, 1, &wc) < 0);
	REFUSED_ERROR(ibv_req_notify_cq(w.near.cq, 0));
	REFUSED_ERROR(ibv_resize_cq(w.near.cq, 1000));
	REFUSED(ibv_get_cq_event(w.near.channel, &cq, &context) == -1);
	REFUSED_ERROR(ibv_destroy_cq(w.near.cq));
	REFUSED_ERROR(ibv_destroy_comp_channel(w.near.channel));
	return 0;
}

static int use_qp(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_qp_init_attr init = {
		.send_cq = w.near.cq, .recv_cq = w.near.cq, .qp_type = IBV_QPT_RC};
	struct ibv_send_wr *send = work(IBV_WR_RDMA_WRITE, 0, 8, 0);
	struct ibv_send_wr *bad_send = NULL;
	struct ibv_recv_wr recv = {.wr_id = 1};
	struct ibv_recv_wr *bad_recv = NULL;

	REFUSED_ERROR(ibv_post_send(w.near.qp, send, &bad_send));
	REFUSED_ERROR(ibv_post_recv(w.near.qp, &recv, &bad_recv));
	if (bad_send != send || bad_recv != &recv)
		return __LINE__;
	REFUSED_ERROR(ibv_modify_qp(w.near.qp, &attr, IBV_QP_STATE));
	REFUSED_ERROR(ibv_query_qp(w.near.qp, &attr, IBV_QP_STATE, &init));
	REFUSED(ibv_create_qp(w.near.pd, &init) == NULL);
	REFUSED_ERROR(ibv_destroy_qp(w.near.qp));
	return 0;
}

PAIR_TEST(child__is_refused_the_context_of_its_parent)
{
	in_child(use_context);
}

PAIR_TEST(child__is_refused_the_memory_of_its_parent)
{
	in_child(use_memory);
}

PAIR_TEST(child__is_refused_the_queues_of_its_parent)
{
	in_child(use_cq);
	in_child(use_qp);
}

PAIR_TEST(parent__goes_on_as_if_there_was_no_child)
{
	in_child(use_qp);
	fill(w.near.memory, 4096, 1);
	done(work(IBV_WR_RDMA_WRITE, 0, 4096, 4096));
	assert_memory_equal(w.far_memory + 4096, w.near.memory, 4096);
}

/* Memory that both have after a fork() is the parent's that peers write to. */
PAIR_TEST(parent__receives_in_memory_that_a_child_shares)
{
	int status;
	pid_t pid;

	fill(w.near.memory, 4096, 1);
	memset(w.far_memory, 0, 4096);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		pause();
		_exit(0);
	}
	done(work(IBV_WR_RDMA_WRITE, 0, 4096, 0));
	assert_memory_equal(w.far_memory, w.near.memory, 4096);
	EQUAL((kill(pid, SIGKILL), 0), (waitpid(pid, &status, 0), pid));
}

/* A pair of ends of its own, and a write from the one to the other. */
static int open_anew(void)
{
	struct end_options options = end_defaults();
	struct end ends[2] = {{0}, {0}};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	for (int i = 0; i < 2; i++)
		end_open(&ends[i], &options, -1);
	for (int i = 0; i < 2; i++) {
		struct end_address peer = end_address(&ends[1 - i]);

		end_to_rtr(&ends[i], &peer);
		end_to_rts(&ends[i]);
	}
	struct ibv_sge sge = {(uintptr_t)ends[0].memory, 4096, ends[0].mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = (uintptr_t)ends[1].memory, .rkey = ends[1].mr->rkey}};

	fill(ends[0].memory, 4096, 2);
	if (ibv_post_send(ends[0].qp, &wr, &bad) != 0)
		return __LINE__;
	wc = next_wc(ends[0].cq);
	if (wc.status != IBV_WC_SUCCESS || memcmp(ends[0].memory, ends[1].memory, 4096) != 0)
		return __LINE__;
	end_close(&ends[0]);
	end_close(&ends[1]);
	return 0;
}

static int grandchild(void)
{
	int line = open_anew();

	if (line == 0)
		in_child(open_anew);
	return line;
}

PAIR_TEST(grandchild__opens_the_device_anew)
{
	in_child(grandchild);
}

static _Atomic bool enough;

static void *make_and_destroy(void *unused)
{
	while (!enough) {
		struct ibv_cq *cq = ibv_create_cq(w.near.context, 10, NULL, NULL, 0);
		struct ibv_mr *mr = ibv_reg_mr(w.near.pd, w.near.memory, 1, 0);

		if (cq == NULL || ibv_destroy_cq(cq) != 0 || mr == NULL || ibv_dereg_mr(mr) != 0)
			return w.near.context;
	}
	return NULL;
}

/* No lock stays taken, whatever another thread did at the moment of the fork. */
PAIR_TEST(child__of_a_busy_parent_opens_the_device)
{
	pthread_t thread;
	void *failed;

	OK(pthread_create(&thread, NULL, make_and_destroy, NULL));
	for (int i = 0; i < 30; i++)
		in_child(open_anew);
	enough = true;
	OK(pthread_join(thread, &failed));
	assert_null(failed);
}
