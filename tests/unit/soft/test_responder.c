/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_responder.c -- what is answered as the power of the target fails, and what becomes of a
 * queue pair that fails while its lock cannot be had.
 *
 * The rest of the device is a segment without an owner: the target is this process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#include "soft_device/datapath/completion.h"
#include "soft_device/datapath/responder.h"
#include "soft_device/powerfail/journal.h"
#include "soft_device/process/process.h"

#define QPN 0x100u
#define KEY 0x100u /* region 1 */

struct process *process_current;
static struct segment *segment;
static struct journal *journal;
static uint64_t words[2]; /* the region's, and where a read's go */
static bool power_fails;
static uint32_t raised;		/* but for COMM_EST */
static void (*meanwhile)(void); /* what the owner does as the lock is waited for */

/* The responder raises COMM_EST half-way through the first operation on a QP in RTR. */
void peer_raise(struct peer *peer, _Atomic uint32_t *raise, uint32_t bits)
{
	if (bits != RAISE_QP_COMM_EST)
		raised = bits;
	else if (power_fails)
		atomic_store(&journal->failed, 1);
}

/* In place of the C library's: waiting for a lock ends in it. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	if (meanwhile != NULL)
		meanwhile();
	return 0;
}

bool completion_push(struct peer *peer, uint32_t index, const struct shared_cqe *cqe)
{
	fail();
	return false;
}

uint64_t segment_alloc(size_t bytes)
{
	fail();
	return 0;
}

void segment_free(uint64_t offset, size_t bytes)
{
	fail();
}

struct shared_qp *segment_qp(struct segment *one, const union ibv_gid *gid, uint32_t qpn)
{
	fail();
	return NULL;
}

void process_warn(const char *format, ...)
{
	fail();
}

static int setup(void **state)
{
	const size_t bytes = sizeof(*segment) + sizeof(*journal);

	segment = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (segment == MAP_FAILED)
		return -1;
	journal = segment_at(segment, sizeof(*segment));
	journal->at = 1000;
	segment->powerfail = sizeof(*segment);
	segment->mr[1] =
		(struct shared_mr){.key = KEY,
				   .access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
					     SOFT_ACCESS_FLUSH_PERSISTENT,
				   .addr = (uintptr_t)words,
				   .length = sizeof(words[0]),
				   .iova = (uintptr_t)words};
	segment->qp[0] = (struct shared_qp){.qpn = QPN,
					    .state = IBV_QPS_RTR,
					    .access = segment->mr[1].access,
					    .max_dest_rd_atomic = 1,
					    .srq = SOFT_NONE};
	return 0;
}

static int teardown(void **state)
{
	return munmap(segment, sizeof(*segment) + sizeof(*journal));
}

static struct outcome execute(enum request_op op)
{
	struct peer self = {.transport = PEER_SELF, .segment = segment};
	struct request request = {.op = op,
				  .flush_type = SOFT_FLUSH_PERSISTENT,
				  .rkey = KEY,
				  .length = sizeof(words[0]),
				  .remote_addr = (uintptr_t)words,
				  .local = {{&words[1], sizeof(words[1])}},
				  .local_count = 1};

	return responder_execute_on(&self, &segment->qp[0], QPN, &request);
}

/* All that a sender may take for durable what it wrote before, and the write. */
static const enum request_op ops[] = {REQUEST_READ, REQUEST_FLUSH, REQUEST_ATOMIC_WRITE,
				      REQUEST_WRITE};

static void an_operation__is_answered(void **state)
{
	power_fails = false;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct outcome outcome = execute(ops[i]);

		assert_int_equal(outcome.kind, OUTCOME_DONE);
		assert_int_equal(outcome.status, IBV_WC_SUCCESS);
		assert_int_equal(atomic_load(&journal->operations), i + 1);
	}
}

/* Its lines were rolled back as it waited for the journal: it would answer for what is lost. */
static void an_operation__during_which_the_power_fails_is_not(void **state)
{
	power_fails = true;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		atomic_store(&journal->failed, 0);
		segment->qp[0].established = 0;
		assert_int_equal(execute(ops[i]).kind, OUTCOME_ABSENT);
		assert_int_equal(atomic_load(&journal->failed), 1);
	}
}

static void keep(void)
{
}

static void go_on(void)
{
	atomic_store(&segment->qp[0].state, IBV_QPS_RTS);
}

static void destroy(void)
{
	atomic_store(&segment->qp[0].state, IBV_QPS_RESET);
	atomic_store(&segment->qp[0].qpn, 0);
}

static void destroy_and_make_another(void)
{
	destroy();
	atomic_store(&segment->qp[0].qpn, QPN + 1);
	atomic_store(&segment->qp[0].state, IBV_QPS_RTR);
}

/* Another thread has the lock all the while. */
static void a_queue_pair_that_fails__is_the_one_that_was_meant(void **state)
{
	static const struct {
		void (*meanwhile)(void);
		uint32_t state, raised;
	} cases[] = {
		{keep, IBV_QPS_ERR, RAISE_QP_FATAL | RAISE_QP_FLUSH | RAISE_QP_RECEIVES},
		{go_on, IBV_QPS_ERR, RAISE_QP_FATAL | RAISE_QP_FLUSH | RAISE_QP_RECEIVES},
		{destroy, IBV_QPS_RESET, 0},
		{destroy_and_make_another, IBV_QPS_RTR, 0},
	};
	struct peer self = {.transport = PEER_SELF, .segment = segment};
	struct shared_qp *qp = &segment->qp[0];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		atomic_store(&qp->qpn, QPN);
		atomic_store(&qp->state, IBV_QPS_RTR);
		raised = 0;
		shared_lock_take(&qp->lock);
		meanwhile = cases[i].meanwhile;
		responder_fail(&self, qp, RAISE_QP_FATAL);
		meanwhile = NULL;
		shared_lock_release(&qp->lock);
		assert_int_equal(atomic_load(&qp->state), cases[i].state);
		assert_int_equal(raised, cases[i].raised);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_operation__is_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(an_operation__during_which_the_power_fails_is_not,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_queue_pair_that_fails__is_the_one_that_was_meant,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
