/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client.h -- the client of one host: the steps up to the first ping, and all that
 * is known of it. pings.c sends the pings, hosts.c has all the clients.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include "client_memory.h"
#include "common/rdma/dial.h"
#include "common/rdma/region.h"
#include "diagnosis.h"
#include "options.h"
#include "ping.h"
#include "stats.h"
#include "status.h"

/* All that the screen and the document tell. */
struct client {
	const struct options *options;
	const char *host;
	struct timespec started;
	struct steps steps;
	struct dial dial;
	struct connection *connection;
	struct handshake_reply reply;
	struct client_memory memory;
	struct region_remote region; /* the server's; its size is 0: not known */
	bool native_only;	     /* --expect-persistent holds for native flushes only */
	struct ping ping;
	struct stats stats;
	struct stats *by_size; /* owned, for each of the options' sizes; NULL: there is one */
	struct status_watch status;
	uint64_t pings_ns; /* from the first to the last */
	struct diagnosis diagnosis;
	bool told; /* the diagnosis is on stderr */
	int exit_code;
};

int client_open(struct client *client, const struct options *options, const char *host,
		const struct steps *steps);
/* The first steps, up to the device; may start the tool again. */
int client_find(struct client *client);
/* The others, up to the first ping. */
int client_connect(struct client *client);
/* Takes the failure that is stored; the report of the ping that failed, or NULL. */
void client_diagnose(struct client *client, const char *step, const struct ping_report *report);
/* Disconnects; what is known stays until client_close(). */
void client_leave(struct client *client);
void client_close(struct client *client);

#endif /* CLIENT_H */
