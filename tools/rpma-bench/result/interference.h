/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interference.h -- what was used while a repeat was measured, at both ends: of the
 * processors by other programs and by the measuring process, and what its device counted.
 *
 * The server sends what it read in its report; the client makes the
 * "interference" of the repeat from both, because ends on one host must not
 * count each other as others.
 */
#pragma once

#include <jansson.h>

#include "common/host/cpu_time.h"

/* The readings of one end around its measurement. */
struct interference {
	struct cpu_time time;	/* the span; unknown: not read */
	struct cpu_quota quota; /* the same */
	char boot_id[CPU_TIME_BOOT_ID];
};

/* While the process measured; all 0 if it did not. */
struct process_usage {
	uint64_t wall_ns;
	uint64_t user_ns; /* its CPU time */
	uint64_t sys_ns;
	json_t *counters; /* owned; of the device; NULL: it has none */
};

/* Around what counts. */
void process_usage_begin(struct process_usage *usage, const struct sysroot *root,
			 const char *device);
void process_usage_end(struct process_usage *usage, const struct sysroot *root, const char *device);

void interference_begin(struct interference *seen, const struct sysroot *root);
void interference_end(struct interference *seen, const struct sysroot *root);

/* For the report of a server; null when unknown. */
json_t *interference_report(const struct interference *seen);

/* One end of the "cpu_quota" of a repeat, or that of a server's report; null when unknown. */
json_t *interference_quota(const struct interference *seen);

/* The "interference" of a repeat; report is what a server sent, or NULL. */
json_t *interference_json(const struct interference *client, const json_t *report);
