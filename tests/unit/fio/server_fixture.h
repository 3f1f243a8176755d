/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server_fixture.h -- a server of the engine in a thread, and clients that speak
 * with it over the software device as far as a test wants them to.
 *
 * The server's output on stderr is kept. Its clock can be put forward, so that
 * no test waits for a deadline.
 */
#pragma once

#include "common/rdma/connection.h"
#include "fio_engine/memory_server.h"
#include "tests/lib/test.h"

#define FIXTURE_BYTES (1u << 20) /* the region's size */

struct fixture_cfg {
	enum method method;
	bool poll;
	unsigned clients;
	const char *allow;  /* NULL: anybody */
	const char *target; /* NULL: as many bytes of DRAM */
	uint64_t offset;
	uint64_t bytes;
};

/* Starts the server; fixture_end() gives what memory_server_serve() gave, and stops nothing. */
void fixture_begin(const struct fixture_cfg *cfg);
int fixture_end(void);
/* Tells the server to stop; fixture_end() is still to come. */
void fixture_stop(void);
/* The message of the server's failure, as of the last fixture_end(). */
const char *fixture_failure(void);
/* Until the server has said so: it has to, within seconds. */
void fixture_said(const char *part);
/* How often it has said so. */
unsigned fixture_count(const char *part);
/* The clock jumps for server and clients. */
void fixture_pass_ms(int64_t ms);
/* It stands still until the end of the test; not while the server polls. */
void fixture_hold_clock(void);
/* From now on nothing but an event wakes the server, soon enough for a test to pass. */
void fixture_only_events(void);
/* Until the server knows that this number of clients is connected. */
void fixture_wait_served(unsigned count);
/* Until memory_server_clients() gives this number. */
void fixture_wait_clients(unsigned count);

/* The teardown of a test: stops what it left running. */
int fixture_clear(void **state);
#define SERVER_TEST(name) TEST(name, NULL, fixture_clear)

#define CLIENT_DEPTH	  16

struct test_client {
	struct connection *connection; /* NULL: it was rejected */
	struct handshake_reply reply;
	struct job_reply job_reply;
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote;
	unsigned char memory[4096]; /* CLIENT_DEPTH answers, then what it sends */
};

/* Connects with these bytes; NULL if it was rejected. client_close() in any case. */
struct test_client *client_connect(const void *bytes, size_t len);
struct test_client *client_open(const struct job_request *job_request);
/* Requests a connection, and does not complete it when the server accepts. */
void client_request_only(const struct job_request *job_request, struct rpma_conn **conn);
/* It sends the goodbye, or leaves without one. */
void client_leave(struct test_client *client);
void client_close(struct test_client *client);
/* It leaves, and the server ends well. */
void client_ends(struct test_client *client);

void client_send(struct test_client *client, const void *bytes, size_t len);
void client_ask(struct test_client *client, uint32_t slot, uint64_t offset, uint64_t length);
/* A write of no bytes with this number. */
void client_number(struct test_client *client, uint32_t number);
/* The next answer; it has to come. */
struct persist_answer client_answer(struct test_client *client);
/* The next empty message. */
void client_receives(struct test_client *client);
/* Until the server has closed the connection; it has to. */
void client_is_dropped(struct test_client *client);
