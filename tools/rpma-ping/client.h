/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client.h -- the client of one host: the steps up to the first ping, and all that
 * is known of it. pings.c sends the pings, hosts.c has all the clients.
 */
#pragma once

#include <stdbool.h>

#include "common/rdma/dial.h"
#include "common/rdma/region.h"
#include "diagnosis.h"
#include "options.h"
#include "pattern.h"
#include "ping.h"

/*
 * SIGQUIT asks for the statistics so far, as it does of ping(8). The handler wakes every client:
 * each has a descriptor of its own, as it prints for its host alone.
 */
struct status_watch {
	int fd; /* readable: status_woken() is due */
	unsigned seen;
};

/* Before status_catch(), of OPTIONS_HOSTS clients at most. */
void status_catch(void);
/* True if SIGQUIT came since the last time. */
bool status_asked(struct status_watch *watch);
/* The same after a sleep that the descriptor ended. */
bool status_woken(struct status_watch *watch);

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

/*
 * The pings of one client, one after the other: until the count, the deadline counted from
 * begun_ns, a signal (-ECANCELED), or a ping after which there can be no other, which is
 * diagnosed. -EPIPE: standard output is gone.
 */
int pings_send(struct client *client, uint64_t begun_ns);

/* Pings all the hosts at once, each in a thread of its own. Gives the exit code. */
int hosts_ping(const struct options *options, const struct steps *steps);
