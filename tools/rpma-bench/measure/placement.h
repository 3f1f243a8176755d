/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * placement.h -- which core each thread gets, and which node the buffers.
 *
 * Chosen here, for client and server alike; threads bind themselves, memory is
 * bound where it is mapped, and what the kernel refuses is a warning.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "common/host/topology.h"
#include "tools/rpma-bench/protocol/params.h"

/* How threads and memory were placed; told in the result. */
struct placement {
	const char *policy;	      /* value of --pin */
	int cpus[PARAMS_THREADS_MAX]; /* chosen; -1: not bound */
	uint32_t threads;	      /* the most any point has */
	int node;		      /* chosen for memory; -1: left to the kernel */
	int memory_node;	      /* that the kernel has put the buffers on; -1: unknown */
	char shared_warning[256];     /* empty: each thread has a core of its own */
	char pin_warning[256];	      /* empty: bound as chosen */
	char memory_warning[256];     /* empty: bound, or not asked for */
};

struct placement_request {
	const char *pin;      /* "auto", "none" or CPUs */
	const char *mem_node; /* "auto", "none" or a node */
	struct topology_near near;
	uint32_t threads;
	uint32_t skip; /* cores that others of this run take; auto leaves them to these */
	bool lenient;  /* threads without a core are left to the kernel with a warning */
};

/*
 * Chooses, and binds nothing. One error message is set for requests that cannot be
 * met: CPUs or nodes that are not there, and with auto more threads than cores.
 */
int placement_choose(struct placement *placement, const struct topology *topology,
		     const struct placement_request *request);

/* The kernel's answer to a thread that wanted a CPU, to memory that wanted the node; -errno. */
void placement_pin_refused(struct placement *placement, int cpu, int error);
void placement_memory_refused(struct placement *placement, int error);

/* Reads back where touched memory is. */
void placement_memory_made(struct placement *placement, const void *memory);

/* {"policy", "cpus": [number or null, ...], "node": number or null}, as read back if it was */
json_t *placement_json(const struct placement *placement);
