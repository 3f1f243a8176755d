/* SPDX-License-Identifier: BSD-3-Clause */
/* placement.c -- the requests of --pin and --mem-node against a topology. */
#include "placement.h"

#include <stdio.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/json/result.h"

/* The best ones, as many as there are threads; further ranks of one host are left to the kernel. */
#define CORES_MAX 1024

static int choose_best(struct placement *p, const struct topology *topology,
		       const struct placement_request *request)
{
	int best[CORES_MAX];
	size_t wanted = request->skip + request->threads;
	size_t found = topology_choose(topology, &request->near, best,
				       wanted < CORES_MAX ? wanted : CORES_MAX);

	for (size_t i = request->skip; i < found; i++)
		p->cpus[i - request->skip] = best[i];
	if (found >= wanted)
		return 0;
	if (!request->lenient)
		return failure_set(EXIT_WRONG_USAGE, "placement",
				   "%u threads, but %zu core%s for them here: --pin none or a list "
				   "of CPUs lets threads share",
				   request->threads, found, found == 1 ? "" : "s");
	snprintf(p->shared_warning, sizeof(p->shared_warning),
		 "%zu threads have no core of their own: %zu cores are there, %zu would be taken",
		 wanted - found, found, wanted);
	return 0;
}

/* A list that is too short goes round. */
static int choose_listed(struct placement *p, const struct topology *topology,
			 const struct placement_request *request)
{
	int listed[PARAMS_THREADS_MAX];
	int count = topology_list_cpus(topology, request->pin, listed, PARAMS_THREADS_MAX);
	char usable[TOPOLOGY_CPUS_TEXT];

	if (count <= 0)
		return failure_set(EXIT_RUN_FAILED, "placement",
				   "--pin %s: not all of these CPUs may be used here (%s may)",
				   request->pin, topology_usable(topology, usable));
	for (uint32_t i = 0; i < request->threads; i++)
		p->cpus[i] = listed[i % (uint32_t)count];
	if (request->threads > (uint32_t)count)
		snprintf(p->shared_warning, sizeof(p->shared_warning),
			 "--pin %.64s: %u threads share %d CPU%s", request->pin, request->threads,
			 count, count == 1 ? "" : "s");
	return 0;
}

/* Cores that this process may use, and threads of both ends on them. */
static void choose_none(struct placement *p, const struct topology *topology,
			const struct placement_request *request)
{
	int usable[CORES_MAX];
	size_t cores = topology_choose(topology, &request->near, usable, CORES_MAX);
	size_t threads = request->skip + request->threads;

	if (request->threads > 0 && cores != 0 && cores < CORES_MAX && threads > cores)
		snprintf(p->shared_warning, sizeof(p->shared_warning),
			 "%zu threads of this run share %zu core%s", threads, cores,
			 cores == 1 ? "" : "s");
}

static int choose_node(struct placement *p, const struct topology *topology,
		       const struct placement_request *request)
{
	uint64_t node;

	if (strcmp(request->mem_node, "none") == 0)
		return 0;
	if (strcmp(request->mem_node, "auto") != 0) {
		if (units_parse_number(request->mem_node, &node) || node >= TOPOLOGY_NODES_MAX ||
		    !topology_has_node(topology, (int)node))
			return failure_set(EXIT_RUN_FAILED, "placement",
					   "--mem-node %s: the machine has no such NUMA node",
					   request->mem_node);
		p->node = (int)node;
		return 0;
	}
	p->node = topology_node_near(topology, &request->near);
	if (p->node < 0)
		p->node = topology_node_of_cpu(topology, p->cpus[0]);
	return 0;
}

int placement_choose(struct placement *placement, const struct topology *topology,
		     const struct placement_request *request)
{
	struct placement p = {
		.policy = request->pin, .threads = request->threads, .node = -1, .memory_node = -1};
	int ret = 0;

	for (size_t i = 0; i < PARAMS_THREADS_MAX; i++)
		p.cpus[i] = -1;
	if (strcmp(request->pin, "none") == 0)
		choose_none(&p, topology, request);
	else if (strcmp(request->pin, "auto") == 0)
		ret = choose_best(&p, topology, request);
	else
		ret = choose_listed(&p, topology, request);
	if (ret == 0)
		ret = choose_node(&p, topology, request);
	if (ret == 0)
		*placement = p;
	return ret;
}

void placement_pin_refused(struct placement *placement, int cpu, int error)
{
	snprintf(placement->pin_warning, sizeof(placement->pin_warning),
		 "a thread could not be bound to CPU %d: %s", cpu, strerror(-error));
}

void placement_memory_refused(struct placement *placement, int error)
{
	snprintf(placement->memory_warning, sizeof(placement->memory_warning),
		 "buffers could not be bound to NUMA node %d: %s", placement->node,
		 strerror(-error));
}

void placement_memory_made(struct placement *placement, const void *memory)
{
	placement->memory_node = topology_memory_node(memory);
}

json_t *placement_json(const struct placement *placement)
{
	json_t *cpus = json_array();
	int node = placement->memory_node;

	if (node < 0 && placement->memory_warning[0] == '\0')
		node = placement->node;
	for (uint32_t i = 0; i < placement->threads; i++)
		json_array_append_new(cpus, result_known(placement->cpus[i]));
	return json_pack("{s:s, s:o, s:o}", "policy", placement->policy, "cpus", cpus, "node",
			 result_known(node));
}
