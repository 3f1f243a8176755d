/* SPDX-License-Identifier: BSD-3-Clause */
/* other.h -- another process with an end of its own: a child of this one, with a socket to it. */
#pragma once

#include <sys/types.h>

#include "tests/device/end.h"

struct other {
	pid_t pid;
	int socket;
};

/* Runs `live` in the child, which ends with it, by a signal or with this process. */
struct other other_start(void (*live)(int fd));
/* SIGKILL, and its socket is closed. */
void other_kill(const struct other *other);

/* Each of these is called by both, with their ends of the socket. */
void say_ready(int fd);
void wait_ready(int fd);
void swap_addresses(int fd, const struct end *end, struct end_address *other);
/* The two ends are connected, to RTS. */
void connect_ends(int fd, struct end *end);
