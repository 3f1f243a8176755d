/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h -- the command line of rpmemd. */
#pragma once

#include "common/base/cli.h"
#include "log.h"

/* The destination of the log: the last of --log-file and --use-syslog counts. */
struct options_log {
	const char *file; /* NULL: not given */
	bool to_file;
	bool to_syslog;
};

struct options {
	struct cli cli;
	const char *config; /* NULL: the usual files */
	const char *remove; /* a pool set; NULL: serve a client */
	bool force;
	bool pool_set;
	bool check;

	/* these overrule the files */
	struct options_log log;
	enum log_level log_level; /* LOG_LEVELS: not given */
	const char *poolset_dir;  /* NULL: not given */
	const char *rdma_addr;	  /* NULL: not given */
	bool persist_apm;
	bool persist_general;
};

/* -EINVAL with the error message set; cli.done: --help or --version was answered. */
int options_parse(struct options *options, int argc, char **argv);
