/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_death.c -- a partner that is killed, whatever else holds what it held, and one
 * that is not let in: the receives of the other end are flushed, or its sends fail.
 *
 * The partner is a child of this program with a device of its own.
 */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "end.h"

#define NOBODY 65534

struct partner_process {
	pid_t pid;
	int socket;
};

static void swap_addresses(int fd, struct end *end)
{
	const struct end_address own = end_address(end);
	struct end_address other;

	assert_int_equal(send(fd, &own, sizeof(own), 0), sizeof(own));
	wait_readable(fd, "the partner's address");
	assert_int_equal(recv(fd, &other, sizeof(other), 0), sizeof(other));
	end_to_rtr(end, &other);
	end_to_rts(end);
}

static void say_ready(int fd)
{
	assert_int_equal(send(fd, "r", 1, 0), 1);
}

static void wait_ready(int fd)
{
	char byte;

	wait_readable(fd, "the partner");
	assert_int_equal(recv(fd, &byte, 1, 0), 1);
}

static void post_recv(struct end *end)
{
	struct ibv_sge sge = {(uintptr_t)end->memory, 64, end->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	OK(ibv_post_recv(end->qp, &wr, &bad));
}

/* Runs `live` in a child, which ends by a signal or with _exit(). */
static struct partner_process start_partner(void (*live)(int fd))
{
	struct partner_process partner;
	int fds[2];

	OK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds));
	partner.pid = fork();
	assert_true(partner.pid >= 0);
	if (partner.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		live(fds[1]);
		_exit(0);
	}
	close(fds[1]);
	partner.socket = fds[0];
	return partner;
}

static void bury(const struct partner_process *partner)
{
	kill(partner->pid, SIGKILL);
	assert_int_equal(waitpid(partner->pid, NULL, 0), partner->pid);
}

/* Takes a message; has a child that outlives it, until the socket ends. */
static void live_with_child(int fd)
{
	const struct end_options options = end_defaults();
	struct end end = {0};
	char byte;

	end_open(&end, &options, -1);
	swap_addresses(fd, &end);
	post_recv(&end);
	EXPECT_WC(end.cq, 7, IBV_WC_SUCCESS);
	if (fork() == 0) {
		say_ready(fd);
		while (recv(fd, &byte, 1, 0) > 0)
			;
		_exit(0);
	}
	pause();
}

static void post_send(struct end *end)
{
	struct ibv_send_wr wr = {
		.wr_id = 9, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	OK(ibv_post_send(end->qp, &wr, &bad));
}

static void test_child_of_the_partner_does_not_hide_its_death(void **state)
{
	const struct partner_process partner = start_partner(live_with_child);
	const struct end_options options = end_defaults();
	struct end end = {0};

	end_open(&end, &options, -1);
	swap_addresses(partner.socket, &end);
	post_recv(&end);
	post_send(&end);
	EXPECT_WC(end.cq, 9, IBV_WC_SUCCESS);
	wait_ready(partner.socket); /* the child lives */
	bury(&partner);
	EXPECT_WC(end.cq, 7, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(end_state(&end), IBV_QPS_ERR);
	end_close(&end);
	close(partner.socket);
}

static void live_as_nobody(int fd)
{
	const struct end_options options = end_defaults();
	struct end end = {0};

	OK(setresgid(NOBODY, NOBODY, NOBODY));
	OK(setresuid(NOBODY, NOBODY, NOBODY));
	end_open(&end, &options, -1);
	post_recv(&end);
	swap_addresses(fd, &end);
	post_send(&end);
	EXPECT_WC(end.cq, 9, IBV_WC_RETRY_EXC_ERR);
	say_ready(fd);
	pause();
}

static void test_other_user_is_refused(void **state)
{
	const struct end_options options = end_defaults();
	struct partner_process partner;
	struct end end = {0};

	SKIP_UNLESS(geteuid() == 0, "only root can have a child of another user");
	partner = start_partner(live_as_nobody);
	end_open(&end, &options, -1);
	post_recv(&end);
	swap_addresses(partner.socket, &end);
	wait_ready(partner.socket); /* its send to us has failed */
	post_send(&end);
	EXPECT_WC(end.cq, 9, IBV_WC_RETRY_EXC_ERR);
	bury(&partner);
	end_close(&end);
	close(partner.socket);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_child_of_the_partner_does_not_hide_its_death),
	cmocka_unit_test(test_other_user_is_refused),
};

DEVICE_TESTS("links_death", tests)
