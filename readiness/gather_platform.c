/* SPDX-License-Identifier: BSD-3-Clause */
/* gather_platform.c -- the processor and what the kernel does with it. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/host/rlimits.h"
#include "common/host/topology.h"
#include "common/json/environment.h"
#include "gather.h"
#include "gather_pmem.h"

/* A number of a limit, or "unlimited"; -1: neither. */
static int64_t read_limit(const char *text)
{
	char *end;
	long long value;

	text += strspn(text, " ");
	if (strncmp(text, "unlimited", 9) == 0)
		return INT64_MAX;
	value = strtoll(text, &end, 10);
	return end == text || value < 0 ? -1 : value;
}

/* "Max open files            1024                 524288               files" */
static void find_limit(const char *limits, const char *name, int64_t *soft, int64_t *hard)
{
	const char *at = strstr(limits, name);

	*soft = *hard = -1;
	if (at == NULL || (at != limits && at[-1] != '\n'))
		return;
	at += strlen(name);
	*soft = read_limit(at);
	at += strspn(at, " ");
	at += strcspn(at, " \n");
	*hard = read_limit(at);
}

/* "Uid:\t0\t0\t0\t0": the effective one is the second. */
static bool is_root(const struct sysroot *root)
{
	char uids[64], *end;

	if (!sysroot_file_field(root, "proc/self/status", "Uid", uids, sizeof(uids)))
		return false;
	(void)strtoul(uids, &end, 10);
	return strtoul(end, NULL, 10) == 0;
}

/* By what their runtimes put there; a cgroup namespace hides the path from the process. */
static enum facts_container find_container(const struct sysroot *root)
{
	char cgroup[4096] = "";

	sysroot_read(root, cgroup, sizeof(cgroup), "proc/self/cgroup");
	if (strstr(cgroup, "kubepods") != NULL ||
	    sysroot_exists(root, "var/run/secrets/kubernetes.io") ||
	    sysroot_exists(root, "run/secrets/kubernetes.io"))
		return CONTAINER_POD;
	if (sysroot_exists(root, ".dockerenv") || sysroot_exists(root, "run/.containerenv") ||
	    strstr(cgroup, "/docker") != NULL || strstr(cgroup, "/libpod") != NULL)
		return CONTAINER_OTHER;
	return CONTAINER_NONE;
}

void gather_limits(const struct gather *g, struct facts_limits *facts)
{
	char limits[4096] = "";
	int64_t hard;
	int exempt;

	sysroot_read(g->root, limits, sizeof(limits), "proc/self/limits");
	find_limit(limits, "Max locked memory", &facts->memlock_bytes, &hard);
	/* the tools raise the soft limit of files, not of memory */
	find_limit(limits, "Max open files", &hard, &facts->open_files);
	facts->container = find_container(g->root);
	facts->root = is_root(g->root);
	exempt = memlock_exempt(g->root);
	facts->may_lock = exempt < 0 ? KNOWN_NOT : exempt > 0 ? KNOWN_YES : KNOWN_NO;
}

#define IIO_LLC_WAYS 0xc8b /* a model specific register of Intel's server processors */
#define L3	     "sys/fs/resctrl/info/L3/"
#define IRQS_MAX     4096

/* Is a word among those of a list, split at blanks? */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)) != NULL; at += len) {
		if ((at == text || at[-1] == ' ') && strchr(" \n", at[len]) != NULL)
			return true;
	}
	return false;
}

static int field_number(const char *text, const char *key)
{
	char value[32], *end;
	long number;

	if (!sysroot_field(text, key, value, sizeof(value)))
		return -1;
	number = strtol(value, &end, 10);
	return end != value && number >= 0 && number < 1 << 16 ? (int)number : -1;
}

static void gather_cpu(const struct sysroot *root, struct facts_platform *facts)
{
	char cpuinfo[1 << 14], flags[1 << 12];

	facts->family = facts->model = facts->stepping = -1;
	facts->guest = facts->hypervisor_flag = KNOWN_NOT;
	facts->arm_dcpop = facts->arm_dcpodp = KNOWN_NO;
	if (sysroot_read(root, cpuinfo, sizeof(cpuinfo), "proc/cpuinfo") < 0)
		return;
	if (!sysroot_field(cpuinfo, "vendor_id", facts->vendor, sizeof(facts->vendor)) &&
	    sysroot_field(cpuinfo, "CPU implementer", flags, sizeof(flags)))
		snprintf(facts->vendor, sizeof(facts->vendor), "Arm %.16s", flags);
	sysroot_field(cpuinfo, "model name", facts->cpu_model_name, sizeof(facts->cpu_model_name));
	facts->family = field_number(cpuinfo, "cpu family");
	facts->model = field_number(cpuinfo, "model");
	facts->stepping = field_number(cpuinfo, "stepping");
	if (sysroot_field(cpuinfo, "Features", flags, sizeof(flags))) {
		facts->arm_dcpop = has_word(flags, "dcpop") ? KNOWN_YES : KNOWN_NO;
		facts->arm_dcpodp = has_word(flags, "dcpodp") ? KNOWN_YES : KNOWN_NO;
	}
	if (sysroot_field(cpuinfo, "flags", flags, sizeof(flags)))
		facts->hypervisor_flag = has_word(flags, "hypervisor") ? KNOWN_YES : KNOWN_NO;
}

/* "pci=noaer,notph" */
static enum known find_notph(const struct sysroot *root)
{
	char text[4096], *save = NULL;

