// SPDX-License-Identifier: BSD-3-Clause
/*
 * fio_io_queue.c -- the fio engine without fio: what its connection and its I/O queue do for each
 * operation, in the loop of a job that writes blocks in their order, to a server of the engine.
 *
 * Usage: fio_io_queue ADDRESS PORT BYTES DEPTH SECONDS
 *
 * Prints operations per second of 4 KiB writes that nothing flushes. fio_ratios.py sets it beside
 * rpma-bench; what fio itself takes is what fio with the engine takes more.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/failure.h"
#include "common/host/clock.h"
#include "fio_engine/io_queue.h"
#include "fio_engine/job_connection.h"

#define BLOCK	  4096
#define LOOK	  256 /* operations between two looks at the clock */
#define TIMEOUT_S 5

struct job {
	struct job_connection connection;
	struct io_queue *io_queue;
	char *buffers;
	uint64_t bytes; /* the target's size */
	uint64_t next;
	uint32_t depth;
};

static int open_job(struct job *job, const struct settings *settings)
{
	const struct job_connection_cfg connection = {
		.settings = settings,
		.job_request = {.method = settings->method, .jobs = 1},
		.sq_size = IO_QUEUE_SQ_SIZE(job->depth),
		.cq_size = IO_QUEUE_SQ_SIZE(job->depth),
	};
	const struct io_queue_cfg io_queue = {
		.connection = &job->connection,
		.policy = settings->flush,
		.write_op = settings->write_op,
		.depth = job->depth,
		.grain = BLOCK,
	};
	size_t bytes = (size_t)job->depth * BLOCK;

	job->buffers = aligned_alloc(BLOCK, bytes);
	if (job->buffers == NULL)
		return failure_set(EXIT_RUN_FAILED, "memory", "out of memory");
	if (job_connection_open(&job->connection, &connection) != 0)
		return -1;
	return job_connection_register_buffers(&job->connection, job->buffers, bytes) != 0 ||
	       io_queue_open(&job->io_queue, &io_queue) != 0;
}

static void close_job(struct job *job)
{
	io_queue_close(&job->io_queue);
	job_connection_close(&job->connection);
	free(job->buffers);
}

/* As the job would after its get_io_u: the next block, from this operation's buffer. */
static void write_next(struct job *job, struct operation *operation)
{
	operation->kind = OPERATION_WRITE;
	operation->begin = job->next;
	operation->bytes = BLOCK;
	job->next += BLOCK;
	if (job->next + BLOCK > job->bytes)
		job->next = 0;
	io_queue_add(job->io_queue, operation);
	io_queue_commit(job->io_queue, NULL, NULL);
}

static double run(struct job *job, uint64_t limit_ns)
{
	uint64_t done = 0, begin = clock_raw_ns(), now = begin;
	struct operation *operation;

	for (uint32_t i = 0; i < job->depth; i++) {
		operation = io_queue_operation(job->io_queue, i);
		operation->local_offset = (size_t)i * BLOCK;
		write_next(job, operation);
	}
	while (now - begin < limit_ns) {
		io_queue_wait(job->io_queue, 1, UINT64_MAX);
		while ((operation = io_queue_done(job->io_queue)) != NULL) {
			if (operation->error != 0)
				return 0; /* the connection broke, and the sentence is stored */
			write_next(job, operation);
			if (++done % LOOK == 0)
				now = clock_raw_ns();
		}
	}
	io_queue_wait(job->io_queue, job->depth, UINT64_MAX);
	return (double)done * 1e9 / (double)(now - begin);
}

int main(int argc, char *argv[])
{
	struct settings settings = {
		.role = ROLE_CLIENT,
		.method = METHOD_APM,
		.jobs = 1,
		.poll = true,
		.flush = FLUSH_NONE,
		.flush_type = FLUSH_TYPE_AUTO,
		.write_op = WRITE_PLAIN,
		.connect_timeout_s = TIMEOUT_S,
	};
	struct job job = {.io_queue = NULL};
	double per_s = 0;
	int ret;

	if (argc != 6) {
		fprintf(stderr, "Usage: %s ADDRESS PORT BYTES DEPTH SECONDS\n", argv[0]);
		return 64;
	}
	settings.address = argv[1];
	settings.port = (uint16_t)strtoul(argv[2], NULL, 10);
	job.bytes = strtoull(argv[3], NULL, 10);
	job.depth = (uint32_t)strtoul(argv[4], NULL, 10);
	ret = open_job(&job, &settings);
	if (ret == 0) {
		per_s = run(&job, strtoull(argv[5], NULL, 10) * 1000000000);
		ret = io_queue_broken(job.io_queue);
	}
	close_job(&job);
	if (ret != 0) {
		fprintf(stderr, "fio_io_queue: %s\n", failure_get()->text);
		return 1;
	}
	printf("%.0f\n", per_s);
	return 0;
}
