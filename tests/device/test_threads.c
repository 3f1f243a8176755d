/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_threads.c -- verbs calls from several threads at once. Threads report by
 * values, and the test judges when they have ended.
 */
#include "end.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS	 4
#define REQUESTS 500

/* Each thread has a pair of its own; all requesters complete in one CQ. */
struct worker {
	struct end target;
	struct ibv_qp *qp;
	unsigned char *source;
	unsigned number;
	uint32_t lkey;
	uint32_t shared_rkey; /* the first target's memory */
	uint32_t rkey;	      /* the target's; its ibv_mr may be gone */
	int error;	      /* from a post, or a bad completion */
	_Atomic unsigned completed;
	pthread_t thread;
};

static struct end requester; /* its CQ is shared by all the workers' QPs */
static struct worker workers[THREADS];

/* Like end_to_rtr() and end_to_rts(), for a QP beside that of END. */
static void connect_qp(struct end *end, struct ibv_qp *qp, struct end *target)
{
	struct end view = *end;
	struct end_address peer = end_address(target), own;

	view.qp = qp;
	own = end_address(&view);
	end_to_init(&view);
	end_to_rtr(&view, &peer);
	end_to_rtr(target, &own);
	end_to_rts(target);
	end_to_rts(&view);
}

static int setup_workers(void **unused)
{
	struct end_options options = end_defaults();

	options.cqe = 1000;
	end_open(&requester, &options, -1);
	for (unsigned i = 0; i < THREADS; i++) {
		struct worker *worker = &workers[i];

		end_open(&worker->target, &options, -1);
		worker->qp = end_make_qp(&requester);
		assert_non_null(worker->qp);
		connect_qp(&requester, worker->qp, &worker->target);
		worker->number = i;
		worker->source = requester.memory + 4096L * i;
		worker->lkey = requester.mr->lkey;
		worker->rkey = worker->target.mr->rkey;
		fill(worker->source, 4096, i);
	}
	return 0;
}

static int teardown_workers(void **unused)
{
	for (unsigned i = 0; i < THREADS; i++) {
		if (workers[i].qp != NULL)
			OK(ibv_destroy_qp(workers[i].qp));
		end_close(&workers[i].target);
	}
	memset(workers, 0, sizeof(workers));
	end_close(&requester);
	return 0;
}

static int post_write(struct worker *worker, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)worker->source, 4096, worker->lkey};
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = (uintptr_t)worker->target.memory, .rkey = worker->rkey},
	};
	struct ibv_send_wr *bad = NULL;

	return ibv_post_send(worker->qp, &wr, &bad);
}

/* A thread that finds a completion books it for the thread it belongs to. */
static void book_completions(struct worker *finder)
{
	struct ibv_wc wcs[4];
	int count = ibv_poll_cq(requester.cq, 4, wcs);

	if (count < 0)
		finder->error = count;
	for (int i = 0; i < count; i++) {
		if (wcs[i].status != IBV_WC_SUCCESS)
			finder->error = (int)wcs[i].status;
		atomic_fetch_add(&workers[wcs[i].wr_id].completed, 1);
	}
}

static void *write_often(void *argument)
{
	struct worker *worker = argument;
	double until = deadline();

	for (unsigned posted = 0; posted < REQUESTS && worker->error == 0; posted++) {
		while (posted - atomic_load(&worker->completed) >= 8 && deadline() < until + WAIT_S)
			book_completions(worker);
		worker->error = post_write(worker, worker->number);
	}
	while (atomic_load(&worker->completed) < REQUESTS && worker->error == 0 &&
	       deadline() < until + WAIT_S)
		book_completions(worker);
	return NULL;
}

TEST(one_cq__serves_the_qps_of_all_threads, setup_workers, teardown_workers)
{
	for (unsigned i = 0; i < THREADS; i++)
		OK(pthread_create(&workers[i].thread, NULL, write_often, &workers[i]));
	for (unsigned i = 0; i < THREADS; i++)
		OK(pthread_join(workers[i].thread, NULL));
	for (unsigned i = 0; i < THREADS; i++) {
		EQUAL((workers[i].error, 0), (workers[i].completed, REQUESTS));
		assert_memory_equal(workers[i].target.memory, workers[i].source, 4096);
	}
	expect_no_wc(requester.cq);
}

/* THREADS requesters add to the same word of one target. */
static void *add_often(void *argument)
{
	struct worker *worker = argument;
	struct end *target = &workers[0].target;
	struct ibv_sge sge = {(uintptr_t)worker->source, 8, worker->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr_id = worker->number,
		.wr.atomic = {.remote_addr = (uintptr_t)target->memory, .compare_add = 1},
	};
	struct ibv_send_wr *bad = NULL;
	double until = deadline();

	wr.wr.atomic.rkey = worker->shared_rkey;
	for (unsigned i = 1; i <= REQUESTS && worker->error == 0; i++) {
		worker->error = ibv_post_send(worker->qp, &wr, &bad);
		while (atomic_load(&worker->completed) < i && worker->error == 0 &&
		       deadline() < until + WAIT_S)
			book_completions(worker);
	}
	return NULL;
}

