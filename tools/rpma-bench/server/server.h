/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h -- rpma-bench server. */
#pragma once

#include "common/base/failure.h"
#include "tools/rpma-bench/options/options.h"

/* A server's report to the process that waits for it. */
struct server_ready {
	uint16_t port; /* 0: it failed */
	struct failure failure;
};

/*
 * Serves until a signal, or the end of one client with --once; gives the exit
 * code. ready_fd -1: the port is printed; else a struct server_ready is written.
 */
int server_run(const struct options *options, int ready_fd);
