/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_hostile.c -- a peer that connects to the device and is not one of ours,
 * or misbehaves, is disconnected, and others do not notice: after each test a
 * new connection of the device to itself, over its sockets, is made and used.
 *
 * The port is in the number of every queue pair.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/monotonic.h"
#include "fake_peer.h"
#include "tests/device/pair.h"

#define GRACE_NS UINT64_C(450000000) /* an end makes a queue pair fail sooner */
#define CROWD	 300		     /* more than the device listens to at a time */

static struct end target;

static int setup(void **state)
{
	const struct end_options options = end_defaults();

	end_open(&target, &options, -1);
	return setup_nothing(state);
}

/* The device still meets others. */
static int teardown(void **state)
{
	const struct end_options options = end_defaults();

	pair_make(&options, &options);
	done(work(IBV_WR_RDMA_WRITE, 0, 4096, 0));
	end_close(&target);
	return teardown_pair(state);
}

static void expect_hang_up(int fd)
{
	unsigned char byte;

	while (fake_peer_receive(fd, &byte, 1))
		;
	close(fd);
}

static struct request write_request(void)
{
	return (struct request){.op = REQUEST_WRITE,
				.rkey = target.mr->rkey,
				.length = 8,
				.remote_addr = (uintptr_t)target.memory,
				.src_qpn = 0x123456,
				.src_gid = target.gid};
}

static size_t put_write(unsigned char bytes[WIRE_REQUEST_START + 8], uint32_t number, uint32_t qpn)
{
	const struct request request = write_request();

	wire_put_request(bytes, number, 0, &target.gid, qpn, &request);
	memset(bytes + WIRE_REQUEST_START, 0xee, 8);
	return WIRE_REQUEST_START + 8;
}

/* A message is sent after one of these. */
enum met { NOTHING, HANDSHAKE, CARRY };

TEST(test_messages_out_of_place_are_hung_up_on, setup, teardown)
{
	unsigned char other_version[WIRE_HEADER_BYTES], second[WIRE_HANDSHAKE_MESSAGE];
	unsigned char early[WIRE_REQUEST_START + 8], unsound[sizeof(early)];
	unsigned char answer[WIRE_ANSWER_START];
	const struct {
		enum met met;
		const void *bytes;
		size_t length;
	} cases[] = {
		{NOTHING, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 35},
		{NOTHING, other_version, sizeof(other_version)},
		{NOTHING, early, sizeof(early)},
		{HANDSHAKE, early, sizeof(early)},
		{HANDSHAKE, second, sizeof(second)},
		{CARRY, unsound, sizeof(unsound)},
		{CARRY, answer, sizeof(answer)}, /* to nothing */
	};

	wire_put_header(other_version, WIRE_HANDSHAKE, WIRE_HANDSHAKE_BYTES);
	other_version[5]++;
	wire_put_handshake(second, &(struct wire_handshake){.identity = 1});
	put_write(early, 0, target.qp->qp_num);
	put_write(unsound, 0, target.qp->qp_num);
	unsound[WIRE_HEADER_BYTES + 48] = REQUEST_OPS; /* after numbers, QPNs and GIDs */
	wire_put_answer(answer, &(struct wire_answer){.number = 0});
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		const int fd = fake_peer_connect(target.qp->qp_num);

		print_message("case %zu\n", i);
		if (cases[i].met != NOTHING)
			fake_peer_handshake(fd, target.qp->qp_num);
		if (cases[i].met == CARRY)
			fake_peer_send_carry(fd);
		fake_peer_send(fd, cases[i].bytes, cases[i].length);
		expect_hang_up(fd);
	}
}