/* Regions of one PD per target: the word is registered for each of them. */
TEST(atomics__of_all_threads_add_up, setup_workers, teardown_workers)
{
	struct ibv_mr *mrs[THREADS];
	uint64_t *word = (uint64_t *)(void *)workers[0].target.memory;

	*word = 0;
	for (unsigned i = 0; i < THREADS; i++) {
		mrs[i] = ibv_reg_mr(workers[i].target.pd, word, sizeof(*word), END_ACCESS);
		assert_non_null(mrs[i]);
		workers[i].shared_rkey = mrs[i]->rkey;
	}
	for (unsigned i = 0; i < THREADS; i++)
		OK(pthread_create(&workers[i].thread, NULL, add_often, &workers[i]));
	for (unsigned i = 0; i < THREADS; i++)
		OK(pthread_join(workers[i].thread, NULL));
	for (unsigned i = 0; i < THREADS; i++) {
		EQUAL((workers[i].error, 0), (workers[i].completed, REQUESTS));
		OK(ibv_dereg_mr(mrs[i]));
	}
	assert_int_equal(*word, THREADS * REQUESTS);
}

/* All threads post on one QP, and each request is done once. */
static void *post_on_the_first_qp(void *argument)
{
	struct worker *worker = argument, *first = &workers[0];
	struct worker view = {.target = first->target, .qp = first->qp, .lkey = first->lkey};
	double until = deadline();

	view.source = first->source;
	view.rkey = first->rkey;
	for (unsigned posted = 0; posted < 100 && worker->error == 0;) {
		int error = post_write(&view, worker->number);

		if (error == 0)
			posted++;
		else if (error != ENOMEM || deadline() > until + WAIT_S)
			worker->error = error;
		book_completions(worker);
	}
	while (atomic_load(&worker->completed) < 100 && worker->error == 0 &&
	       deadline() < until + WAIT_S)
		book_completions(worker);
	return NULL;
}

TEST(one_qp__takes_the_posts_of_all_threads, setup_workers, teardown_workers)
{
	for (unsigned i = 0; i < THREADS; i++)
		OK(pthread_create(&workers[i].thread, NULL, post_on_the_first_qp, &workers[i]));
	for (unsigned i = 0; i < THREADS; i++)
		OK(pthread_join(workers[i].thread, NULL));
	for (unsigned i = 0; i < THREADS; i++) {
		EQUAL((workers[i].error, 0), (workers[i].completed, 100));
	}
	expect_no_wc(requester.cq);
}

static void *write_until_refused(void *argument)
{
	struct worker *worker = argument;
	double until = deadline();
	struct ibv_wc wc = {.status = IBV_WC_SUCCESS};
	int count = 0;

	while (wc.status == IBV_WC_SUCCESS && worker->error == 0) {
		worker->error = post_write(worker, worker->number);
		while (worker->error == 0 && (count = ibv_poll_cq(requester.cq, 1, &wc)) == 0) {
			if (deadline() > until + WAIT_S)
				worker->error = ETIMEDOUT;
		}
		if (count < 0)
			worker->error = count;
		atomic_fetch_add(&worker->completed, 1);
	}
	if (worker->error == 0 && wc.status != IBV_WC_REM_ACCESS_ERR)
		worker->error = (int)wc.status;
	return NULL;
}

/* Once ibv_dereg_mr() has returned no write changes the memory any more. */
TEST(dereg__ends_the_writes_of_the_peer, setup_workers, teardown_workers)
{
	struct worker *worker = &workers[0];
	struct end *target = &worker->target;
	unsigned char *copy = malloc(4096);
	double until = deadline();

	assert_non_null(copy);
	OK(pthread_create(&worker->thread, NULL, write_until_refused, worker));
	while (atomic_load(&worker->completed) < 20)
		wait_a_little(until, "the first writes");
	OK(ibv_dereg_mr(target->mr));
	memset(target->memory, 0x5a, 4096);
	memset(copy, 0x5a, 4096);
	OK(pthread_join(worker->thread, NULL));
	target->mr = NULL;
	assert_memory_equal(target->memory, copy, 4096);
	assert_int_equal(worker->error, 0);
	free(copy);
}

struct churn {
	struct ibv_context *context;
	int error;
	pthread_t thread;
};

static void *make_and_destroy(void *argument)
{
	struct churn *churn = argument;
	static unsigned char memory[THREADS][4096];
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};

	for (int i = 0; i < 50 && churn->error == 0; i++) {
		struct ibv_pd *pd = ibv_alloc_pd(churn->context);
		struct ibv_cq *cq = ibv_create_cq(churn->context, 4, NULL, NULL, 0);
		struct ibv_mr *mr =
			pd ? ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE) : NULL;
		struct ibv_qp *qp = NULL;

		attr.send_cq = attr.recv_cq = cq;
		if (mr != NULL && cq != NULL)
			qp = ibv_create_qp(pd, &attr);
		churn->error = qp == NULL || ibv_destroy_qp(qp) || ibv_dereg_mr(mr) ||
			       ibv_destroy_cq(cq) || ibv_dealloc_pd(pd);
	}
	return NULL;
}

TEST(objects__come_and_go_in_all_threads)
{
	struct ibv_context *context = open_device();
	struct churn churns[THREADS];

	for (int i = 0; i < THREADS; i++) {
		churns[i] = (struct churn){.context = context};
		OK(pthread_create(&churns[i].thread, NULL, make_and_destroy, &churns[i]));
	}
	for (int i = 0; i < THREADS; i++)
		OK(pthread_join(churns[i].thread, NULL));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(churns[i].error, 0);
	OK(ibv_close_device(context));
}
