/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_death.c -- a partner that is killed, whatever else holds what it held, one that
 * answers and leaves, one that refuses and tells what is not so, or half of it, one that is not let
 * in, and a region that goes in the middle of a write: what is done of the other end's work is
 * done, and the rest is flushed or fails.
 *
 * The partner is a child of this program with a device of its own, or this program itself.
 */
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_peer.h"
#include "other.h"

/* Takes a message; has a child that outlives it, until the socket ends. */
static void live_with_child(int fd)
{
	const struct end_options options = end_defaults();
	struct end end = {0};
	char byte;

	end_open(&end, &options, -1);
	connect_ends(fd, &end);
	end_recv(&end, 7, 0, 64);
	EXPECT_WC(end.cq, 7, IBV_WC_SUCCESS);
	if (fork() == 0) {
		say_ready(fd);
		while (recv(fd, &byte, 1, 0) > 0)
			;
		_exit(0);
	}
	pause();
}

TEST(test_child_of_the_partner_does_not_hide_its_death)
{
	const struct other partner = other_start(live_with_child);
	const struct end_options options = end_defaults();
	struct end end = {0};

	end_open(&end, &options, -1);
	connect_ends(partner.socket, &end);
	end_recv(&end, 7, 0, 64);
	end_send(&end, end.qp, 9, 0);
	EXPECT_WC(end.cq, 9, IBV_WC_SUCCESS);
	wait_ready(partner.socket); /* the child lives, until the socket ends */
	kill(partner.pid, SIGKILL);
	assert_int_equal(waitpid(partner.pid, NULL, 0), partner.pid);
	EXPECT_WC(end.cq, 7, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(end_state(&end), IBV_QPS_ERR);
	end_close(&end);
	close(partner.socket);
}

/* Sends to the process that has the address when told to, and tells how that ended. */
static void live_and_send(int fd)
{
	const struct end_options options = end_defaults();
	struct end end = {0};
	uint32_t status;

	end_open(&end, &options, -1);
	connect_ends(fd, &end);
	end_send(&end, end.qp, 9, 0);
	status = next_wc(end.cq).status;
	assert_int_equal(send(fd, &status, sizeof(status), 0), sizeof(status));
	pause();
}

/* This program as a process at the other end: both connections with the partner, whose address
 * comes on `fd`. */
struct fake_peer {
	int to;	  /* our requests, their answers */
	int from; /* the partner's */
	struct end_address own;
	struct end_address other;
};

static struct fake_peer be_fake_peer(int fd)
{
	struct request nothing = {.op = REQUEST_WRITE};
	struct end_address own = {0}, other;
	unsigned char bytes[WIRE_REQUEST_START];
	struct fake_peer peer;
	const struct fake_listener listener = fake_peer_listen();

	wait_readable(fd, "the partner's address");
	assert_int_equal(recv(fd, &other, sizeof(other), 0), sizeof(other));
	peer.to = fake_peer_connect(other.qp_num);
	fake_peer_handshake(peer.to, other.qp_num);
	fake_peer_send_carry(peer.to);
	wire_put_request(bytes, 0, 0, &other.gid, 0, &nothing);
	fake_peer_send(peer.to, bytes, sizeof(bytes));
	fake_peer_receive_answer(peer.to); /* so the partner serves this connection */
	own.gid = other.gid;
	own.qp_num = (uint32_t)listener.port << 8 | 1;
	assert_int_equal(send(fd, &own, sizeof(own), 0), sizeof(own));
	peer.own = own;
	peer.other = other;
	peer.from = fake_peer_accept(&listener);
	assert_true(fake_peer_receive(peer.from, bytes, WIRE_HEADER_BYTES)); /* its carry */
	close(listener.tcp);
	close(listener.unix_fd);
	return peer;
}

/* The partner does not run while we answer and end, and then sees the end first. */
TEST(test_answer_of_one_who_leaves_counts)
{
	const struct wire_answer answer = {.outcome.kind = OUTCOME_DONE};
	const struct other partner = other_start(live_and_send);
	struct fake_peer peer = be_fake_peer(partner.socket);
	unsigned char bytes[WIRE_REQUEST_START];
	uint32_t status;
	int stopped;

	wait_ready(partner.socket);
	say_ready(partner.socket);
	assert_true(fake_peer_receive(peer.from, bytes, sizeof(bytes)));
	OK(kill(partner.pid, SIGSTOP));
	assert_int_equal(waitpid(partner.pid, &stopped, WUNTRACED), partner.pid);
	assert_true(WIFSTOPPED(stopped));
	close(peer.to);
	wire_put_answer(bytes, &answer);
	fake_peer_send(peer.from, bytes, WIRE_ANSWER_START);
	close(peer.from);
	OK(kill(partner.pid, SIGCONT));
	wait_readable(partner.socket, "how the send ended");
	EQUAL((recv(partner.socket, &status, sizeof(status), 0), sizeof(status)),
	      (status, IBV_WC_SUCCESS));
	other_kill(&partner);
}

struct ending {
	uint32_t status;
	uint32_t vendor_err;
};

#define RKEY	0x301
#define ADDRESS 0x10000

/* Reads 8 bytes from the process that has the address, and tells how that ended. */
static void live_and_read(int fd)
{
	const struct end_options options = end_defaults();
	struct ibv_sge sge = {.length = 8};
	struct ibv_send_wr wr = {.wr_id = 9,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_READ,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {.rkey = RKEY, .remote_addr = ADDRESS}};
	struct ibv_send_wr *bad;
	struct end end = {0};
	struct ending ending;
	struct ibv_wc wc;

	end_open(&end, &options, -1);
	sge.addr = (uintptr_t)end.memory;
	sge.lkey = end.mr->lkey;
	connect_ends(fd, &end);
	OK(ibv_post_send(end.qp, &wr, &bad));
	wc = next_wc(end.cq);
	ending = (struct ending){wc.status, wc.vendor_err};
	assert_int_equal(send(fd, &ending, sizeof(ending), 0), sizeof(ending));
	pause();
}

/* Its connection ends with that, for it may do anything. */
TEST(test_answer_of_another_length_is_no_answer)
{
	const struct wire_answer answer = {.outcome.kind = OUTCOME_DONE, .bytes = 4};
	const struct other partner = other_start(live_and_read);
	const struct fake_peer peer = be_fake_peer(partner.socket);
	unsigned char bytes[WIRE_REQUEST_START + 8] = {0};
	struct ending ending;

	wait_ready(partner.socket);
	say_ready(partner.socket);
	assert_true(fake_peer_receive(peer.from, bytes, WIRE_REQUEST_START));
	wire_put_answer(bytes, &answer);
	fake_peer_send(peer.from, bytes, WIRE_ANSWER_START + 4);
	wait_readable(partner.socket, "how the read ended");
	EQUAL((recv(partner.socket, &ending, sizeof(ending), 0), sizeof(ending)),
	      (ending.status, IBV_WC_RETRY_EXC_ERR), (ending.vendor_err, 20));
	other_kill(&partner);
	close(peer.to);
	close(peer.from);
}

/* --- refusals over TCP, behind which a peer with checks tells of the region --- */

struct refused_read {
	struct other partner;
	struct fake_peer peer;
	unsigned char answer[WIRE_ANSWER_START + WIRE_REGION_BYTES];
};

/* The partner has asked for bytes, and we are about to refuse them. */
static void begin_refusal(struct refused_read *read, uint32_t bytes)
{
	const struct wire_answer answer = {.outcome = {.kind = OUTCOME_DONE,
						       .status = IBV_WC_REM_ACCESS_ERR,
						       .vendor_err = VENDOR_KEY_RANGE},
					   .bytes = bytes};
	const struct wire_region region = {.key = RKEY,
					   .pid = 1,
					   .access = IBV_ACCESS_REMOTE_READ,
					   .addr = ADDRESS,
					   .length = 4096,
					   .made_at = "main peer.c:3"};
	unsigned char request[WIRE_REQUEST_START];

	read->partner = other_start(live_and_read);
	read->peer = be_fake_peer(read->partner.socket);
	wait_ready(read->partner.socket);
	say_ready(read->partner.socket);
	assert_true(fake_peer_receive(read->peer.from, request, sizeof(request)));
	wire_put_answer(read->answer, &answer);
	wire_put_region(read->answer + WIRE_ANSWER_START, &region);
}

static void end_refusal(const struct refused_read *read, uint32_t status)
{
	struct ending ending;

	wait_readable(read->partner.socket, "how the read ended");
	EQUAL((recv(read->partner.socket, &ending, sizeof(ending), 0), sizeof(ending)),
	      (ending.status, status));
	other_kill(&read->partner);
	close(read->peer.to);
}

TEST(test_refusal_without_a_region)
{
	struct refused_read read;

	begin_refusal(&read, 0);
	fake_peer_send(read.peer.from, read.answer, WIRE_ANSWER_START);
	end_refusal(&read, IBV_WC_REM_ACCESS_ERR);
	close(read.peer.from);
}

/* The region that it tells of has the range that it refuses. */
TEST(test_refusal_that_contradicts_itself)
{
	struct refused_read read;

	begin_refusal(&read, WIRE_REGION_BYTES);
	fake_peer_send(read.peer.from, read.answer, sizeof(read.answer));
	end_refusal(&read, IBV_WC_REM_ACCESS_ERR);
	close(read.peer.from);
}

TEST(test_peer_that_ends_in_the_midst_of_a_refusal)
{
	struct refused_read read;

	begin_refusal(&read, WIRE_REGION_BYTES);
	fake_peer_send(read.peer.from, read.answer, WIRE_ANSWER_START + WIRE_REGION_BYTES / 2);
	close(read.peer.from);
	end_refusal(&read, IBV_WC_RETRY_EXC_ERR);
}

/* Its refusal is waited for, but others are served meanwhile. */
TEST(test_peer_that_stalls_in_the_midst_of_a_refusal)
{
	const size_t half = WIRE_ANSWER_START + WIRE_REGION_BYTES / 2;
	struct request nothing = {.op = REQUEST_WRITE};
	unsigned char bytes[WIRE_REQUEST_START];
	struct refused_read read;

	begin_refusal(&read, WIRE_REGION_BYTES);
	fake_peer_send(read.peer.from, read.answer, half);
	wire_put_request(bytes, 1, 0, &read.peer.other.gid, 0, &nothing);
	fake_peer_send(read.peer.to, bytes, sizeof(bytes));
	assert_int_equal(fake_peer_receive_answer(read.peer.to).number, 1);
	fake_peer_send(read.peer.from, read.answer + half, sizeof(read.answer) - half);
	end_refusal(&read, IBV_WC_REM_ACCESS_ERR);
	close(read.peer.from);
}

#define HALF (64 * 1024)
#define MARK 0xee

/* Deregisters its memory when the first half of a write is there, and looks at the other one. */
static void live_and_deregister(int fd)
{
	struct end_options options = end_defaults();
	struct end end = {0};

	options.memory_size = 2 * HALF;
	end_open(&end, &options, -1);
	memset(end.memory, 0, 2 * HALF);
	connect_ends(fd, &end);
	while (((volatile unsigned char *)end.memory)[HALF - 1] != MARK)
		sched_yield();
	OK(ibv_dereg_mr(end.mr));
	say_ready(fd);
	wait_ready(fd); /* the write is answered */
	for (size_t i = HALF; i < (size_t)2 * HALF; i++)
		assert_int_equal(end.memory[i], 0);
	say_ready(fd);
	pause();
}

/* A large write is placed as it comes, and the rest of it nowhere when the region is gone. */
TEST(test_region_goes_in_the_middle_of_a_write)
{
	static unsigned char bytes[WIRE_REQUEST_START + 2 * HALF];
	const struct other partner = other_start(live_and_deregister);
	const struct fake_peer peer = be_fake_peer(partner.socket);
	const struct request request = {.op = REQUEST_WRITE,
					.rkey = peer.other.rkey,
					.framing = IBV_MTU_1024,
					.length = 2 * HALF,
					.remote_addr = peer.other.memory,
					.src_qpn = peer.own.qp_num,
					.src_gid = peer.own.gid};
	struct wire_answer answer;

	wire_put_request(bytes, 1, 0, &peer.other.gid, peer.other.qp_num, &request);
	memset(bytes + WIRE_REQUEST_START, MARK, (size_t)2 * HALF);
	wait_ready(partner.socket);
	say_ready(partner.socket);
	fake_peer_send(peer.to, bytes, WIRE_REQUEST_START + HALF);
	wait_ready(partner.socket); /* half of it was there */
	fake_peer_send(peer.to, bytes + WIRE_REQUEST_START + HALF, HALF);
	answer = fake_peer_receive_answer(peer.to);
	EQUAL((answer.number, 1), (answer.outcome.kind, OUTCOME_DONE),
	      (answer.outcome.status, IBV_WC_REM_ACCESS_ERR));
	say_ready(partner.socket);
	wait_ready(partner.socket);
	other_kill(&partner);
	close(peer.to);
	close(peer.from);
}
