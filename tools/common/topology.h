/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology.h -- which core a measuring thread runs on.
 *
 * auto: one core next to the RDMA device, no SMT sibling of another, not
 * core 0 while there is a choice. The binding is read back from the kernel,
 * and that is what results record.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>

#define TOPOLOGY_CPUS_TEXT 128
#define TOPOLOGY_NODES_MAX 1024 /* as the kernel can have */

struct topology; /* the machine, or what HWLOC_XMLFILE says of another */

int topology_load(struct topology **topology);
void topology_free(struct topology **topology);

/* False when the description is of another machine: plan, but do not bind. */
bool topology_is_this_machine(const struct topology *topology);

/*
 * Chooses a logical CPU for each of count threads. policy: "auto", or a list
 * such as "2,4-7", used in order. near names an RDMA device, or is NULL.
 * -ERANGE: too few CPUs.
 */
int topology_choose(const struct topology *topology, const char *policy, const char *near,
		    int *cpus, size_t count);

/* Is text a list of CPUs, "2,4-7"? */
bool topology_list_valid(const char *text);

/* Binds the calling thread; 0 or -errno. */
int topology_bind_thread(const struct topology *topology, int cpu);

/* The affinity the kernel reports of the calling thread, as a list. */
const char *topology_read_back(char text[TOPOLOGY_CPUS_TEXT]);

int topology_numa_nodes(const struct topology *topology);
size_t topology_cores(const struct topology *topology);
size_t topology_sockets(const struct topology *topology);
/* 0: unknown */
unsigned long long topology_llc_bytes(const struct topology *topology);

#endif /* TOPOLOGY_H */
