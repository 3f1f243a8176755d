/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_vanishing.c -- a process that ends while this one links with it: whatever step finds out,
 * the queue pair fails, as it does when the process ends later. One that only receives learns of it
 * in no other way.
 *
 * The process is this program itself.
 */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_peer.h"
#include "soft_device/process/segment.h"

static struct end own;
static struct fake_listener other;

static int setup(void **unused)
{
	const struct end_options options = end_defaults();

	(void)unused;
	memset(&own, 0, sizeof(own));
	end_open(&own, &options, -1);
	other = fake_peer_listen();
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	end_close(&own);
	close(other.tcp);
	close(other.unix_fd);
	return 0;
}

/* Our queue pair, with a receive, to one of the other process. */
static void begin(void)
{
	struct ibv_sge sge = {(uintptr_t)own.memory, 64, own.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1}, *bad;
	struct end_address to = end_address(&own);

	to.qp_num = (uint32_t)other.port << 8 | 1;
	OK(ibv_post_recv(own.qp, &wr, &bad));
	end_to_rtr(&own, &to);
	end_to_rts(&own);
}

static void expect_failed(void)
{
	EXPECT_WC(own.cq, 7, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(end_state(&own), IBV_QPS_ERR);
}

/* The kernel names the process that listened last. */
TEST(test_before_the_user_of_the_process_is_looked_up, setup, teardown)
{
	const pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(listen(other.unix_fd, 1) != 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	begin();
	expect_failed();
}

static int make_segment(void)
{
	static const uint64_t front[] = {SEGMENT_MAGIC, SEGMENT_LAYOUT, SEGMENT_BYTES,
					 FAKE_IDENTITY};
	const int fd = memfd_create("segment", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	_Static_assert(offsetof(struct segment, identity) == 3 * sizeof(front[0]), "the fourth");
	assert_true(fd >= 0);
	OK(ftruncate(fd, (off_t)SEGMENT_BYTES));
	OK(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	assert_int_equal(pwrite(fd, front, sizeof(front), 0), sizeof(front));
	return fd;
}

/* A handshake message with our segment, and memory to try, which has this. */
static void show_segment(int fd, uint64_t content)
{
	static uint64_t probe;
	const int fds[2] = {make_segment(), eventfd(0, EFD_CLOEXEC)};
	struct wire_handshake handshake = {
		.layout = SEGMENT_LAYOUT, .identity = FAKE_IDENTITY, .probe = (uintptr_t)&probe};
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
	struct iovec part = {bytes, sizeof(bytes)};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(fds))];
	} control = {.header = {.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS,
				.cmsg_len = CMSG_LEN(sizeof(fds))}};
	const struct msghdr message = {.msg_iov = &part,
				       .msg_iovlen = 1,
				       .msg_control = control.room,
				       .msg_controllen = sizeof(control.room)};
	struct stat status;

	probe = content;
	OK(stat("/proc/self/ns/pid", &status));
	handshake.pid_namespace = (uint64_t)status.st_ino;
	wire_put_handshake(bytes, &handshake);
	memcpy(CMSG_DATA(&control.header), fds, sizeof(fds));
	assert_int_equal(sendmsg(fd, &message, MSG_NOSIGNAL), sizeof(bytes));
	close(fds[0]);
	close(fds[1]);
}

/* A later message finds a closed socket, and over TCP no listener. */
static void try_memory(uint64_t content)
{
	int fd;

	begin();
	fd = fake_peer_meet(other.unix_fd);
	OK(shutdown(fd, SHUT_RD));
	close(other.tcp);
	other.tcp = -1;
	show_segment(fd, content);
	expect_failed();
	close(fd);
}

TEST(test_before_its_memory_is_tried, setup, teardown)
{
	try_memory(0);
}

TEST(test_after_its_memory_was_tried, setup, teardown)
{
	try_memory(FAKE_IDENTITY);
}

TEST(test_and_another_one_takes_its_port, setup, teardown)
{
	struct wire_handshake handshake = {.identity = FAKE_IDENTITY, .token = "answer"};
	int unix_fd, fd;

	begin();
	unix_fd = fake_peer_meet(other.unix_fd);
	fake_peer_say(unix_fd, &handshake);
	fd = fake_peer_meet(other.tcp);
	handshake.identity++;
	fake_peer_say(fd, &handshake);
	expect_failed();
	close(unix_fd);
	close(fd);
}