TEST(test_request_for_nobody_is_absent, setup, teardown)
{
	const int fd = fake_peer_connect(target.qp->qp_num);
	unsigned char bytes[WIRE_REQUEST_START + 8];

	fake_peer_handshake(fd, target.qp->qp_num);
	fake_peer_send_carry(fd);
	for (uint32_t number = 0; number < 3; number++) {
		struct wire_answer answer;

		fake_peer_send(fd, bytes, put_write(bytes, number, number == 0 ? 0 : 0xffffff));
		answer = fake_peer_receive_answer(fd);
		EQUAL((answer.number, number), (answer.outcome.kind, OUTCOME_ABSENT));
	}
	close(fd);
}

/* It stays open while the device meets others (teardown). */
TEST(test_half_a_message_holds_nobody_up, setup, teardown)
{
	const struct request request = {.op = REQUEST_WRITE, .length = SOFT_MAX_MESSAGE};
	const int fd = fake_peer_connect(target.qp->qp_num);
	unsigned char bytes[WIRE_REQUEST_START];

	fake_peer_handshake(fd, target.qp->qp_num);
	fake_peer_send_carry(fd);
	wire_put_request(bytes, 0, 0, &target.gid, target.qp->qp_num, &request);
	fake_peer_send(fd, bytes, sizeof(bytes));
}

TEST(test_crowd_that_says_nothing_keeps_nobody_out, setup, teardown)
{
	for (int i = 0; i < CROWD; i++)
		fake_peer_connect(target.qp->qp_num); /* and left open */
}

/* Good requests with a few bytes changed, the same on every run. */
TEST(test_mutated_requests_are_survived, setup, teardown)
{
	uint64_t random = 1;
	int fd = -1;

	for (uint32_t i = 0; i < 3000; i++) {
		unsigned char bytes[WIRE_REQUEST_START + 8];
		const size_t length = put_write(bytes, i, target.qp->qp_num);

		for (int changes = 0; changes < 3; changes++) {
			const size_t at = test_random(&random) % length;

			bytes[at] ^= (unsigned char)test_random(&random);
		}
		if (fd < 0) {
			fd = fake_peer_connect(target.qp->qp_num);
			fake_peer_handshake(fd, target.qp->qp_num);
			fake_peer_send_carry(fd);
		}
		if (send(fd, bytes, length, MSG_NOSIGNAL) != (ssize_t)length || i % 16 == 15) {
			close(fd);
			fd = -1;
		}
	}
}

TEST(test_nonsense_on_the_unix_socket_is_hung_up_on, setup, teardown)
{
	const struct wire_handshake handshake = {.identity = 0x5417};
	unsigned char carry[WIRE_HEADER_BYTES], cut[WIRE_HANDSHAKE_MESSAGE];
	unsigned char large[8192] = {0};
	const struct {
		const void *bytes;
		size_t length;
	} cases[] = {{"x", 1}, {carry, sizeof(carry)}, {cut, sizeof(cut) - 1}, {large, 8192}};

	wire_put_header(carry, WIRE_CARRY, 0);
	wire_put_handshake(cut, &handshake);
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		const int fd = fake_peer_connect_unix(target.qp->qp_num, NULL);

		fake_peer_send(fd, cases[i].bytes, cases[i].length);
		expect_hang_up(fd);
	}
}

/* The identity that the process with this queue pair tells. */
static uint64_t identity_at(uint32_t qp_num)
{
	const struct wire_handshake own = {.identity = FAKE_IDENTITY};
	const int unix_fd = fake_peer_connect_unix(qp_num, &own);
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
	struct wire_handshake handshake;

	assert_true(fake_peer_receive(unix_fd, bytes, sizeof(bytes)));
	OK(wire_get_handshake(bytes + WIRE_HEADER_BYTES, WIRE_HANDSHAKE_BYTES, &handshake));
	close(unix_fd);
	return handshake.identity;
}

/* It is admitted at the unix socket as one that shares memory, and hangs up. */
static void come_and_go_at_the_unix_socket(uint64_t identity)
{
	const struct wire_handshake handshake = {.identity = identity, .token = {1}};
	const int unix_fd = fake_peer_connect_unix(w.near.qp->qp_num, &handshake);
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];

	assert_true(fake_peer_receive(unix_fd, bytes, sizeof(bytes)));
	fake_peer_send_carry(unix_fd);
	assert_true(fake_peer_receive(unix_fd, bytes, WIRE_HEADER_BYTES + WIRE_CHANNEL_BYTES));
	close(unix_fd);
}

