/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h -- what the user asked for, after parsing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axes.h"
#include "common/base/cli.h"
#include "common/rdma/allow.h"
#include "common/rdma/connection_knobs.h"
#include "target_selector.h"
#include "tools/rpma-bench/protocol/params.h"

#define OPTIONS_DURATION_MAX (24 * 3600 * 1000000000ULL)
#define OPTIONS_REPEATS_MAX  1000
#define OPTIONS_SLOS_MAX     64

struct options {
	struct cli cli;
	/* where */
	const char *host; /* client: whom to measure */
	const char *listen;
	uint16_t port;
	const char *device;		   /* NULL: auto */
	char *targets[PARAMS_TARGETS_MAX]; /* server and local: memory to offer; owned */
	size_t targets_count;
	struct target_selector selector; /* client and local: what the target axis counts */
	bool force;
	bool direct_write_to_pmem;
	bool once;
	struct allow allow; /* who may connect */
	/* what */
	struct series *series; /* owned; one, or those of the plan file */
	size_t series_count;
	char *find_rate;   /* the limit to search the highest rate of; owned; NULL: no search */
	uint64_t rate_low; /* the ends of that search; 0: to be found */
	uint64_t rate_high;
	const char *plan;	  /* file */
	const char *rpmem_set;	  /* the pool set of persist rpmem */
	const char *rpmem_target; /* where; NULL: the host */
	unsigned given; /* bits 1 << enum setting_id: on the command line, or in the plan */
	/* when it ends */
	uint64_t duration_ns; /* with ops the longest possible */
	bool endless;	      /* until a signal: then as long as a repeat can be */
	uint64_t interval_ns; /* a line on standard error so often; 0: none */
	uint64_t ops;	      /* 0: by time */
	double ci;	      /* 0: a fixed number of repeats; 0.05: +- 5 % */
	uint64_t warmup_ns;
	uint32_t repeats; /* with ci the most of them */
	uint64_t seed;
	bool seed_given;
	/* how */
	const char *pin;      /* "auto", "none" or CPUs */
	const char *mem_node; /* "auto", "none" or a node */
	uint32_t cores_taken; /* local: by the client; the server leaves them to it */
	bool verify;
	struct connection_knobs knobs;
	bool huge_buffers; /* the client's memory is of huge pages */
	/* where to */
	char *label;	    /* owned */
	bool anonymous;	    /* what names this host stays out of the result */
	const char *output; /* files; "-" on the command line is one of the next two */
	const char *csv;
	bool json;	    /* standard output has the result as JSON, */
	bool csv_to_stdout; /* or as CSV; else the table */
	bool resume;	    /* the run whose result is to be output */
	bool dry_run;
	const char *slos[OPTIONS_SLOS_MAX]; /* each --slo */
	size_t slos_count;
	int argc; /* the whole command line, for the result */
	char **argv;
};

/*
 * Parses the words after "rpma-bench". A mode takes the rows that concern it.
 * -EINVAL with the error message set, or 0 (look at cli.done first).
 */
int options_parse_server(struct options *options, int argc, char **argv);
int options_parse_client(struct options *options, int argc, char **argv);
int options_parse_local(struct options *options, int argc, char **argv);
/* For rpma-bench-mpi: all ranks are clients of one server, or serve each other. */
int options_parse_ranks(struct options *options, int argc, char **argv);
int options_parse_pairs(struct options *options, int argc, char **argv);
int options_parse_all_to_all(struct options *options, int argc, char **argv);
void options_free(struct options *options);
