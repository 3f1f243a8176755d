/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server_fixture.h -- a server of the engine in a thread, and guests that speak
 * with it over the software device as far as a test wants them to.
 *
 * What the server prints on stderr is kept. Its clock can be put forward, so that
 * no test waits for a deadline.
 */
#ifndef HOST_WORLD_H
#define HOST_WORLD_H

#include "fio_engine/memory_server.h"
#include "tests/lib/test.h"
#include "tools/common/rdma/connection.h"

#define WORLD_BYTES (1u << 20) /* the region's size */

struct world_cfg {
	enum method method;
	bool poll;
	unsigned clients;
	const char *allow;  /* NULL: anybody */
	const char *target; /* NULL: as many bytes of DRAM */
	uint64_t offset;
	uint64_t bytes;
};

/* Starts the server; world_end() gives what host_serve() gave, and stops nothing. */
void world_begin(const struct world_cfg *cfg);
int world_end(void);
/* Tells the server to stop; world_end() is still to come. */
void world_stop(void);
/* What the server's failure said; of the last world_end(). */
const char *world_failure(void);
/* Until the server has said so: it has to, within seconds. */
void world_said(const char *part);
/* How often it has said so. */
unsigned world_count(const char *part);
/* The clock jumps for server and clients. */
void world_pass_ms(int64_t ms);
/* It stands still until the end of the test; not while the server polls. */
void world_hold_clock(void);
/* From now on nothing but an event wakes the server, soon enough for a test to pass. */
void world_only_events(void);
/* Until the server knows that so many are connected. */
void world_wait_served(unsigned count);
/* Until it takes so many for its clients: host_clients(). */
void world_wait_clients(unsigned count);

/* The teardown of a test: stops what it left running. */
int world_clear(void **state);

#define GUEST_DEPTH 16

struct guest {
	struct link *link; /* NULL: it was not let in */
	struct greeting_reply reply;
	struct offer offer;
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote;
	unsigned char memory[4096]; /* GUEST_DEPTH answers, then what it sends */
};

/* Connects with these bytes; NULL if it was rejected. guest_close() in any case. */
struct guest *guest_knock(const void *bytes, size_t len);
struct guest *guest_open(const struct hello *hello);
/* Knocks, and does not go in when the door is opened. */
void guest_knock_only(const struct hello *hello, struct rpma_conn **conn);
/* With the goodbye, or without. */
void guest_leave(struct guest *guest);
void guest_close(struct guest *guest);

void guest_send(struct guest *guest, const void *bytes, size_t len);
void guest_ask(struct guest *guest, uint32_t slot, uint64_t offset, uint64_t length);
/* A write of no bytes with this number. */
void guest_number(struct guest *guest, uint32_t number);
/* The next answer; it has to come. */
struct persist_answer guest_answer(struct guest *guest);
/* The next empty message. */
void guest_hears(struct guest *guest);
/* Until the server has closed the connection; it has to. */
void guest_is_dropped(struct guest *guest);

#endif /* HOST_WORLD_H */
