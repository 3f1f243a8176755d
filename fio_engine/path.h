/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path.h -- the connection of one client job: from an address to a region that
 * can be read, written and flushed.
 *
 * It finds the device, connects, says hello, checks what is offered, and
 * registers memory. Every failure stores one sentence; every wait has a limit
 * and ends when the job is told to.
 */
#ifndef PATH_H
#define PATH_H

#include <librpma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hello.h"
#include "options.h"
#include "tools/common/rdma/dial.h"

struct path_cfg {
	const struct settings *settings;
	struct hello hello;
	uint32_t sq_size;
	uint32_t cq_size;
	bool (*stopped)(void *arg); /* asked while waiting */
	void *arg;
};

struct path {
	struct path_cfg cfg;
	struct dial dial;
	const char *server; /* names for sentences, of dial */
	const char *device;
	/* of the connection: made anew by path_reconnect() */
	struct link *link;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *remote;
	/* until path_close() */
	size_t remote_bytes;
	enum rpma_flush_type flush_type;
	struct offer offer;
	struct rpma_mr_local *buffers;	/* of the job */
	const char *buffer_memory;	/* borrowed */
	struct rpma_mr_local *messages; /* hello.depth requests, and so many answers */
	uint8_t *message_memory;
	struct rpma_mr_local *zeros; /* what a trim writes; NULL: the job has none */
	void *zero_memory;
};

/*
 * Of writes with immediate data that are not answered: the server says when it
 * has received half of hello.depth again, so that no more are sent than it has
 * receives for. The device would try again, but only after a long time.
 */
#define PATH_CREDITS 4 /* receives of such messages */

/* The context of a receive is the number of its answer and this. */
#define PATH_ANSWER (1ULL << 30)

/* Tries again while the server refuses or is not there, up to connect_timeout. */
int path_open(struct path *path, const struct path_cfg *cfg);
/* After the connection broke; messages are posted anew. */
int path_reconnect(struct path *path);
/* Says that it is done, if it still can, and frees all. */
void path_close(struct path *path);

/* The region as a sentence has it: "dram", "a file in memory ...". */
const char *path_region_words(const struct path *path);

int path_register_buffers(struct path *path, void *memory, size_t bytes);
int path_make_zeros(struct path *path, size_t bytes);

/*
 * Tells the server that the client is done, when all that was posted has
 * completed; what that was is not told.
 */
void path_goodbye(struct path *path);

/* Receives that are posted as long as the connection stands. */
static inline uint32_t path_receives(const struct path *path)
{
	if (path->cfg.hello.method == METHOD_GPSPM)
		return path->cfg.hello.depth;
	return path->cfg.hello.depth > 0 ? PATH_CREDITS : 0;
}

/* Where in the messages a request, and an answer, has its place. */
static inline size_t path_request_offset(uint32_t number)
{
	return (size_t)number * PERSIST_REQUEST_BYTES;
}

static inline size_t path_answer_offset(const struct path *path, uint32_t number)
{
	return (size_t)path->cfg.hello.depth * PERSIST_REQUEST_BYTES +
	       (size_t)number * PERSIST_ANSWER_BYTES;
}

#endif /* PATH_H */
