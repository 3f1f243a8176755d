/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * method.h -- who makes a client's writes durable: its own device's flush (APM), or
 * this daemon when it is asked to (GPSPM).
 *
 * A wrong APM loses data at a power failure. So it takes the administrator's
 * persist-apm, a pool in persistent memory, and a platform that is not known to
 * keep what the device writes in a CPU cache.
 */
#pragma once

#include <stdbool.h>

#include "librpmem/wire/control.h"
#include "pool.h"
#include "readiness/readiness.h"

struct method {
	enum control_method method;
	bool native; /* APM by the device's native flush alone: one by reading is not enough */
	char why[1280];
};

struct method_facts {
	bool persist_apm; /* the configuration wants it */
	enum control_transport transport;
	bool is_pmem;	/* all parts of the pool */
	bool is_forced; /* PMEM_IS_PMEM_FORCE=1 states that, for tests */
	enum readiness_verdict verdict;
	bool is_software;   /* the RDMA device: the CPU copies what arrives */
	const char *reason; /* for the verdict; one error message */
};

/* The pure part. */
void method_choose(const struct method_facts *facts, struct method *method);
/* True if the verdict counts: it takes a moment to find out. */
bool method_needs_verdict(const struct method_facts *facts);
/*
 * All of it for a pool of this host, whose lanes this RDMA device serves; NULL over TCP. Each
 * part is judged with that device, and the one that allows least decides.
 */
void method_find(const struct pool *pool, enum control_transport transport, const char *device,
		 bool persist_apm, struct method *method);

/* "APM" or "GPSPM". */
const char *method_name(enum control_method method);
