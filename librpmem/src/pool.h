/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool.h -- an open remote pool: its session, its lanes, and who uses them.
 *
 * Each call on a pool holds the gate of its lane: pool_close() waits for them.
 * Gates of different lanes share no cache line, and no lock.
 */
#pragma once

#include <librpmem.h>
#include <stdbool.h>

#include "lane.h"
#include "session.h"
#include "settings.h"

#define POOL_HEADER_BYTES 4096 /* poolset(5) */
#define POOL_LANES_MAX	  1024 /* the most libpmemobj asks for, and the daemon admits */

struct pool_gate {
	_Alignas(64) unsigned users;
};

struct rpmem_pool {
	char *name; /* for the report: "pool set 'SET' on TARGET" */
	size_t size;
	unsigned nlanes;
	bool has_headers;
	unsigned long forks; /* those of the process when it was opened */
	struct session *session;
	struct lanes *lanes;
	struct pool_gate *gates; /* one for each lane */
	bool is_new;		 /* atomic: the daemon keeps the parts after the first persist */
	bool is_closing;	 /* atomic */
	int report;		 /* atomic, enum pool_report: that the session has ended */
	struct rpmem_pool *next; /* in the list of those that were lost and closed */
};

enum pool_report { POOL_NOT_REPORTED, POOL_REPORTING, POOL_REPORTED };

struct pool_cfg {
	struct settings *settings;
	const char *target;
	const char *pool_set;
	void *memory;
	size_t size;
	unsigned nlanes;			   /* requested */
	bool create;				   /* else open */
	const struct rpmem_pool_attr *create_attr; /* NULL: without headers */
};

/* Each returns 0 or a negative errno with the error message set. */

/* attr: what the daemon told of a pool that was opened; may be NULL. */
int pool_connect(struct rpmem_pool **pool, const struct pool_cfg *cfg,
		 struct rpmem_pool_attr *attr);
/*
 * Closes it in any case, once no call uses it; those in progress are cancelled. It is freed, unless
 * it was lost: libpmemobj closes a pool from the thread that saw its loss, while other threads
 * still begin calls on it. Its gates stay for them.
 */
int pool_close(struct rpmem_pool **pool);

/*
 * Holds the gate of a lane until pool_leave(). -EINVAL: the pool is that of the parent process;
 * -ECONNRESET: it is being closed. Then it holds none.
 */
int pool_enter(struct rpmem_pool *pool, unsigned lane);
void pool_leave(struct rpmem_pool *pool, unsigned lane);
/* Counts forks from now on. */
void pool_watch_forks(void);
