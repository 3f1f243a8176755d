/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_connection.h -- a connection that is made up, for the tests of connection: it connects
 * when it is told to, with the reply that a server would have sent, and counts
 * what is alive. Linked with --wrap for what it replaces.
 */
#pragma once

#include "common/base/failure.h"
#include "fio_engine/job_connection.h"
#include "tests/lib/test.h"

#define FAKE_REGION_BYTES 65536
#define FAKE_CONN	  ((struct rpma_conn *)0x10)
#define FAKE_CQ		  ((struct rpma_cq *)0x20)

struct fake {
	struct settings settings;
	struct job_connection_cfg cfg;
	/* what the server sends */
	struct job_reply job_reply;
	uint64_t region_bytes;
	uint8_t usage_bits; /* in the descriptor */
	bool direct;	    /* in the peer's configuration */
	struct handshake_reply reply;
	void (*forge)(uint8_t *reply); /* the bytes it sends */
	bool no_reply;
	/* what is to happen */
	unsigned failures; /* how many tries to connect fail */
	enum exit_code failure;
	bool here;	     /* it is a call on this host that fails */
	unsigned full_until; /* that try */
	unsigned others;     /* completions before that of the goodbye */
	bool no_device, receive_fails, register_fails, deaf, gone;
	/* what did happen */
	unsigned tries, receives, goodbyes;
	struct connection_queues queues;
	uint8_t handshake[HANDSHAKE_REQUEST_BYTES];
	uint8_t sent[HANDSHAKE_REPLY_BYTES];
	size_t descriptor_bytes;
	int usage;
	bool goodbye_seen;
	uint64_t goodbye;
	int connections, regions, peers; /* alive */
	uint64_t now_ns;
};

extern struct fake fake;

/* A server of this method on DRAM, and a job of a depth of 4 that polls. */
void fake_connection_begin(enum method method);
/* Nothing is left. */
void connection_end(void);

/* The connection of a test, closed after it. */
static struct job_connection connection;

static inline void opened(enum method method)
{
	fake_connection_begin(method);
	assert_int_equal(job_connection_open(&connection, &fake.cfg), 0);
}

static inline int connection_teardown(void **state)
{
	job_connection_close(&connection);
	connection_end();
	return 0;
}

#define JOB_TEST(name) TEST(name, NULL, connection_teardown)
