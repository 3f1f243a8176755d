/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h -- what a job file asks of this engine, and what the name that the
 * engine was loaded by selects.
 *
 * fio fills the struct by the table in options.c; what is in it is read only
 * by options_settle(), which gives the rest of the engine values to rely on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/rdma/allow.h"
#include "flush_policy.h"
#include "job_handshake.h"

struct thread_data;

enum role { ROLE_CLIENT = 1, ROLE_SERVER };
enum port_mode { PORT_SINGLE = 1, PORT_SUBJOB, PORT_THREAD };
enum write_op { WRITE_PLAIN = 1, WRITE_IMM, WRITE_ATOMIC };
enum region_use { REGION_AUTO = 1, REGION_SHARED, REGION_SPLIT };
enum flush_type { FLUSH_TYPE_AUTO = 1, FLUSH_TYPE_PERSISTENT, FLUSH_TYPE_VISIBILITY };

/* The options as fio writes them: the first member is fio's own. 0 and NULL: not given. */
struct rpma_options {
	void *td;
	unsigned int role;
	unsigned int mode; /* enum method */
	char *serverip;
	unsigned int port;
	unsigned int port_mode;
	unsigned int busy_wait_polling;
	/* a client's */
	unsigned int flush; /* enum flush_policy */
	unsigned int flush_type;
	unsigned int write_op;
	unsigned int region;
	unsigned int connect_timeout; /* seconds */
	char *durable_log;
	char *result;
	/* a server's */
	unsigned int direct_write_to_pmem;
	unsigned int clients;
	char *allow;
};

/* One job's, with what follows from the engine's name and fio's own options. */
struct settings {
	enum role role;
	enum method method;  /* METHOD_ANY: of a server that takes whatever its clients want */
	const char *address; /* numeric or a name; borrowed */
	uint16_t port;	     /* this job's; a server's may be 0: any */
	unsigned job;	     /* number among its section's jobs on the same port */
	unsigned jobs;
	bool poll;
	enum flush_policy flush;
	enum flush_type flush_type;
	enum write_op write_op;
	enum region_use region;
	unsigned connect_timeout_s;
	const char *durable_log; /* NULL: none; borrowed; result too */
	const char *result;
	bool direct_write_to_pmem;
	unsigned clients; /* 0: as many as the first one announces */
	struct allow allow;
};

/* The role alone, for hooks that come before anything is checked. */
enum role options_role(const struct thread_data *td);

/* numjobs= of its section: fio tells it to the first job only, which the others follow. */
unsigned options_numjobs(const struct thread_data *td);

/* -EINVAL with the error message set: an option, its value, and what is valid. */
int options_settle(const struct thread_data *td, struct settings *settings);