/* The same as one whose operations come over TCP: one is answered. */
static void come_and_go_over_tcp(uint64_t identity)
{
	const struct wire_handshake handshake = {.identity = identity, .token = {2}};
	const struct request nothing = {.op = REQUEST_WRITE};
	const int unix_fd = fake_peer_connect_unix(w.near.qp->qp_num, &handshake);
	const int fd = fake_peer_connect(w.near.qp->qp_num);
	unsigned char bytes[WIRE_REQUEST_START];

	assert_true(fake_peer_receive(unix_fd, bytes, WIRE_HANDSHAKE_MESSAGE));
	close(unix_fd);
	wire_put_handshake(bytes, &handshake);
	fake_peer_send(fd, bytes, WIRE_HANDSHAKE_MESSAGE);
	assert_true(fake_peer_receive(fd, bytes, WIRE_HANDSHAKE_MESSAGE));
	fake_peer_send_carry(fd);
	wire_put_request(bytes, 0, 0, &w.near.gid, 0, &nothing);
	fake_peer_send(fd, bytes, sizeof(bytes));
	fake_peer_receive_answer(fd);
	close(fd);
}

/* A third process of the same user: that it goes is not the end of whom it calls itself. */
static void expect_no_end(void (*come_and_go)(uint64_t identity))
{
	const uint64_t far = identity_at(w.far.qp_num);
	int status;
	pid_t pid;

	done(work(IBV_WR_RDMA_WRITE, 0, 4096, 0)); /* the two have met */
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(WAIT_S);
		come_and_go(far);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_not_equal(identity_at(w.near.qp->qp_num), far); /* its end is noticed by now */
	for (uint64_t until = monotonic_ns() + GRACE_NS; monotonic_ns() < until;)
		done(work(IBV_WR_RDMA_WRITE, 0, 4096, 0));
	assert_int_equal(end_state(&w.near), IBV_QPS_RTS);
}

TWO_PROCESSES_TEST(test_stolen_identity_ends_no_peer_at_the_unix_socket)
{
	expect_no_end(come_and_go_at_the_unix_socket);
}

TWO_PROCESSES_TEST(test_stolen_identity_ends_no_peer_over_tcp)
{
	expect_no_end(come_and_go_over_tcp);
}

/* All that the partner's requests have, in one of another process. It is counted: see CMakeLists.
 */
TWO_PROCESSES_TEST(test_right_numbers_of_another_identity_change_nothing)
{
	const struct request request = {.op = REQUEST_WRITE,
					.rkey = w.near.mr->rkey,
					.length = 8,
					.remote_addr = (uintptr_t)w.near.memory,
					.src_qpn = w.far.qp_num,
					.src_gid = w.far.gid};
	unsigned char bytes[WIRE_REQUEST_START + 8] = {0}, before[8];
	int fd;

	done(work(IBV_WR_RDMA_WRITE, 0, 4096, 0)); /* the two have met */
	memcpy(before, w.near.memory, sizeof(before));
	fd = fake_peer_connect(w.near.qp->qp_num);
	fake_peer_handshake(fd, w.near.qp->qp_num);
	fake_peer_send_carry(fd);
	wire_put_request(bytes, 0, 0, &w.near.gid, w.near.qp->qp_num, &request);
	fake_peer_send(fd, bytes, sizeof(bytes));
	assert_int_equal(fake_peer_receive_answer(fd).outcome.kind, OUTCOME_ABSENT);
	assert_memory_equal(w.near.memory, before, sizeof(before));
	assert_int_equal(end_state(&w.near), IBV_QPS_RTS);
	done(work(IBV_WR_RDMA_WRITE, 0, 4096, 0));
	close(fd);
}
