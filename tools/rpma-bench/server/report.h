/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h -- what the server finds out in a repeat, until it is the JSON that its client gets. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/failure.h"
#include "tools/rpma-bench/measure/offsets.h"
#include "tools/rpma-bench/measure/placement.h"
#include "tools/rpma-bench/result/interference.h"

struct server_report {
	/* the whole server's, from the begin of the measurement to its end; owned counters */
	struct process_usage usage;
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
	bool measuring;
	struct interference interference;
};

/* Around what counts; device is whose counters are read. */
void server_report_begin(struct server_report *report, const char *device);
void server_report_end(struct server_report *report, const char *device);
void server_report_clear(struct server_report *report);

/* The report, a new object; NULL with the error message set. */
json_t *server_report_json(const struct server_report *report, const struct placement *placement);
