/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_client.h -- a job that does I/O to the region of a server: what it has
 * between its begin, in job_client.c, and its end, and moves in job_io.c.
 */
#pragma once

#include "account.h"
#include "common/base/histogram.h"
#include "durable_log.h"
#include "io_queue.h"
#include "job.h"
#include "job_connection.h"
#include "layout.h"
#include "options.h"

struct client {
	struct thread_data *td;
	struct settings settings;
	struct job_connection connection;
	struct io_queue *io_queue;
	struct layout layout;
	uint64_t block;		    /* what each write is, and at a multiple of; 0: any */
	const struct io_u *barrier; /* that waits for all before it; NULL: none does */
	bool bound;		    /* each io_u has its operation */
	uint32_t held; /* operations that fio has committed, and wait for the rest of their batch */
	struct io_u **events;	   /* what the last getevents found, iodepth of them */
	unsigned events_least;	   /* that a getevents may find, whatever fio asks for */
	struct histogram *commits; /* latencies; NULL: not asked for */
	struct sync_counts syncs;
	struct durable_log *log; /* NULL: there is none */
	bool claims;		 /* a write that completes is durable, by the job's options */
	bool told_empty;	 /* that fsync has nothing to flush */
	int error;		 /* errno that the job ends with: no more is done; 0: it goes on */
};

/* The counts so far. */
struct account client_account(const struct client *client);
