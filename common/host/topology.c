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
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct topology {
	hwloc_topology_t hwloc;
	hwloc_bitmap_t usable; /* what cpusets, taskset and the like leave to this process */
};

/* Here, what this process may use when it starts; of another machine, all of it. */
static int find_usable(struct topology *t)
{
	hwloc_bitmap_t affinity = hwloc_bitmap_alloc();

	t->usable = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(t->hwloc));
	if (affinity == NULL || t->usable == NULL) {
		hwloc_bitmap_free(affinity);
		return -ENOMEM;
	}
	if (hwloc_topology_is_thissystem(t->hwloc) &&
	    hwloc_get_cpubind(t->hwloc, affinity, HWLOC_CPUBIND_THREAD) == 0 &&
	    hwloc_bitmap_intersects(affinity, t->usable))
		hwloc_bitmap_and(t->usable, t->usable, affinity);
	hwloc_bitmap_free(affinity);
	return 0;
}

/*
 * The kernel's files tell of PCI and RDMA devices. Plugins that look for others
 * start whole drivers, or leak (libpciaccess keeps its tables).
 */
static void leave_plugins_out(hwloc_topology_t hwloc)
{
	static const char *const plugins[] = {"pci",  "opencl", "gl",	    "cuda",
					      "nvml", "rsmi",	"levelzero"};

	/* fails for those that are not installed */
	for (size_t i = 0; i < sizeof(plugins) / sizeof(plugins[0]); i++)
		hwloc_topology_set_components(hwloc, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
					      plugins[i]);
}

/* hwloc would take this machine in place of a file that is not there. */
static bool file_is_missing(void)
{
	const char *path = getenv("HWLOC_XMLFILE");

	return path != NULL && path[0] != '\0' && strcmp(path, "-") != 0 && access(path, R_OK) != 0;
}

int topology_load(struct topology **topology)
{
	struct topology *t;

	if (file_is_missing())
		return -ENOENT;
	t = calloc(1, sizeof(*t));
	if (t == NULL || hwloc_topology_init(&t->hwloc) != 0) {
		free(t);
		return -ENOMEM;
	}
	leave_plugins_out(t->hwloc);
	hwloc_topology_set_io_types_filter(t->hwloc, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	if (hwloc_topology_load(t->hwloc) != 0 || find_usable(t) != 0) {
		topology_free(&t);
		return -EIO;
	}
	*topology = t;
	return 0;
}

void topology_free(struct topology **topology)
{
	if (*topology != NULL) {
		hwloc_bitmap_free((*topology)->usable);
		hwloc_topology_destroy((*topology)->hwloc);
	}
	free(*topology);
	*topology = NULL;
}

bool topology_is_this_machine(const struct topology *topology)
{
	return hwloc_topology_is_thissystem(topology->hwloc) != 0;
}

static hwloc_obj_t numa_node(const struct topology *t, int node)
{
	return node < 0 ? NULL : hwloc_get_numanode_obj_by_os_index(t->hwloc, (unsigned)node);
}

/* The object that the device is attached to; NULL: unknown. */
static hwloc_obj_t object_of_device(const struct topology *t, const char *name)
{
	hwloc_obj_t device = NULL;

	while (name != NULL && (device = hwloc_get_next_osdev(t->hwloc, device)) != NULL) {
		if (device->name != NULL && strcmp(device->name, name) == 0)
			return hwloc_get_non_io_ancestor_obj(t->hwloc, device);
	}
	return NULL;
}

/* Memory without CPUs of its own is near none. */
static hwloc_const_cpuset_t cpus_near(const struct topology *t, const struct topology_near *near)
{
	hwloc_obj_t near_objects[] = {numa_node(t, near->node), object_of_device(t, near->device)};

	for (size_t i = 0; i < sizeof(near_objects) / sizeof(near_objects[0]); i++) {
		if (near_objects[i] != NULL &&
		    hwloc_bitmap_intersects(near_objects[i]->cpuset, t->usable))
			return near_objects[i]->cpuset;
	}
	return t->usable;
}

int topology_node_near(const struct topology *topology, const struct topology_near *near)
{
	hwloc_obj_t object;

	if (numa_node(topology, near->node) != NULL)
		return near->node;
	object = object_of_device(topology, near->device);
	/* a device next to several nodes is next to none of them in particular */
	if (object == NULL || hwloc_bitmap_weight(object->nodeset) != 1)
		return -1;
	return hwloc_bitmap_first(object->nodeset);
}

int topology_node_of_cpu(const struct topology *topology, int cpu)
{
	hwloc_obj_t pu =
		cpu < 0 ? NULL : hwloc_get_pu_obj_by_os_index(topology->hwloc, (unsigned)cpu);

	return pu != NULL ? hwloc_bitmap_first(pu->nodeset) : -1;
}

bool topology_has_node(const struct topology *topology, int node)
{
	return numa_node(topology, node) != NULL;
}

const char *topology_first_device(const struct topology *topology)
{
	hwloc_obj_t device = NULL;

	while ((device = hwloc_get_next_osdev(topology->hwloc, device)) != NULL) {
		if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS)
			return device->name;
	}
	return NULL;
}

