/* SPDX-License-Identifier: BSD-3-Clause */
/* other.c -- see other.h. */
#include "other.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct other other_start(void (*live)(int fd))
{
	struct other other;
	int fds[2];

	OK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds));
	other.pid = fork();
	assert_true(other.pid >= 0);
	if (other.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		live(fds[1]);
		_exit(0);
	}
	close(fds[1]);
	other.socket = fds[0];
	return other;
}

void other_kill(const struct other *other)
{
	kill(other->pid, SIGKILL);
	assert_int_equal(waitpid(other->pid, NULL, 0), other->pid);
	close(other->socket);
}

void say_ready(int fd)
{
	assert_int_equal(send(fd, "r", 1, 0), 1);
}

void wait_ready(int fd)
{
	char byte;

	wait_readable(fd, "the other process");
	assert_int_equal(recv(fd, &byte, 1, 0), 1);
}

void swap_addresses(int fd, const struct end *end, struct end_address *other)
{
	const struct end_address own = end_address(end);

	assert_int_equal(send(fd, &own, sizeof(own), 0), sizeof(own));
	wait_readable(fd, "the other's address");
	assert_int_equal(recv(fd, other, sizeof(*other), 0), sizeof(*other));
}

void connect_ends(int fd, struct end *end)
{
	struct end_address other;

	swap_addresses(fd, end, &other);
	end_to_rtr(end, &other);
	end_to_rts(end);
	say_ready(fd); /* a send to an end still in INIT is lost at last */
	wait_ready(fd);
}
