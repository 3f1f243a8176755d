/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.h -- everything one run of the client knows: what was asked, what was
 * found, what was measured. The result document is made from it alone.
 */
#ifndef BENCH_CLIENT_RUN_H
#define BENCH_CLIENT_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

#include "tools/common/base/clock.h"
#include "tools/common/base/error.h"
#include "tools/common/host/topology.h"
#include "tools/common/json/environment.h"
#include "tools/common/rdma/device.h"
#include "tools/common/rdma/resolve.h"
#include "tools/rpma-bench/measure/placement.h"
#include "tools/rpma-bench/options/options.h"
#include "tools/rpma-bench/options/plan.h"
#include "tools/rpma-bench/protocol/message.h"
#include "tools/rpma-bench/result/journal.h"
#include "tools/rpma-bench/result/repeat.h"

enum run_status { RUN_COMPLETE, RUN_INTERRUPTED, RUN_FAILED };

/* A server as a run sees it. Of a plain client there is one. */
struct remote {
	char address[RESOLVE_ADDRESS_MAX];
	uint16_t port;
	char name[LINK_PEER_MAX]; /* for sentences */
	const char *device;	  /* of this host, borrowed; NULL: not chosen yet */
	struct link *control;
	struct message_welcome offer;
	bool known;
	json_t *environment; /* owned; NULL: not learned */
	json_t *readiness;   /* owned; a block for each target, see result/readiness.h; NULL: not
				learned */
};

/* What --persist auto came to on one target. */
struct persist_choice {
	bool made;
	enum bench_persist persist;
	char reason[160]; /* a part of a sentence: "the target's device flushes natively" */
};

/* Others who measure the same plan at the same time. */
struct together {
	/* Waits for all of them right before a phase; 0, or -errno with the sentence stored. */
	int (*meet)(void *arg, enum message_phase phase);
	void *arg;
	uint32_t cores_taken; /* by those of them on this host that come first */
};

struct run {
	const struct options *options;
	const struct together *together; /* NULL: this client measures alone */
	uint8_t id[16];
	uint64_t seed;
	struct plan plan;
	struct journal *journal;
	json_t **repeats;   /* [point]: array of the repeats that are done; owned */
	char **unsupported; /* [point]: why it cannot be measured, NULL: it can; owned */
	size_t repeats_done;
	size_t repeats_resumed; /* of these, taken from the journal */
	struct timespec started;
	struct timespec ended;
	enum run_status status;
	int exit_code;
	struct failure failure; /* of a failed run */

	struct clock clock;
	bool clock_started;
	bool clock_drifted;
	struct sysroot sysroot;
	struct topology *topology;
	struct device device;
	bool device_known;
	int emulated_cpu; /* -1: unknown */
	struct placement placement;
	struct rpma_peer *peer;
	struct remote remote;
	uint32_t targets[PARAMS_TARGETS_MAX];		  /* of the server, by choice of the user */
	struct persist_choice chosen[PARAMS_TARGETS_MAX]; /* by target of the server */
};

/* Sets up what needs no server: plan, topology. */
int run_open(struct run *run, const struct options *options);
void run_close(struct run *run);

/* Connects, measures every item that is not done, and disconnects. -ECANCELED: a signal. */
int run_measure(struct run *run);

/* What it came to, from what run_open or run_measure gave. */
void run_judge(struct run *run, int ret);

/* The result, valid against doc/schema/rpma-bench-1.schema.json. */
json_t *document_make(const struct run *run);

#endif /* BENCH_CLIENT_RUN_H */
