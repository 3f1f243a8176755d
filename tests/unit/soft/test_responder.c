/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_responder.c -- what is answered as the power of the target fails, and what becomes of a
 * queue pair that fails while its lock cannot be had, or while another one takes its entry.
 *
 * The rest of the device is a segment without an owner: the target is this process.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "soft_device/datapath/completion.h"
#include "soft_device/datapath/responder.h"
#include "soft_device/powerfail/journal.h"
#include "soft_device/process/process.h"
#include "tests/lib/test.h"

#define QPN	   0x100u
#define KEY	   0x100u /* region 1 */
#define GENERATION 7

struct process *process_current;
static struct segment *segment;
static struct journal *journal;
static uint64_t words[2]; /* the region's, and where a read's go */
static bool power_fails;
static void (*meanwhile)(void); /* what the owner does as the lock is waited for */

/* The responder raises COMM_EST half-way through the first operation on a QP in RTR. */
void peer_raise(struct peer *peer, _Atomic uint32_t *raise, uint32_t bits)
{
	atomic_fetch_or(raise, bits);
	if (bits == RAISE_QP_COMM_EST && power_fails)
		atomic_store(&journal->failed, 1);
}

void peer_kick(struct peer *peer)
{
}

/* In place of the C library's: waiting for a lock ends in it. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	if (meanwhile != NULL)
		meanwhile();
	return 0;
}

/* A thread that is stepped would take long to wait for a lock: it gives up at once. */
static bool impatient;
bool __real_lock_wait_soon(struct shared_lock *lock);
bool __wrap_lock_wait_soon(struct shared_lock *lock)
{
	return impatient ? false : __real_lock_wait_soon(lock);
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

/* The queue pair asked for is not there. */
struct shared_qp *segment_qp(struct segment *one, const union ibv_gid *gid, uint32_t qpn)
{
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
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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
					    .type = IBV_QPT_RC,
					    .life = IBV_QPS_RTR,
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
				  .remote_addr = (uintptr_t)words};
	const struct local_memory local = {.parts = {{&words[1], sizeof(words[1])}}, .count = 1};

	return responder_execute_on(&self, &segment->qp[0], QPN, &request, &local);
}

/* All that a sender may take for durable what it wrote before, and the write. */
static const enum request_op ops[] = {REQUEST_READ, REQUEST_FLUSH, REQUEST_ATOMIC_WRITE,
				      REQUEST_WRITE};

TEST(an_operation__is_answered, setup, teardown)
{
	power_fails = false;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct outcome outcome = execute(ops[i]);

		assert_int_equal(outcome.kind, OUTCOME_DONE);
		assert_int_equal(outcome.status, IBV_WC_SUCCESS);
		assert_int_equal(atomic_load(&journal->operations), i + 1);
	}
}

TEST(a_queue_pair_that_is_not_there__is_absent_for_any_identity, setup, teardown)
{
	const struct request request = {.op = REQUEST_WRITE};
	const struct local_memory local = {.count = 0};
	struct peer self = {.transport = PEER_SELF, .segment = segment};
	const union ibv_gid gid = {{0}};
	bool known = false;

	for (uint64_t identity = 0; identity < 2; identity++) {
		struct outcome outcome = responder_execute_for(&self, identity, &gid, QPN + 1,
							       &request, &local, &known);

		assert_int_equal(outcome.kind, OUTCOME_ABSENT);
	}
}

/* Its lines were rolled back as it waited for the journal: it would answer for what is lost. */
TEST(an_operation__during_which_the_power_fails_is_not, setup, teardown)
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
	shared_qp_set_state(&segment->qp[0], IBV_QPS_RTS);
}

static void destroy(void)
{
	shared_qp_set_state(&segment->qp[0], IBV_QPS_RESET);
	atomic_store(&segment->qp[0].qpn, 0);
}

/* A queue pair of this generation, in this state. */
static void make(uint16_t generation, enum ibv_qp_state state)
{
	atomic_store(&segment->qp[0].life, shared_qp_word(generation, state));
	atomic_store(&segment->qp[0].raise, shared_qp_word(generation, 0));
	atomic_store(&segment->qp[0].qpn, QPN);
}

