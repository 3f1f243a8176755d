/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client.h -- the course of a client: the steps up to the first ping, the pings,
 * and what is known at the end.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include "client_memory.h"
#include "diagnosis.h"
#include "options.h"
#include "ping.h"
#include "stats.h"
#include "tools/common/rdma/dial.h"
#include "tools/common/rdma/region.h"

/* All that the screen and the document tell. */
struct client {
	const struct options *options;
	struct timespec started;
	struct steps steps;
	struct dial dial;
	struct link *link;
	struct greeting_reply reply;
	struct client_memory memory;
	struct region_remote region; /* the server's; its size is 0: not known */
	struct ping ping;
	struct stats stats;
	uint64_t pings_ns; /* from the first to the last */
	struct diagnosis diagnosis;
	int exit_code;
};

/* Gives the exit code. */
int client_run(const struct options *options, const struct steps *steps);

#endif /* CLIENT_H */
