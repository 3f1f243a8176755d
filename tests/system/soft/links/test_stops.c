/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_stops.c -- a peer that is stopped, at any instruction of a send to us: others of its server
 * are served, regions can be taken back and queue pairs made and destroyed; when it goes on, its
 * send is done. One that is killed instead leaves no thread asleep.
 *
 * The peer is a child of this program, which steps it like a debugger. Its queue pair shares the
 * CQ and the SRQ with two more of this process that send to each other. All waits are bounded.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "other.h"
#include "soft_device/process/segment.h"

#define STEPS_MAX  20000
#define STRIDE_MAX 97 /* instructions from one stop to the next; it varies */

static struct {
	struct end end;	     /* qp: connected to the child */
	struct ibv_qp *to;   /* others on its CQ and SRQ: */
	struct ibv_qp *from; /* sends to `to` */
	struct other other;  /* the child */
} test;

static void post_receive(void)
{
	end_recv(&test.end, 7, 0, 64);
}

static void connect_qp(struct ibv_qp *qp, const struct end_address *to)
{
	struct end one = test.end;

	one.qp = qp;
	end_to_rtr(&one, to);
	end_to_rts(&one);
}

/* Sends whenever it is told to. */
static void live(int fd)
{
	const struct end_options options = end_defaults();
	struct end end = {0};
	char byte;

	end_open(&end, &options, -1);
	connect_ends(fd, &end);
	while (recv(fd, &byte, 1, 0) == 1) {
		end_send(&end, end.qp, 9, 8);
		EXPECT_WC(end.cq, 9, IBV_WC_SUCCESS);
		if (send(fd, "d", 1, 0) != 1)
			break;
	}
}

static int setup(void **state)
{
	const struct end_options options = end_defaults();
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 64, .max_sge = 4}};
	struct end_address to, from;
	struct ibv_pd *pd;

	test.other = other_start(live);
	memset(&test.end, 0, sizeof(test.end));
	end_open(&test.end, &options, -1);
	pd = test.end.pd;
	OK(ibv_destroy_qp(test.end.qp));
	test.end.srq = ibv_create_srq(pd, &srq);
	assert_non_null(test.end.srq);
	test.end.qp = end_make_qp(&test.end);
	test.to = end_make_qp(&test.end);
	test.from = end_make_qp(&test.end);
	assert_true(test.end.qp != NULL && test.to != NULL && test.from != NULL);
	end_to_init(&test.end);
	from = to = end_address(&test.end);
	to.qp_num = test.to->qp_num;
	from.qp_num = test.from->qp_num;
	for (int i = 0; i < 2; i++) {
		struct end one = test.end;

		one.qp = i == 0 ? test.to : test.from;
		end_to_init(&one);
	}
	connect_qp(test.to, &from);
	connect_qp(test.from, &to);
	connect_ends(test.other.socket, &test.end);
	for (int i = 0; i < 32; i++)
		post_receive();
	alarm(10 * WAIT_S);
	return 0;
}

static int teardown(void **state)
{
	other_kill(&test.other);
	OK(ibv_destroy_qp(test.to));
	OK(ibv_destroy_qp(test.from));
	end_close(&test.end);
	alarm(0);
	return 0;
}

/* Completions of the queue pairs on the CQ, each kind counted as it comes. */
struct counts {
	int sent;
	int received;
	int of_child;
};

static void take_one(struct counts *counts)
{
	const struct ibv_wc wc = next_wc(test.end.cq);

	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	if (wc.opcode == IBV_WC_SEND) {
		counts->sent++;
		return;
	}
	if (test.end.qp != NULL && wc.qp_num == test.end.qp->qp_num)
		counts->of_child++;
	else
		counts->received++;
	post_receive();
}

