/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_server.h -- the server: one region, one port, and the clients that use it.
 *
 * One thread does everything: it takes connections, persists what gpspm
 * clients ask for and answers, and sees who has left. It knows nothing of fio.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct memory_server_cfg {
	const struct settings *settings;
	const char *target; /* a spec as target_open() takes it */
	uint64_t offset;    /* where the region begins in it */
	uint64_t bytes;	    /* the region's size; 0: all from offset on */
	uint16_t depth;	    /* messages of a client at once, at least */
	bool (*stopped)(void *arg);
	void *arg;
};

struct memory_server;

/* Maps the memory and listens; then clients may come. */
int memory_server_open(struct memory_server **memory_server, const struct memory_server_cfg *cfg);
/* Clients that are connected now, or about to be. */
unsigned memory_server_clients(const struct memory_server *memory_server);

/*
 * Serves until all expected clients have come and gone, or it is stopped; then
 * those that are connected have a second to leave. 0, or -EIO with the
 * error message when one of them went without saying so and did not come back.
 */
int memory_server_serve(struct memory_server *memory_server);
void memory_server_close(struct memory_server **memory_server);
