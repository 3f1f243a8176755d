/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record.h -- everything a run of the client knows: what was asked, what was
 * found, what was measured. The result document is made from it alone.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/failure.h"
#include "common/host/clock.h"
#include "common/host/topology.h"
#include "common/json/environment.h"
#include "common/rdma/device.h"
#include "journal.h"
#include "knee.h"
#include "tools/rpma-bench/measure/placement.h"
#include "tools/rpma-bench/options/options.h"
#include "tools/rpma-bench/options/plan.h"
#include "tools/rpma-bench/protocol/message.h"

enum run_status { RUN_COMPLETE, RUN_INTERRUPTED, RUN_FAILED };

/* A server's description of itself, sent when it took the client. */
struct server_info {
	bool known;
	struct message_welcome welcome;
	json_t *environment; /* owned; NULL: not told */
	json_t *readiness;   /* owned; a block for each target (readiness.h); NULL: not told */
};

/* The choice of --persist auto for one target. */
struct persist_choice {
	bool made;
	enum bench_persist persist;
	char reason[160]; /* part of a message: "the target's device flushes natively" */
};

struct record {
	const struct options *options;
	uint8_t id[16];
	uint64_t seed;
	struct plan plan;
	struct journal *journal;
	json_t **repeats;      /* [point]: array of the repeats that are done; owned */
	struct knee *searches; /* for --find-rate; owned */
	size_t searches_count;
	char **unsupported; /* [point]: why it cannot be measured, NULL: it can; owned */
	size_t repeats_done;
	size_t repeats_cut;	/* how many of these a signal ended early */
	size_t repeats_resumed; /* how many of these come from the journal */
	struct timespec started;
	struct timespec ended;
	enum run_status status;
	int exit_code;
	struct failure failure; /* set in a failed run */

	struct clock clock;
	bool clock_started;
	bool clock_drifted;
	struct sysroot sysroot;
	struct topology *topology;
	struct device device;
	bool device_known;
	int emulated_cpu; /* -1: unknown */
	struct placement placement;
	struct server_info server;
	uint32_t targets[PARAMS_TARGETS_MAX];		  /* the server's, by choice of the user */
	struct persist_choice chosen[PARAMS_TARGETS_MAX]; /* by target of the server */
};

/* The parameters of a point of the result: its id is its index in the plan. */
static inline const struct params *record_asked(const struct record *record, const json_t *point)
{
	const char *id = json_string_value(json_object_get(point, "id"));

	return &record->plan.points[strtoul(id + 1, NULL, 10)];
}

/* The result, valid against doc/schema/rpma-bench-1.schema.json. */
json_t *document_make(const struct record *record);