/* The other clients and the owner of the server do this meanwhile. */
static void serve_others(struct counts *counts)
{
	const struct counts before = *counts;
	struct ibv_mr *mr = ibv_reg_mr(test.end.pd, test.end.memory, 64, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_qp *qp = end_make_qp(&test.end);

	assert_non_null(mr);
	assert_non_null(qp);
	end_send(&test.end, test.from, 9, 8);
	while (counts->sent == before.sent || counts->received == before.received)
		take_one(counts);
	OK(ibv_dereg_mr(mr));
	OK(ibv_destroy_qp(qp));
}

static void expect_stop(void)
{
	int status;

	assert_int_equal(waitpid(test.other.pid, &status, __WALL), test.other.pid);
	assert_true(WIFSTOPPED(status));
}

/* Not beyond its answer: it waits for the next word then, and a step would not end. */
static void step(int steps)
{
	for (int i = 0; i < steps && !is_readable(test.other.socket); i++) {
		OK((int)ptrace(PTRACE_SINGLESTEP, test.other.pid, NULL, NULL));
		expect_stop();
	}
}

/* The child, which waits, is stopped and told to send. */
static void tell_and_stop(void)
{
	OK((int)ptrace(PTRACE_SEIZE, test.other.pid, NULL, NULL));
	OK((int)ptrace(PTRACE_INTERRUPT, test.other.pid, NULL, NULL));
	expect_stop();
	assert_int_equal(send(test.other.socket, "g", 1, 0), 1);
}

static void let_go(struct counts *counts)
{
	char byte;

	OK((int)ptrace(PTRACE_DETACH, test.other.pid, NULL, NULL));
	wait_readable(test.other.socket, "the child's send");
	assert_int_equal(recv(test.other.socket, &byte, 1, 0), 1);
	while (counts->of_child == 0)
		take_one(counts);
}

TEST(test_peer_stopped_anywhere_holds_no_other_up, setup, teardown)
{
	struct counts counts = {0};
	int steps = 0, stops = 0;

	tell_and_stop(); /* once, so that the two are linked and all functions are bound */
	let_go(&counts);
	memset(&counts, 0, sizeof(counts));
	tell_and_stop();
	while (!is_readable(test.other.socket) && steps < STEPS_MAX) {
		const int stride = 11 + stops * 31 % (STRIDE_MAX - 10);

		step(stride);
		steps += stride;
		serve_others(&counts);
		stops++;
	}
	print_message("stopped %d times in %d instructions\n", stops, steps);
	assert_true(steps < STEPS_MAX);
	let_go(&counts);
	EQUAL((counts.of_child, 1), (counts.received, stops));
}

/* This process's segment, as the device maps it. */
static struct segment *own_segment(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct segment *segment = NULL;
	unsigned long from;
	char line[512];

	assert_non_null(maps);
	while (segment == NULL && fgets(line, sizeof(line), maps) != NULL) {
		if (strstr(line, "/memfd:rpma-soft") == NULL || sscanf(line, "%lx", &from) != 1)
			continue;
		segment = (struct segment *)from; /* NOLINT */
		if (segment->magic != SEGMENT_MAGIC || segment->pid != getpid())
			segment = NULL;
	}
	fclose(maps);
	return segment;
}

static bool child_holds_qp(struct segment *segment)
{
	for (unsigned i = 0; i < 256; i++)
		if ((uint32_t)atomic_load(&segment->qp[i].lock.holder) == (uint32_t)test.other.pid)
			return true;
	return false;
}

/* The child is stopped while it executes its send on our queue pair. */
static void stop_inside(void)
{
	struct segment *segment = own_segment();
	struct counts first = {0};
	int steps = 0;

	assert_non_null(segment);
	tell_and_stop(); /* once, so that the two are linked */
	let_go(&first);
	tell_and_stop();
	while (!child_holds_qp(segment) && steps++ < STEPS_MAX)
		step(1);
	assert_true(steps < STEPS_MAX);
}

TEST(test_region_is_taken_back_while_a_stopped_peer_may_use_it, setup, teardown)
{
	struct counts counts = {0};

	stop_inside();
	serve_others(&counts);
	serve_others(&counts);
	let_go(&counts);
	assert_int_equal(counts.of_child, 1);
}

TEST(test_queue_pair_is_destroyed_while_a_stopped_peer_holds_it, setup, teardown)
{
	struct counts counts = {0};
	struct ibv_qp *qp;

	stop_inside();
	qp = test.end.qp;
	test.end.qp = NULL;
	OK(ibv_destroy_qp(qp));
	for (int i = 0; i < 8; i++)
		serve_others(&counts);
	OK((int)ptrace(PTRACE_DETACH, test.other.pid, NULL, NULL));
	for (int i = 0; i < 8; i++)
		serve_others(&counts);
}

static struct shared_qp *find_shared(struct segment *segment, uint32_t qp_num)
{
	unsigned i = 0;

	while (i < SEGMENT_QPS && atomic_load(&segment->qp[i].qpn) != qp_num)
		i++;
	assert_true(i < SEGMENT_QPS);
	return &segment->qp[i];
}

/* The child has taken a receive when the queue pair is destroyed, and completes it then. */
TEST(test_destroyed_queue_pair_leaves_no_completion, setup, teardown)
{
	struct segment *segment = own_segment();
	const struct shared_qp *shared = find_shared(segment, test.end.qp->qp_num);
	struct shared_ring *receives = &segment->srq[shared->srq].rq;
	struct shared_cq *cq = &segment->cq[shared->recv_cq];
	const uint32_t taken = atomic_load(&receives->tail), pushed = atomic_load(&cq->head);
	struct ibv_qp *qp = test.end.qp;

	stop_inside();
	while (atomic_load(&receives->tail) == taken)
		step(1);
	test.end.qp = NULL;
	OK(ibv_destroy_qp(qp));
	while (child_holds_qp(segment))
		step(1);
	assert_int_equal(atomic_load(&cq->head), pushed + 1);
	for (double until = deadline(); atomic_load(&cq->tail) != pushed + 1;)
		wait_a_little(until, "the completion to go");
	OK((int)ptrace(PTRACE_DETACH, test.other.pid, NULL, NULL));
}

/* The queue pair goes to ERR and back, as when the program gives the peer up. */
TEST(test_queue_pair_fails_while_a_stopped_peer_holds_it, setup, teardown)
{
	struct counts counts = {0};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	stop_inside();
	OK(ibv_modify_qp(test.end.qp, &attr, IBV_QP_STATE));
	assert_int_equal(end_state(&test.end), IBV_QPS_ERR);
	attr.qp_state = IBV_QPS_RESET;
	FAILS(EBUSY, ibv_modify_qp(test.end.qp, &attr, IBV_QP_STATE));
	serve_others(&counts);
	OK((int)ptrace(PTRACE_DETACH, test.other.pid, NULL, NULL));
	for (double until = deadline(); ibv_modify_qp(test.end.qp, &attr, IBV_QP_STATE) != 0;)
		wait_a_little(until, "the queue pair");
}

/* --- a peer that is killed when it has written the completion, before its event is there --- */

static bool is_written(struct segment *segment, const struct shared_cq *cq, uint32_t position)
{
	const struct shared_slot *ring = segment_at(segment, cq->offset);

	return atomic_load(&ring[position & (cq->slots - 1)].use) ==
	       ((uint64_t)position << 32 | SLOT_FULL);
}

static bool is_disarmed(struct segment *segment, const struct shared_cq *cq, uint32_t position)
{
	return atomic_load(&cq->armed) == ARM_NONE;
}

static bool is_counted(struct segment *segment, const struct shared_cq *cq, uint32_t position)
{
	return atomic_load(&cq->events) == 1;
}

typedef bool reached_fn(struct segment *segment, const struct shared_cq *cq, uint32_t position);

/* The child is stopped where it has got that far. */
static void stop_at(reached_fn *reached)
{
	struct segment *segment = own_segment();
	const struct shared_cq *cq =
		&segment->cq[find_shared(segment, test.end.qp->qp_num)->recv_cq];
	struct counts first = {0};
	uint32_t position;

	tell_and_stop(); /* once, so that the two are linked */
	let_go(&first);
	position = atomic_load(&cq->head);
	OK(ibv_req_notify_cq(test.end.cq, 0));
	tell_and_stop();
	while (!reached(segment, cq, position)) {
		assert_false(is_readable(test.other.socket));
		step(1);
	}
	assert_false(is_readable(test.end.channel->fd));
}

/* The fd is readable, so it does not block. */
static void take_event(void)
{
	struct ibv_cq *of;
	void *context;

	wait_readable(test.end.channel->fd, "the event");
	OK(fcntl(test.end.channel->fd, F_SETFL, O_NONBLOCK));
	OK(ibv_get_cq_event(test.end.channel, &of, &context));
	assert_ptr_equal(of, test.end.cq);
	ibv_ack_cq_events(of, 1);
}

static void kill_once(reached_fn *reached)
{
	stop_at(reached);
	OK(kill(test.other.pid, SIGKILL));
	take_event();
	EXPECT_WC(test.end.cq, 7, IBV_WC_SUCCESS);
}

TEST(test_completion_of_a_killed_peer_has_its_event, setup, teardown)
{
	kill_once(is_written);
}

TEST(test_event_that_a_killed_peer_was_about_to_count_comes, setup, teardown)
{
	kill_once(is_disarmed);
}

TEST(test_event_that_a_killed_peer_had_counted_comes, setup, teardown)
{
	kill_once(is_counted);
}

/* --- a peer that was only slow while another one died --- */

static struct other second;

static int setup_two(void **state)
{
	second = other_start(live);
	return setup(state);
}

/* Links to the second, which is killed then. */
static void lose_second(void)
{
	const struct end_options options = end_defaults();
	struct end end = {0};

	end_open(&end, &options, -1);
	connect_ends(second.socket, &end);
	end_recv(&end, 7, 0, 64);
	assert_int_equal(send(second.socket, "g", 1, 0), 1);
	EXPECT_WC(end.cq, 7, IBV_WC_SUCCESS);
	other_kill(&second);
	end_close(&end);
}

/* It counted its event, and the token comes when the event has been given: no reader may block. */
TEST(test_token_that_comes_late_is_an_event, setup_two, teardown)
{
	struct counts counts = {0};

	stop_at(is_counted);
	lose_second();
	take_event();
	EXPECT_WC(test.end.cq, 7, IBV_WC_SUCCESS);
	post_receive();
	counts.of_child = 1;
	let_go(&counts);
	take_event();
	assert_false(is_readable(test.end.channel->fd));
}
