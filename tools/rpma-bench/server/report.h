/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h -- what the server finds out in a repeat, until it is the JSON that its client gets. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "common/base/failure.h"
#include "tools/rpma-bench/measure/offsets.h"
#include "tools/rpma-bench/measure/placement.h"
#include "tools/rpma-bench/result/interference.h"

struct server_report {
	/* the whole server's, from the begin of the measurement to its end */
	uint64_t elapsed_ns;
	uint64_t user_ns;
	uint64_t sys_ns;
	json_t *counters; /* owned; NULL: the device has none */
	bool loaded;
	double load_fraction;
	bool answered;
	uint64_t requests;
	const char *persist_method; /* NULL: nothing was persisted on request */
	const char *verify_method;  /* NULL: nothing was checked */
	struct access_check check;
	uint64_t overwritten_bytes; /* written, but written over before the check */
	json_t *reverse;	    /* owned; NULL: one direction */
	json_t *registration;	    /* owned; NULL: another test */
	bool shared;		    /* another client used the target meanwhile */
	char reverse_failure[sizeof(((struct failure *)0)->text)]; /* empty: none */
	/* while it is measured */
	bool measuring;
	uint64_t begin_ns;
	struct rusage before;
	struct interference interference;
};

/* Around what counts; device is whose counters are read. */
void server_report_begin(struct server_report *report, const char *device);
void server_report_end(struct server_report *report, const char *device);
void server_report_clear(struct server_report *report);

/* The report, a new object; NULL with the error message set. */
json_t *server_report_json(const struct server_report *report, const struct placement *placement);
