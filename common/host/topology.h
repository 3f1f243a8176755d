/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology.h -- which cores threads run on, and which node memory is of.
 *
 * Chosen are cores next to the RDMA device or the persistent memory, one CPU
 * of each, so no SMT siblings, and core 0 last. What was bound is read back
 * from the kernel, and that is what results record.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define TOPOLOGY_CPUS_TEXT 128
#define TOPOLOGY_NODES_MAX 1024 /* as the kernel can have */

struct topology; /* the machine, or another that HWLOC_XMLFILE describes */

int topology_load(struct topology **topology);
void topology_free(struct topology **topology);

/* False when the description is of another machine: plan, but do not bind. */
bool topology_is_this_machine(const struct topology *topology);

/* The neighbour to be close to; the node comes before the device. */
struct topology_near {
	const char *device; /* an RDMA device; NULL: unknown */
	int node;	    /* memory's node; -1: unknown */
};

/*
 * The CPUs that threads should have, best first, one of each core this process
 * may use. Gives how many were put into cpus.
 */
size_t topology_choose(const struct topology *topology, const struct topology_near *near, int *cpus,
		       size_t room);

/* The CPUs of a list such as "2,4-7": how many, or -EINVAL, or -ERANGE if not all may be used. */
int topology_list_cpus(const struct topology *topology, const char *list, int *cpus, size_t room);
/* All that may be used, as a list. */
const char *topology_usable(const struct topology *topology, char text[TOPOLOGY_CPUS_TEXT]);

/* The NUMA node there, or of a CPU; -1: unknown. */
int topology_node_near(const struct topology *topology, const struct topology_near *near);
int topology_node_of_cpu(const struct topology *topology, int cpu);
bool topology_has_node(const struct topology *topology, int node);

/* The first RDMA device of the description; NULL: none. */
const char *topology_first_device(const struct topology *topology);

/* Is text a list of CPUs, "2,4-7"? */
bool topology_list_valid(const char *text);
/* Is a CPU in both lists; is all of part in list? False where one is no list. */
bool topology_lists_meet(const char *a, const char *b);
bool topology_list_has(const char *list, const char *part);
/* Makes a list, which may be empty, the union with another: 0, -EINVAL, or -ENOSPC: empty. */
int topology_list_add(char *list, size_t size, const char *more);

/* Binds the calling thread; 0 or -errno. */
int topology_bind_thread(const struct topology *topology, int cpu);

/* Binds memory that was not touched yet to a node, strictly; 0 or -errno. */
int topology_bind_memory(const struct topology *topology, void *memory, size_t bytes, int node);
/* The node of the page at this address, by the kernel; -1: unknown. */
int topology_memory_node(const void *memory);

/* The affinity the kernel reports of the calling thread, as a list. */
const char *topology_read_back(char text[TOPOLOGY_CPUS_TEXT]);

int topology_numa_nodes(const struct topology *topology);
size_t topology_cores(const struct topology *topology);
size_t topology_sockets(const struct topology *topology);
/* 0: unknown */
unsigned long long topology_llc_bytes(const struct topology *topology);
