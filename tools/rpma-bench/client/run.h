/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.h -- one run of the client: its connection to the server, and the record
 * of what it learns there.
 */
#pragma once

#include <jansson.h>

#include "common/rdma/dial.h"
#include "tools/rpma-bench/result/record.h"

/* The way to the server of a run, and the connection that stays open for all of it. */
struct control {
	struct dial dial;
	struct connection *connection;
	const struct connection_knobs *knobs; /* for the measured connections; borrowed */
};

/* Others who measure the same plan at the same time. */
struct barrier {
	/* Waits for all of them right before a phase; 0, or -errno with the error message set. */
	int (*wait)(void *arg, enum message_phase phase);
	void *arg;
	uint32_t cores_taken; /* by those of them on this host that come first */
};

struct run {
	struct record record;
	const struct barrier *barrier; /* NULL: this client measures alone */
	struct control control;
};

/* The next repeat of the plan, into the record and the journal; 0 too if it is not supported. */
int run_measure_trial(struct run *run, size_t order);

/* Sets up what needs no server: plan, topology. */
int run_open(struct run *run, const struct options *options);
void run_close(struct run *run);

/* Connects, measures every trial that is not done, and disconnects. -ECANCELED: a signal. */
int run_measure(struct run *run);

/* Sets status and exit code of the run from the result of run_open() or run_measure(). */
void run_judge(struct run *run, int ret);

/*
 * A search for each point of the plan, which becomes the plan of the trials. What
 * they came to is in the record. As run_measure.
 */
int rate_search_run(struct run *run);

/*
 * Measures the trial of the plan and gives its JSON, the caller's to decref.
 * -ECANCELED: a signal ended it; *repeat then is what it had measured, or NULL.
 * -ENOTSUP with the error message set: the server refused it, and is ready for another.
 */
int trial_measure(struct run *run, size_t order, json_t **repeat);
