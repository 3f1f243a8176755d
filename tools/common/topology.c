/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology.c -- hwloc: locality of the RDMA device, choice of cores, binding.
 *
 * Choosing is apart from binding, so that it can be tested with the
 * description of any machine in HWLOC_XMLFILE: hwloc then reports success
 * for bindings that never happen, hence topology_is_this_machine.
 */
#include "topology.h"

#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct topology {
	hwloc_topology_t hwloc;
};

int topology_load(struct topology **topology)
{
	struct topology *t = calloc(1, sizeof(*t));

	if (t == NULL || hwloc_topology_init(&t->hwloc) != 0) {
		free(t);
		return -ENOMEM;
	}
	hwloc_topology_set_io_types_filter(t->hwloc, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	if (hwloc_topology_load(t->hwloc) != 0) {
		topology_free(&t);
		return -EIO;
	}
	*topology = t;
	return 0;
}

void topology_free(struct topology **topology)
{
	if (*topology != NULL)
		hwloc_topology_destroy((*topology)->hwloc);
	free(*topology);
	*topology = NULL;
}

bool topology_is_this_machine(const struct topology *topology)
{
	return hwloc_topology_is_thissystem(topology->hwloc) != 0;
}

/* The CPUs next to the device; all of them when that is not known. */
static hwloc_const_cpuset_t cpus_near(const struct topology *t, const char *near)
{
	hwloc_const_cpuset_t all = hwloc_topology_get_allowed_cpuset(t->hwloc);
	hwloc_obj_t device = NULL, place;

	while (near != NULL && (device = hwloc_get_next_osdev(t->hwloc, device)) != NULL) {
		if (device->name == NULL || strcmp(device->name, near) != 0)
			continue;
		place = hwloc_get_non_io_ancestor_obj(t->hwloc, device);
		if (place != NULL && hwloc_bitmap_intersects(place->cpuset, all))
			return place->cpuset;
	}
	return all;
}

/*
 * The first CPU of each core: cores of the wanted set first, then the others.
 * The very first core comes last, it has the machine's housekeeping.
 */
static size_t one_cpu_per_core(const struct topology *t, hwloc_const_cpuset_t wanted, int *cpus,
			       size_t room)
{
	hwloc_const_cpuset_t allowed = hwloc_topology_get_allowed_cpuset(t->hwloc);
	size_t n = 0;

	for (int pass = 0; pass < 3; pass++) {
		hwloc_obj_t core = NULL;

		while ((core = hwloc_get_next_obj_by_type(t->hwloc, HWLOC_OBJ_CORE, core)) !=
		       NULL) {
			bool first = core->logical_index == 0;
			bool near = hwloc_bitmap_isincluded(core->cpuset, wanted);
			hwloc_bitmap_t usable = hwloc_bitmap_alloc();

			hwloc_bitmap_and(usable, core->cpuset, allowed);
			if (n < room && !hwloc_bitmap_iszero(usable) &&
			    (first ? pass == 2 : pass == (near ? 0 : 1)))
				cpus[n++] = hwloc_bitmap_first(usable);
			hwloc_bitmap_free(usable);
		}
	}
	return n;
}

static hwloc_bitmap_t parse_list(const char *text)
{
	hwloc_bitmap_t set;

	/* hwloc's own parser takes garbage for the empty set */
	if (text[0] == '\0' || strspn(text, "0123456789,-") != strlen(text))
		return NULL;
	set = hwloc_bitmap_alloc();
	if (set != NULL && (hwloc_bitmap_list_sscanf(set, text) != 0 || hwloc_bitmap_iszero(set) ||
			    hwloc_bitmap_weight(set) < 0)) {
		hwloc_bitmap_free(set);
		set = NULL;
	}
	return set;
}

bool topology_list_valid(const char *text)
{
	hwloc_bitmap_t set = parse_list(text);

	hwloc_bitmap_free(set);
	return set != NULL;
}

int topology_choose(const struct topology *topology, const char *policy, const char *near,
		    int *cpus, size_t count)
{
	hwloc_bitmap_t list;
	size_t n = 0;
	int cpu;

	if (strcmp(policy, "auto") == 0) {
		n = one_cpu_per_core(topology, cpus_near(topology, near), cpus, count);
		return n == count ? 0 : -ERANGE;
	}
	list = parse_list(policy);
	if (list == NULL)
		return -EINVAL;
	hwloc_bitmap_and(list, list, hwloc_topology_get_allowed_cpuset(topology->hwloc));
	for (cpu = hwloc_bitmap_first(list); cpu >= 0 && n < count;
	     cpu = hwloc_bitmap_next(list, cpu))
		cpus[n++] = cpu;
	hwloc_bitmap_free(list);
	return n == count ? 0 : -ERANGE;
}

int topology_bind_thread(const struct topology *topology, int cpu)
{
	hwloc_bitmap_t set;
	int ret;

	if (!topology_is_this_machine(topology))
		return -EXDEV;
	set = hwloc_bitmap_alloc();
	if (set == NULL)
		return -ENOMEM;
	hwloc_bitmap_only(set, (unsigned)cpu);
	ret = hwloc_set_cpubind(topology->hwloc, set, HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT);
	ret = ret == 0 ? 0 : -errno;
	hwloc_bitmap_free(set);
	return ret;
}

const char *topology_read_back(char text[TOPOLOGY_CPUS_TEXT])
{
	hwloc_bitmap_t list = hwloc_bitmap_alloc();
	cpu_set_t set;

	CPU_ZERO(&set);
	text[0] = '\0';
	if (list == NULL || sched_getaffinity(0, sizeof(set), &set) != 0) {
		hwloc_bitmap_free(list);
		return text;
	}
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set))
			hwloc_bitmap_set(list, cpu);
	}
	hwloc_bitmap_list_snprintf(text, TOPOLOGY_CPUS_TEXT, list);
	hwloc_bitmap_free(list);
	return text;
}

int topology_numa_nodes(const struct topology *topology)
{
	return hwloc_get_nbobjs_by_type(topology->hwloc, HWLOC_OBJ_NUMANODE);
}

static size_t objects(const struct topology *topology, hwloc_obj_type_t type)
{
	int n = hwloc_get_nbobjs_by_type(topology->hwloc, type);

	return n > 0 ? (size_t)n : 0;
}

size_t topology_cores(const struct topology *topology)
{
	return objects(topology, HWLOC_OBJ_CORE);
}

size_t topology_sockets(const struct topology *topology)
{
	return objects(topology, HWLOC_OBJ_PACKAGE);
}

unsigned long long topology_llc_bytes(const struct topology *topology)
{
	static const hwloc_obj_type_t levels[] = {HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE,
						  HWLOC_OBJ_L2CACHE};

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		hwloc_obj_t cache = hwloc_get_obj_by_type(topology->hwloc, levels[i], 0);

		if (cache != NULL && cache->attr != NULL)
			return cache->attr->cache.size;
	}
	return 0;
}
