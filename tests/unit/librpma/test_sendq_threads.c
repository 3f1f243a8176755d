/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_sendq_threads.c -- one thread starts operations, another fetches their completions.
 *
 * The device below orders nothing between the two threads (all of its atomics are relaxed), so
 * what the library shares it has to order itself: ThreadSanitizer sees it if it does not.
 */
#include "world.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { OPERATIONS = 30000, SQ_SIZE = 24, EVERY = 5, BATCH = 6, ENTRIES = 64, FETCHED = 8 };

/*
 * A send queue of SQ_SIZE slots, which executes at once, and a completion queue. Operations have
 * the numbers 1 to OPERATIONS as wr_id; from `dies_at` on all fail.
 */
static struct {
	uint64_t posted;		/* the last one: of the thread that posts */
	uint64_t entries_posted;	/* the same */
	uint64_t entries_taken;		/* by the thread that fetches */
	_Atomic uint64_t freed;		/* slots before it are free */
	_Atomic uint64_t ring[ENTRIES]; /* wr_id, below the low 24 bits of the entry's number */
	uint64_t dies_at;
	_Atomic unsigned overflows; /* the send queue was full */
} device;

enum { ID_BITS = 40 };

static uint64_t entry_of(uint64_t number, uint64_t wr_id)
{
	return (number + 1) << ID_BITS | wr_id;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	for (; wr != NULL; wr = wr->next) {
		if (wr->wr_id - atomic_load_explicit(&device.freed, memory_order_relaxed) >
		    SQ_SIZE) {
			if (wr->wr_id < device.dies_at)
				atomic_fetch_add(&device.overflows, 1);
			*bad_wr = wr;
			return ENOMEM;
		}
		if (wr->wr_id != device.posted + 1)
			abort(); /* lost, or out of order */
		device.posted++;
		if (!(wr->send_flags & IBV_SEND_SIGNALED) && wr->wr_id < device.dies_at)
			continue;
		atomic_store_explicit(&device.ring[device.entries_posted % ENTRIES],
				      entry_of(device.entries_posted, wr->wr_id),
				      memory_order_relaxed);
		device.entries_posted++;
	}
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	const uint64_t mask = ((uint64_t)1 << ID_BITS) - 1;
	int got = 0;

	for (; got < num_entries; got++) {
		const uint64_t number = device.entries_taken;
		const uint64_t entry =
			atomic_load_explicit(&device.ring[number % ENTRIES], memory_order_relaxed);
		const uint64_t wr_id = entry & mask;

		if (entry != entry_of(number, wr_id))
			break;
		device.entries_taken++;
		atomic_store_explicit(&device.freed, wr_id, memory_order_relaxed);
		wc[got] = (struct ibv_wc){
			.wr_id = wr_id,
			.opcode = IBV_WC_RDMA_WRITE,
			.status = wr_id < device.dies_at ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR,
		};
	}
	return got;
}

static bool is_asked(uint64_t number)
{
	return number % 7 == 0 || number == OPERATIONS;
}

static int start(uint64_t number)
{
	const int completion =
		is_asked(number) ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR;
	const int flags = completion | (number % 4 != 0 ? RPMA_F_MORE : 0);

	return rpma_write(w.conn, w.remote, 0, w.mr, 0, 8, flags, (void *)(uintptr_t)number);
}

static void *start_all(void *unused)
{
	for (uint64_t number = 1; number <= OPERATIONS; number++) {
		while (start(number) != 0)
			sched_yield();
	}
	while (rpma_submit(w.conn) != 0)
		sched_yield();
	return unused;
}

/* The next one that leaves a completion for the program. */
static uint64_t next_visible(uint64_t number)
{
	do {
		number++;
	} while (number < device.dies_at && !is_asked(number));
	return number;
}

static void fetch_all(void)
{
	struct ibv_wc wc[FETCHED];
	uint64_t last = 0;
	int got;

	while (last < OPERATIONS) {
		int ret = rpma_cq_get_wc(w.cq, FETCHED, wc, &got);

		if (ret == RPMA_E_NO_COMPLETION) {
			sched_yield();
			continue;
		}
		assert_int_equal(ret, 0);
		for (int i = 0; i < got; i++) {
			assert_int_equal(wc[i].wr_id, next_visible(last));
			last = wc[i].wr_id;
		}
	}
}

static void run(uint64_t dies_at)
{
	pthread_t thread;

	setup_cfg(NULL);
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_SQ_SIZE, SQ_SIZE));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_SIGNAL_EVERY, EVERY));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_BATCH_SIZE, BATCH));
	make_req();
	make_conn();
	expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED));
	memset(&device, 0, sizeof(device));
	device.dies_at = dies_at;
	provider.context->ops.post_send = post_send;
	provider.context->ops.poll_cq = poll_cq;

	assert_int_equal(pthread_create(&thread, NULL, start_all, NULL), 0);
	fetch_all();
	EQUAL((pthread_join(thread, NULL), 0), (device.posted, OPERATIONS), (device.overflows, 0));
}

TEST(each_operation__completes_once_and_in_order, setup_nothing, teardown)
{
	run(OPERATIONS + 1);
}

/* From then on all leave completions, and slots are the provider's to count. */
TEST(peer_death__shows_each_operation_once, setup_nothing, teardown)
{
	run(OPERATIONS / 2);
}
