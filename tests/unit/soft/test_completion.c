/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_completion.c -- completions of a process that is stopped, or killed, at each instruction of
 * a push.
 *
 * A child pushes and is stopped after one instruction more each time. Meanwhile this process pushes
 * and takes. Whatever the instruction was: all completions come once, in the order in which one
 * thread pushed them, and a queue that always had room has not overflowed.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soft_device/datapath/completion.h"
#include "soft_device/datapath/sq.h"
#include "soft_device/process/process.h"
#include "tests/lib/test.h"

#define CQE   4u  /* entries */
#define SLOTS 16u /* with some to spare for late writers */
#define OURS  100u
#define HERS  1u

struct process *process_current;
_Atomic uint32_t sq_released[SEGMENT_QPS];

static struct process process;
static struct peer self;
static struct segment *segment;
static uint64_t next, expected; /* what this process pushes */
static unsigned hers;		/* completions of the child that came */

/* Each look is a second later: no poll waits for a slot longer than for its second look. */
uint64_t process_now_ns(void)
{
	static uint64_t now_ns;

	return now_ns += 1000000000;
}

void peer_ring(struct peer *peer, struct shared_cq *cq)
{
	fail();
}

/* The child's overflow is seen by `room`. */
void peer_raise(struct peer *peer, _Atomic uint32_t *raise, uint32_t bits)
{
	atomic_fetch_or(raise, bits);
}

static int setup(void **state)
{
	const size_t bytes = sizeof(*segment) + SLOTS * sizeof(struct shared_slot);

	segment = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (segment == MAP_FAILED)
		return -1;
	segment->cq[0].slots = SLOTS;
	segment->cq[0].cqe = CQE;
	segment->cq[0].offset = sizeof(*segment);
	atomic_store(&segment->cq[0].room, CQE);
	atomic_store(&segment->cq[0].live, CQ_LIVE);
	self.segment = segment;
	process.segment = segment;
	process.self = &self;
	process_current = &process;
	next = expected = OURS;
	hers = 0;
	return 0;
}

static int teardown(void **state)
{
	return munmap(segment, sizeof(*segment) + SLOTS * sizeof(struct shared_slot));
}

static bool push(uint64_t wr_id)
{
	const struct shared_cqe cqe = {.wr_id = wr_id};

	return completion_push(&self, 0, &cqe);
}

/* All that is there, also behind a slot that does not count yet. */
static void take_all(void)
{
	struct ibv_wc wc[2];

	for (unsigned looks = 0; looks < 4; looks++) {
		const int got = completion_take(&segment->cq[0], 2, wc);

		for (int i = 0; i < got; i++) {
			if (wc[i].wr_id == HERS) {
				hers++;
				continue;
			}
			assert_int_equal(wc[i].wr_id, expected);
			expected++;
		}
	}
}

static void push_and_take(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		assert_true(push(next++));
		take_all();
	}
	assert_int_equal(expected, next);
}

/* A child after `steps` instructions of its push, or at the end of it: *whole. */
static pid_t stopped_child(unsigned steps, bool *whole)
{
	_Atomic uint32_t *pushed = &segment->cq[1].head; /* the queue is not used otherwise */
	pid_t child;
	int status;

	atomic_store(pushed, 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		bool room;

		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || raise(SIGSTOP) != 0)
			_exit(2);
		room = push(HERS);
		atomic_store(pushed, 1);
		_exit(room ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	for (unsigned i = 0; i < steps && atomic_load(pushed) == 0; i++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSTOPPED(status));
	}
	*whole = atomic_load(pushed) != 0;
	return child;
}

static void let_end(pid_t child)
{
	int status;

	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0); /* her push found room */
}

/* `times` completions come and go while the child stands still, then `more` come. */
static void stop_at_each_instruction(unsigned times, unsigned more)
{
	bool whole = false;
	pid_t child;

	push_and_take(1); /* binds what a push calls */
	for (unsigned steps = 0; !whole; steps++) {
		hers = 0;
		child = stopped_child(steps, &whole);
		push_and_take(times);
		for (unsigned i = 0; i < more; i++)
			assert_true(push(next++));
		let_end(child);
		take_all();
		push_and_take(1);
		assert_int_equal(hers, 1);
		/* no slot is lost: each is used again when its turn comes */
		push_and_take(SLOTS);
		assert_int_equal(atomic_load(&segment->cq[0].room), CQE);
		assert_int_equal(atomic_load(&segment->cq[0].raise), 0);
	}
}

TEST(a_push_stopped_anywhere_is_late_for_one_other, setup, teardown)
{
	stop_at_each_instruction(1, 0);
}

TEST(a_push_stopped_anywhere_is_late_by_rounds, setup, teardown)
{
	stop_at_each_instruction(2 * SLOTS + 1, 0);
}

/* Slots that are passed over take none of the queue's room. */
TEST(a_late_push_finds_the_room_that_is_there, setup, teardown)
{
	for (unsigned times = SLOTS - CQE; times <= SLOTS; times++)
		stop_at_each_instruction(times, CQE - 1);
}

/* Each has a queue of its own: slots that the dead had are not used again. */
TEST(a_push_killed_anywhere_harms_no_other, NULL, teardown)
{
	bool whole = false;
	pid_t child;

	for (unsigned steps = 0; !whole; steps++) {
		assert_int_equal(setup(state), 0);
		push_and_take(1);
		child = stopped_child(steps, &whole);
		push_and_take(1);
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(waitpid(child, NULL, 0), child);
		push_and_take(2 * SLOTS);
		assert_true(hers <= 1);
		assert_true(atomic_load(&segment->cq[0].room) >= CQE);
		assert_int_equal(atomic_load(&segment->cq[0].raise), 0);
		assert_int_equal(teardown(state), 0);
	}
	assert_int_equal(setup(state), 0);
}
