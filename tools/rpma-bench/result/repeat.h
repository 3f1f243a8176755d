/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat.h -- what one repeat of one point gave, until it is JSON.
 *
 * The client fills one and turns it into the JSON of the result at once:
 * from there on, journal, summary, table, CSV and SLOs know the JSON alone.
 * The server fills one for what it measures itself.
 */
#pragma once

#include <jansson.h>

#include "common/base/histogram.h"
#include "common/rdma/connection.h"
#include "interference.h"
#include "tools/rpma-bench/measure/remote_pool.h"
#include "tools/rpma-bench/measure/steps.h"
#include "tools/rpma-bench/measure/workers.h"
#include "tools/rpma-bench/protocol/plain_counts.h"

/* Part of a connect or a registration, timed by itself. */
struct repeat_step {
	const char *name;	   /* a word of the schema */
	struct histogram *latency; /* owned */
};

struct repeat {
	struct params params; /* with persist auto resolved */
	uint32_t index;
	size_t order; /* position in the run */
	bool complete;
	const char *latency_kind; /* a word of the schema */
	const char *flush;	  /* "persistent", "visibility"; NULL: nothing is flushed */
	bool native_flush;
	bool rpmem; /* librpmem was called */
	struct remote_pool_facts rpmem_facts;
	struct connection_facts connection; /* the first measured one */
	bool huge_buffers;
	bool atomic_writes; /* there were some */
	bool native_atomic_write;
	uint64_t ops;
	uint64_t bytes; /* sent with mixed sizes; else they follow from ops */
	uint64_t read_ops;
	uint64_t elapsed_ns;
	uint64_t PLAIN_COUNT_FIELDS;
	struct histogram *latency;	    /* owned; all threads merged; NULL: none */
	struct histogram *read_latency;	    /* owned; of a mix; else NULL */
	struct histogram *response;	    /* owned; open loop; else NULL */
	struct measured warmup;		    /* ops of all threads; windows summed */
	struct measure_interval *intervals; /* owned */
	uint32_t intervals_count;
	struct thread_usage *threads; /* owned; params.threads of them */
	uint32_t threads_count;
	struct repeat_step steps[STEPS_MAX];
	uint32_t steps_count;
	struct process_usage usage;	  /* owned counters */
	struct interference interference; /* as the client saw it */
	json_t *server;			  /* owned; the REPORT of the server; NULL: unknown */
};

/*
 * Takes over what all threads measured, put together: ops, histograms, intervals,
 * usage, what the warm-up said. -ENOMEM.
 */
int repeat_collect(struct repeat *repeat, const struct workers *workers,
		   const struct message_begin *begin);

/* Measures these steps, whose names are words of the schema, in this thread. As steps_measure(). */
int repeat_measure_steps(struct repeat *repeat, struct steps *steps,
			 const struct message_begin *begin);

/* Frees what it owns, not itself. */
void repeat_clear(struct repeat *repeat);

/*
 * The figures that this side measured itself, of a struct repeat with latency, steps and
 * threads filled: {"ops", "elapsed_ns", "latency", "steps", "threads"}. It is
 * the "reverse" and the "registration" of a server's report. NULL: no memory.
 */
json_t *repeat_own_json(const struct repeat *repeat);

/*
 * The "repeat" object of doc/schema/rpma-bench-1.schema.json. NULL: no memory.
 * Members of a server's report are taken over only if they have the type and
 * range that the schema demands.
 */
json_t *repeat_json(const struct repeat *repeat);

/*
 * Puts "ops", "elapsed_ns", "bytes", "ops_per_s" and "bytes_per_s" of one
 * direction into an object; without a payload bytes are null. The bytes that are given count
 * where sizes are mixed, else they follow from ops. 0, or -1 without memory.
 */
int repeat_put_rates(json_t *object, const struct params *params, uint64_t ops, uint64_t bytes,
		     uint64_t elapsed_ns);