	if (sysroot_read(root, text, sizeof(text), "proc/cmdline") < 0)
		return KNOWN_NOT;
	for (char *word = strtok_r(text, " \n", &save); word != NULL;
	     word = strtok_r(NULL, " \n", &save)) {
		char *options = NULL;

		if (strncmp(word, "pci=", 4) != 0)
			continue;
		for (char *option = strtok_r(word + 4, ",", &options); option != NULL;
		     option = strtok_r(NULL, ",", &options)) {
			if (strcmp(option, "notph") == 0)
				return KNOWN_YES;
		}
	}
	return KNOWN_NO;
}

/* The value of the first CPU of the NIC's node. */
static void gather_ways(const struct sysroot *root, int node, struct facts_platform *facts)
{
	char list[256];
	uint64_t value;
	long cpu = 0;

	facts->ddio_ways_msr = -1;
	if (strcmp(facts->vendor, "GenuineIntel") != 0)
		return;
	if (node >= 0 && sysroot_text(root, list, "sys/devices/system/node/node%d/cpulist", node))
		cpu = strtol(list, NULL, 10);
	snprintf(facts->ddio_ways_source, sizeof(facts->ddio_ways_source), "dev/cpu/%ld/msr", cpu);
	if (sysroot_pread(root, facts->ddio_ways_source, IIO_LLC_WAYS, &value, sizeof(value)) ==
		    (long)sizeof(value) &&
	    le64toh(value) <= INT32_MAX)
		facts->ddio_ways_msr = (int64_t)le64toh(value);
}

static void gather_resctrl(const struct sysroot *root, struct facts_platform *facts)
{
	sysroot_text(root, facts->l3_shareable_bits, L3 "shareable_bits");
	sysroot_text(root, facts->l3_cbm_mask, L3 "cbm_mask");
	sysroot_text(root, facts->l3_io_alloc, L3 "io_alloc");
	sysroot_text(root, facts->l3_io_alloc_cbm, L3 "io_alloc_cbm");
}

/* "performance", or all of them where CPUs differ. */
static void join_governors(const json_t *list, char *text, size_t size)
{
	const json_t *governor;
	size_t i, len = 0;

	json_array_foreach(list, i, governor) {
		if (len < size)
			len += (size_t)snprintf(text + len, size - len, "%s%s", i > 0 ? ", " : "",
						json_string_value(governor));
	}
}

static void gather_power(const struct sysroot *root, struct facts_platform *facts)
{
	json_t *power = environment_power(root);
	const json_t *off = json_object_get(power, "no_turbo");
	const json_t *boost = json_object_get(power, "boost");
	const json_t *exit_us = json_object_get(power, "idle_exit_latency_us");

	join_governors(json_object_get(power, "governors"), facts->governor,
		       sizeof(facts->governor));
	facts->turbo = KNOWN_NOT;
	if (json_is_integer(off))
		facts->turbo = json_integer_value(off) != 0 ? KNOWN_NO : KNOWN_YES;
	else if (json_is_integer(boost))
		facts->turbo = json_integer_value(boost) != 0 ? KNOWN_YES : KNOWN_NO;
	facts->deepest_idle_ns = -1;
	if (json_is_integer(exit_us) && json_integer_value(exit_us) >= 0 &&
	    json_integer_value(exit_us) <= INT32_MAX)
		facts->deepest_idle_ns = json_integer_value(exit_us) * 1000;
	json_decref(power);
}

/* "[none] integrity confidentiality" */
static void gather_lockdown(const struct sysroot *root, struct facts_platform *facts)
{
	char line[128];
	const char *chosen;

	if (!sysroot_text(root, line, SYSROOT_LOCKDOWN))
		return;
	chosen = strchr(line, '[');
	if (chosen != NULL)
		snprintf(facts->lockdown, sizeof(facts->lockdown), "%.*s",
			 (int)strcspn(chosen + 1, "]"), chosen + 1);
}

/* The CPUs that an interrupt goes to. */
static bool interrupt_cpus(const struct sysroot *root, long irq, char *list, size_t size)
{
	return sysroot_line(root, list, size, "proc/irq/%ld/effective_affinity_list", irq) ||
	       sysroot_line(root, list, size, "proc/irq/%ld/smp_affinity_list", irq);
}

static void gather_interrupts(const struct sysroot *root, const char *device,
			      struct facts_platform *facts)
{
	char path[FACTS_PATH_MAX], list[1024];
	struct sysroot_walk irqs;
	const char *name;
	int ret = 0;

	snprintf(path, sizeof(path), "sys/class/infiniband/%s/device", device);
	if (!gather_function_path(root, path, path))
		return;
	irqs = sysroot_walk(root, IRQS_MAX, "%s/msi_irqs", path);
	while (ret != -ENOSPC && (name = sysroot_next(&irqs)) != NULL) {
		long irq = strtol(name, NULL, 10);

		if (irq > 0 && interrupt_cpus(root, irq, list, sizeof(list)))
			ret = topology_list_add(facts->irq_cpus, sizeof(facts->irq_cpus), list);
	}
	sysroot_walk_end(&irqs);
}

void gather_platform(const struct gather *g, const struct facts_device *device,
		     struct facts_platform *facts)
{
	const struct sysroot *root = g->root;

	memset(facts, 0, sizeof(*facts));
	gather_cpu(root, facts);
	facts->tph_disabled = find_notph(root);
	gather_ways(root, device->numa_node, facts);
	gather_resctrl(root, facts);
	gather_power(root, facts);
	gather_lockdown(root, facts);
	sysroot_text(root, facts->clocksource, SYSROOT_CLOCKSOURCE);
	if (!sysroot_number(root, &facts->numa_balancing, SYSROOT_NUMA_BALANCING))
		facts->numa_balancing = -1;
	sysroot_file_field(root, "proc/self/status", "Cpus_allowed_list", facts->usable_cpus,
			   sizeof(facts->usable_cpus));
	if (device->found && device->kind == DEVICE_HARDWARE)
		gather_interrupts(root, device->name, facts);
}
