/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.h -- everything one run of the client knows: what was asked, what was
 * found, what was measured. The result document is made from it alone.
 */
#ifndef RUN_H
#define RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

#include "../common/clock.h"
#include "../common/device.h"
#include "../common/environment.h"
#include "../common/failure.h"
#include "../common/greeting.h"
#include "../common/resolve.h"
#include "../common/result.h"
#include "../common/topology.h"
#include "measure.h"
#include "options.h"
#include "plan.h"

/* A warm-up that lacks operations may take this many times its time. */
#define RUN_WARMUP_FACTOR 4

struct thread_usage {
	int cpu; /* -1: unknown */
	char cpus[TOPOLOGY_CPUS_TEXT];
	uint64_t user_ns;
	uint64_t sys_ns;
	uint64_t vol_switches;
	uint64_t invol_switches;
	uint64_t minor_faults;
	uint64_t major_faults;
};

struct repeat {
	bool done;
	size_t order; /* place in the run */
	struct measured warmup;
	struct measured measured;
	struct histogram *latency; /* owned */
	struct thread_usage thread;
	bool server_known;
	uint64_t server_elapsed_ns;
	uint64_t server_busy_ns;
};

enum run_status { RUN_COMPLETE, RUN_INTERRUPTED, RUN_FAILED };

struct run {
	const struct options *options;
	const struct operation *operation;
	uint8_t id[16];
	uint64_t seed;
	struct plan plan;
	struct repeat *repeats; /* [point * options->repeats + repeat] */
	size_t repeats_done;
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
	char pin_warning[256];

	char address[RESOLVE_ADDRESS_MAX];
	char server_name[LINK_PEER_MAX];
	struct rpma_peer *peer;
	struct link *control;
	struct greeting_reply server; /* the target it offers */
	bool server_known;
	bool direct_write_to_pmem;
	enum rpma_flush_type flush_type; /* when the operation flushes */
	json_t *server_environment;	 /* NULL: not learned */

	void *buffer; /* mapped */
	size_t buffer_bytes;
	struct rpma_mr_local *buffer_mr;
	uint64_t *posted; /* stamps, one per slot */
};

struct repeat *run_repeat(const struct run *run, size_t point, uint32_t repeat);

/* What a sample of this repeat spans: a word of the schema. */
const char *run_latency_kind(const struct run *run, const struct repeat *repeat);

/* The distance of two operations in the target. */
uint64_t run_stride(uint64_t size_bytes);

/* Sets up what needs no server: plan, clock, topology, memory of the results. */
int run_open(struct run *run, const struct options *options);
void run_close(struct run *run);

/* Connects, measures every item, and disconnects. -ECANCELED: a signal. */
int run_measure(struct run *run);

/* One item of the plan: a new connection, warm-up, measurement. */
int item_measure(struct run *run, size_t order);

/* A connection to the server: greeting, hello, welcome. */
int connection_open(struct run *run, enum greeting_role role, const struct plan_point *point,
		    uint32_t repeat, struct link **link);
/* Opens the control connection, and learns what the server offers. */
int connection_control(struct run *run);

/* The result, valid against doc/schema/rpma-bench-1.schema.json. */
json_t *document_make(const struct run *run);

/* The table for people, on stderr. */
void table_print(const struct run *run);

#endif /* RUN_H */