/* The first usable CPU of a core; -1: none. */
static int cpu_of_core(const struct topology *t, hwloc_obj_t core)
{
	int cpu = hwloc_bitmap_first(core->cpuset);

	while (cpu >= 0 && !hwloc_bitmap_isset(t->usable, (unsigned)cpu))
		cpu = hwloc_bitmap_next(core->cpuset, cpu);
	return cpu;
}

/* Near cores, then far ones; the very first has the machine's housekeeping and comes last. */
size_t topology_choose(const struct topology *topology, const struct topology_near *near, int *cpus,
		       size_t room)
{
	hwloc_const_cpuset_t wanted = cpus_near(topology, near);
	size_t n = 0;

	for (int pass = 0; pass < 3; pass++) {
		hwloc_obj_t core = NULL;

		while ((core = hwloc_get_next_obj_by_type(topology->hwloc, HWLOC_OBJ_CORE, core)) !=
		       NULL) {
			int cpu = cpu_of_core(topology, core);
			bool close = hwloc_bitmap_intersects(core->cpuset, wanted);
			int turn = core->logical_index == 0 ? 2 : close ? 0 : 1;

			if (cpu >= 0 && pass == turn && n < room)
				cpus[n++] = cpu;
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

bool topology_lists_meet(const char *a, const char *b)
{
	hwloc_bitmap_t one = parse_list(a), other = parse_list(b);
	bool meet = one != NULL && other != NULL && hwloc_bitmap_intersects(one, other);

	hwloc_bitmap_free(one);
	hwloc_bitmap_free(other);
	return meet;
}

bool topology_list_has(const char *list, const char *part)
{
	hwloc_bitmap_t all = parse_list(list), some = parse_list(part);
	bool has = all != NULL && some != NULL && hwloc_bitmap_isincluded(some, all);

	hwloc_bitmap_free(all);
	hwloc_bitmap_free(some);
	return has;
}

int topology_list_add(char *list, size_t size, const char *more)
{
	hwloc_bitmap_t all = list[0] != '\0' ? parse_list(list) : hwloc_bitmap_alloc();
	hwloc_bitmap_t some = parse_list(more);
	int ret = -EINVAL;

	if (all != NULL && some != NULL) {
		hwloc_bitmap_or(all, all, some);
		ret = hwloc_bitmap_list_snprintf(list, size, all) < (int)size ? 0 : -ENOSPC;
		/* a part of it would be another list */
		if (ret)
			list[0] = '\0';
	}
	hwloc_bitmap_free(all);
	hwloc_bitmap_free(some);
	return ret;
}

int topology_list_cpus(const struct topology *topology, const char *list, int *cpus, size_t room)
{
	hwloc_bitmap_t set = parse_list(list);
	int n = 0;

	if (set == NULL)
		return -EINVAL;
	if (!hwloc_bitmap_isincluded(set, topology->usable)) {
		hwloc_bitmap_free(set);
		return -ERANGE;
	}
	for (int cpu = hwloc_bitmap_first(set); cpu >= 0 && (size_t)n < room;
	     cpu = hwloc_bitmap_next(set, cpu))
		cpus[n++] = cpu;
	hwloc_bitmap_free(set);
	return n;
}

const char *topology_usable(const struct topology *topology, char text[TOPOLOGY_CPUS_TEXT])
{
	hwloc_bitmap_list_snprintf(text, TOPOLOGY_CPUS_TEXT, topology->usable);
	return text;
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

int topology_bind_memory(const struct topology *topology, void *memory, size_t bytes, int node)
{
	hwloc_bitmap_t set;
	int ret;

	if (!topology_is_this_machine(topology))
		return -EXDEV;
	if (!topology_has_node(topology, node))
		return -EINVAL;
	set = hwloc_bitmap_alloc();
	if (set == NULL)
		return -ENOMEM;
	hwloc_bitmap_only(set, (unsigned)node);
	ret = hwloc_set_area_membind(topology->hwloc, memory, bytes, set, HWLOC_MEMBIND_BIND,
				     HWLOC_MEMBIND_STRICT | HWLOC_MEMBIND_BYNODESET);
	ret = ret == 0 ? 0 : -errno;
	hwloc_bitmap_free(set);
	return ret;
}

int topology_memory_node(const void *memory)
{
	int node = -1;

	if (syscall(SYS_get_mempolicy, &node, NULL, 0UL, memory, MPOL_F_NODE | MPOL_F_ADDR) != 0)
		return -1;
	return node;
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
