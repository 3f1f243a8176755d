/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_server.h -- the server: one region, one port, and the clients that use it.
 *
 * One thread does everything: it takes connections, persists what gpspm
 * clients ask for and answers, and sees who has left. It knows nothing of fio.
 */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct host_cfg {
	const struct settings *settings;
	const char *target; /* a spec as target_open() takes it */
	uint64_t offset;    /* where the region begins in it */
	uint64_t bytes;	    /* the region's size; 0: all from offset on */
	uint16_t depth;	    /* messages of a client at once, at least */
	bool (*stopped)(void *arg);
	void *arg;
};

struct host;

/* Maps the memory and listens; then clients may come. */
int host_open(struct host **host, const struct host_cfg *cfg);
/* Clients that are connected now, or about to be. */
unsigned host_clients(const struct host *host);

/*
 * Serves until all expected clients have come and gone, or it is stopped; then
 * those that are connected have a second to leave. 0, or -EIO with the
 * sentence when one of them went without saying so and did not come back.
 */
int host_serve(struct host *host);
void host_close(struct host **host);

#endif /* HOST_H */
