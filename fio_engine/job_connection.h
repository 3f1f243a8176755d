/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_connection.h -- the connection of one client job: from an address to a region that
 * can be read, written and flushed.
 *
 * It finds the device, connects, sends the request of its job, checks the reply, and
 * registers memory. Every failure sets one error message; every wait has a limit
 * and ends when the job is told to.
 */
#pragma once

#include <librpma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/rdma/dial.h"
#include "job_handshake.h"
#include "options.h"

struct job_connection_cfg {
	const struct settings *settings;
	struct job_request job_request;
	uint32_t sq_size;
	uint32_t cq_size;
	bool (*stopped)(void *arg); /* asked while waiting */
	void *arg;
};

struct job_connection {
	struct job_connection_cfg cfg;
	struct dial dial;
	const char *server; /* names for error messages, of dial */
	const char *device;
	/* the connection's: replaced by job_connection_reconnect() */
	struct connection *rdma;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *remote;
	/* until job_connection_close() */
	uint64_t remote_addr;
	size_t remote_bytes;
	enum rpma_flush_type flush_type;
	struct job_reply job_reply;
	struct rpma_mr_local *buffers;	/* the job's */
	const char *buffer_memory;	/* borrowed */
	struct rpma_mr_local *messages; /* job_request.depth requests, and as many answers */
	uint8_t *message_memory;
	struct rpma_mr_local *zeros; /* what a trim writes; NULL: the job has none */
	void *zero_memory;
};

/*
 * For writes with immediate data that are not answered: the server reports when
 * it has received half of job_request.depth again, so that no more are sent than it
 * has receives for. The device would try again, but only after a long time.
 */
#define JOB_CONNECTION_CREDITS 4 /* receives of such messages */

/* The context of a receive is the number of its answer and this. */
#define ANSWER_CONTEXT (1ULL << 30)

/* Tries again while the server refuses or is not there, up to connect_timeout. */
int job_connection_open(struct job_connection *connection, const struct job_connection_cfg *cfg);
/* After the connection broke; messages are posted again. */
int job_connection_reconnect(struct job_connection *connection);
/* Sends a goodbye, if it still can, and frees all. */
void job_connection_close(struct job_connection *connection);

/* The region as a message has it: "dram", "a file in memory ...". */
const char *job_connection_region_words(const struct job_connection *connection);

/* All that was written is durable, and no write is under way: region_mark_durable(). */
void job_connection_mark_durable(const struct job_connection *connection);

int job_connection_register_buffers(struct job_connection *connection, void *memory, size_t bytes);
int job_connection_make_zeros(struct job_connection *connection, size_t bytes);

/*
 * Tells the server that the client is done, when all that was posted has
 * completed; what that was is not told.
 */
void job_connection_goodbye(struct job_connection *connection);

/* Receives that are posted as long as the connection stands. */
static inline uint32_t job_connection_receives(const struct job_connection *connection)
{
	if (connection->cfg.job_request.method == METHOD_GPSPM)
		return connection->cfg.job_request.depth;
	return connection->cfg.job_request.depth > 0 ? JOB_CONNECTION_CREDITS : 0;
}

/* The offsets of a request and of an answer in the messages. */
static inline size_t job_connection_request_offset(uint32_t number)
{
	return (size_t)number * PERSIST_REQUEST_BYTES;
}

static inline size_t job_connection_answer_offset(const struct job_connection *connection,
						  uint32_t number)
{
	return (size_t)connection->cfg.job_request.depth * PERSIST_REQUEST_BYTES +
	       (size_t)number * PERSIST_ANSWER_BYTES;
}
