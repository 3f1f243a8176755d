/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h -- what the user asked of rpma-ping, after parsing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/cli.h"
#include "common/rdma/allow.h"
#include "common/rdma/connection_knobs.h"

#define OPTIONS_PORT	 7205
#define OPTIONS_SIZE_MAX (1ULL << 30)
#define OPTIONS_SIZES	 64
#define OPTIONS_HOSTS	 64

enum flush_choice { FLUSH_AUTO, FLUSH_VISIBILITY, FLUSH_PERSISTENT, FLUSH_WISHES };
enum wait_kind { WAIT_POLL, WAIT_EVENT, WAIT_KINDS };

/* The words of --flush and --wait. */
extern const char *const options_flush_names[FLUSH_WISHES];
extern const char *const options_wait_names[WAIT_KINDS];

struct options {
	struct cli cli;
	int argc;
	char **argv; /* from the command's name on */
	bool server;
	uint16_t port;
	const char *device; /* NULL: any */

	/* server */
	const char *listen;
	const char *target;
	struct allow allow;
	bool force;
	bool direct_write_to_pmem;

	/* client */
	const char *hosts[OPTIONS_HOSTS];
	size_t hosts_count;
	const char *source; /* an interface or a local address; NULL: any */
	bool ipv4, ipv6;    /* no other family; neither: any */
	uint64_t count;	    /* for each size; 0: without end */
	uint64_t interval_ns;
	uint64_t sizes[OPTIONS_SIZES]; /* bytes of a ping, ascending */
	size_t sizes_count;
	uint64_t size_bytes;  /* the largest of them */
	uint64_t deadline_ns; /* the whole run's; 0: none */
	uint64_t limit_ns;    /* for one ping */
	bool flood;
	bool timestamps;
	bool numeric, outstanding; /* options of ping(8): that is what is always done */
	enum flush_choice flush;
	enum wait_kind wait;
	struct connection_knobs knobs;
	bool expect_persistent;
	bool json;
};

/* -EINVAL with the error message set; cli.done: --help or --version was answered. */
int options_parse(struct options *options, int argc, char **argv);
