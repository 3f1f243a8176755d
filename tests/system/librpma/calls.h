/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.h -- what the cases of rpma_calls share: targets, which are processes of their own, and
 * connections to them.
 *
 * The memory of a target is shared with the client, so that the client can look at it, whatever
 * becomes of the target.
 */
#pragma once

#include <librpma.h>
#include <sys/types.h>

#include "tests/vm/session.h"

#define MEMORY_BYTES ((size_t)1 << 20)
#define TARGETS_MAX  2

/* An option of a connection and its value. */
struct option {
	enum rpma_conn_option option;
	uint32_t value;
};
#define NUM_OPTIONS(options) (sizeof(options) / sizeof((options)[0]))

struct target {
	unsigned char *memory; /* MEMORY_BYTES, of both processes */
	int socket;	       /* the other process has the other end */
	pid_t process;
	char port[8];
};

struct calls {
	const char *addr;
	enum rpma_flush_method method; /* the client's connections flush so */
	struct target target[TARGETS_MAX];
};

/* The client's end of a connection. */
struct client {
	struct rpma_peer *peer;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *dst;
	struct rpma_mr_local *mr; /* MEMORY_BYTES, for all uses */
	unsigned char *memory;
};

/* A request to the target, with these options; the error of rpma_conn_req_new(). */
int client_request(const struct calls *c, struct client *client, const struct target *target,
		   const struct option *options, size_t count, struct rpma_conn_req **req);
/* Connected. The peer may be one that is there already. */
void client_open(const struct calls *c, struct client *client, const struct target *target,
		 const struct option *options, size_t count);
/* Disconnects first if the connection stands. */
void client_close(struct client *client, bool stands);
/* The next completion, which is a success. */
struct ibv_wc client_completion(struct client *client);
/* All that was written is in the target's memory. */
void client_flush(struct client *client);

/* Listens at calls->addr, tells the client the port, accepts all that come until it closes its
 * socket. */
void target_serve(const struct calls *c, struct target *target);

/* The cases: 0, or 77 where the device cannot do it. */
struct test_case {
	const char *name;
	int (*client)(struct calls *c);
	int targets; /* processes of their own */
};

int flushes_have_one_completion(struct calls *c);
int killed_target_loses_nothing_reported(struct calls *c);
int broken_connection_reports_the_truth(struct calls *c);
int connections_share_a_queue(struct calls *c);
int random_sequences_are_as_modelled(struct calls *c);
int overrun_queue_is_reported(struct calls *c);