/* Its number has come round. */
static void destroy_and_make_another(void)
{
	destroy();
	make(GENERATION + 1, IBV_QPS_RTR);
}

/* Another thread has the lock all the while. */
TEST(a_queue_pair_that_fails__is_the_one_that_was_meant, setup, teardown)
{
	const uint32_t all = RAISE_QP_FATAL | RAISE_QP_FLUSH | RAISE_QP_RECEIVES;
	const struct {
		void (*meanwhile)(void);
		uint16_t generation;
		uint32_t state, raised;
	} cases[] = {
		{keep, GENERATION, IBV_QPS_ERR, all},
		{go_on, GENERATION, IBV_QPS_ERR, all},
		{destroy, GENERATION, IBV_QPS_RESET, 0},
		{destroy_and_make_another, GENERATION + 1, IBV_QPS_RTR, 0},
	};
	struct peer self = {.transport = PEER_SELF, .segment = segment};
	struct shared_qp *qp = &segment->qp[0];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make(GENERATION, IBV_QPS_RTR);
		shared_lock_take(&qp->lock);
		meanwhile = cases[i].meanwhile;
		responder_fail(&self, qp, GENERATION, RAISE_QP_FATAL);
		meanwhile = NULL;
		shared_lock_release(&qp->lock);
		assert_int_equal(atomic_load(&qp->life),
				 shared_qp_word(cases[i].generation, cases[i].state));
		assert_int_equal(atomic_load(&qp->raise),
				 shared_qp_word(cases[i].generation, cases[i].raised));
	}
}

#ifdef CAN_BE_STEPPED

/* A process that makes the queue pair fail, stopped before that. */
static pid_t start_to_fail(void)
{
	struct peer self = {.transport = PEER_SELF, .segment = segment};
	struct shared_lock any = {0};
	int status;
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		shared_lock_take(&any); /* it has a name now */
		impatient = true;
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		responder_fail(&self, &segment->qp[0], GENERATION, RAISE_QP_FATAL);
		segment->probe =
			1; /* what comes now is of no interest, and long: _exit() is bound */
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

static void step(pid_t pid, int steps)
{
	int status;

	for (int i = 0; i < steps; i++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
	}
}

static void go_on_to_end(pid_t pid)
{
	int status;

	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/*
 * Stopped after that many instructions; then the owner, if it gets the lock, makes another queue
 * pair in the entry. The number of those that were left alone, or -1: it ends before.
 */
static int replace_after(int steps, bool held)
{
	struct shared_qp *qp = &segment->qp[0];
	pid_t pid;
	bool mine;

	atomic_store(&qp->lock.holder, 0);
	make(GENERATION, IBV_QPS_RTR);
	segment->probe = 0;
	if (held)
		shared_lock_take(&qp->lock);
	pid = start_to_fail();
	step(pid, steps);
	if (segment->probe != 0) {
		go_on_to_end(pid);
		return -1;
	}
	mine = held || shared_lock_try(&qp->lock);
	if (mine) {
		destroy_and_make_another();
		shared_lock_release(&qp->lock);
	}
	go_on_to_end(pid);
	if (!mine)
		return 0;
	assert_int_equal(atomic_load(&qp->life), shared_qp_word(GENERATION + 1, IBV_QPS_RTR));
	assert_int_equal(atomic_load(&qp->raise), shared_qp_word(GENERATION + 1, 0));
	return 1;
}

TEST(another_in_its_entry__is_left_alone_wherever_the_thread_was_stopped, setup, teardown)
{
	for (int held = 0; held < 2; held++) {
		int left_alone = 0, steps = 0, one;

		while ((one = replace_after(steps, held)) >= 0) {
			left_alone += one;
			steps++;
		}
		print_message("replaced at %d of %d instructions\n", left_alone, steps);
		assert_true(left_alone > 0 && steps < 100000);
	}
}

#endif
