/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment_cpu.c -- is the processor emulated, and which libraries are
 * loaded: facts that do not come from files.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/rdma/soft.h"
#include "environment.h"
#include "fact.h"
#include "result.h"

#define STATES_MAX 16
#define CPUS_MAX   4096
#define CPU0	   "sys/devices/system/cpu/cpu0/"

/* The governors in use: one, if all CPUs have the same. */
static json_t *governors(const struct sysroot *root)
{
	json_t *set = json_object(), *list = json_array(), *value;
	char governor[64];
	const char *key;

	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (!sysroot_exists(root, "sys/devices/system/cpu/cpu%d", cpu))
			break;
		if (sysroot_text(root, governor,
				 "sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu))
			json_object_set_new(set, governor, json_true());
	}
	json_object_foreach(set, key, value)
		json_array_append_new(list, json_string(key));
	json_decref(set);
	return list;
}

/* The deepest state CPU 0 may enter, and how long it takes to leave it. */
static void add_idle(const struct sysroot *root, json_t *group)
{
	json_t *name = json_null(), *latency = json_null();
	int64_t disabled;

	for (int i = 0; i < STATES_MAX && sysroot_exists(root, CPU0 "cpuidle/state%d", i); i++) {
		if (sysroot_number(root, &disabled, CPU0 "cpuidle/state%d/disable", i) && disabled)
			continue;
		json_decref(name);
		json_decref(latency);
		name = fact_get(root, FACT_TEXT, CPU0 "cpuidle/state%d/name", i);
		latency = fact_get(root, FACT_NUMBER, CPU0 "cpuidle/state%d/latency", i);
	}
	json_object_set_new(group, "idle_state", name);
	json_object_set_new(group, "idle_exit_latency_us", latency);
}

/* The latency that a process holding this file open asks for; a plain integer, for root alone. */
static json_t *dma_latency(const struct sysroot *root)
{
	char bytes[sizeof(int32_t) + 1];
	int32_t value;

	if (sysroot_read(root, bytes, sizeof(bytes), "dev/cpu_dma_latency") != sizeof(value))
		return json_null();
	memcpy(&value, bytes, sizeof(value));
	return result_known(value);
}

json_t *environment_power(const struct sysroot *root)
{
	static const struct fact facts[] = {
		{"governor", FACT_TEXT, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
		{"energy_pref", FACT_TEXT,
		 "sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference"},
		{"cpuidle_driver", FACT_TEXT, "sys/devices/system/cpu/cpuidle/current_driver"},
		{"min_khz", FACT_NUMBER, "sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq"},
		{"max_khz", FACT_NUMBER, "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq"},
		{"cur_khz", FACT_NUMBER, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"},
		{"boost", FACT_NUMBER, "sys/devices/system/cpu/cpufreq/boost"},
		{"no_turbo", FACT_NUMBER, "sys/devices/system/cpu/intel_pstate/no_turbo"},
		{0},
	};
	json_t *group = json_object();

	fact_add(root, group, "", facts);
	json_object_set_new(group, "governors", governors(root));
	add_idle(root, group);
	json_object_set_new(group, "cpu_dma_latency_us", dma_latency(root));
	return group;
}

#if defined(__x86_64__)
#include <cpuid.h>

/* The hypervisor's signature: leaf 0x40000000; QEMU's own emulator names itself. */
static bool tcg_signature(void)
{
	unsigned a, b, c, d;
	char name[13] = "";

	__cpuid(1, a, b, c, d);
	if ((c & 1U << 31) == 0)
		return false;
	__cpuid(0x40000000, a, b, c, d);
	memcpy(name, &b, 4);
	memcpy(name + 4, &c, 4);
	memcpy(name + 8, &d, 4);
	return strcmp(name, "TCGTCGTCGTCG") == 0;
}

int environment_emulated_cpu(const struct sysroot *root)
{
	char cpuinfo[4096];

	if (root->machine && tcg_signature())
		return 1;
	if (sysroot_read(root, cpuinfo, sizeof(cpuinfo), "proc/cpuinfo") < 0)
		return -1;
	return strstr(cpuinfo, "QEMU TCG CPU") != NULL;
}
#else
int environment_emulated_cpu(const struct sysroot *root)
{
	(void)root;
	return -1;
}
#endif

/* A loaded file whose name begins so, and has that in it; false: there is none. */
static bool find_loaded(const char *begin, const char *within, char name[NAME_MAX + 1])
{
	char line[4352];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps != NULL && !found && fgets(line, sizeof(line), maps) != NULL) {
		const char *base = strrchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		found = base != NULL && strncmp(base + 1, begin, strlen(begin)) == 0 &&
			strstr(base, within) != NULL;
		if (found)
			snprintf(name, NAME_MAX + 1, "%.255s", base + 1);
	}
	if (maps != NULL)
		fclose(maps);
	return found;
}

/* The file is named after the version: libibverbs.so.1.14.44.0. */
json_t *environment_library(const char *soname)
{
	char begin[64], name[NAME_MAX + 1];

	/* the library is loaded, but nothing of it is called */
	if (soft_active())
		return json_string("librpma-soft " RPMA_VERSION);
	snprintf(begin, sizeof(begin), "%s.", soname);
	return find_loaded(begin, "", name) ? result_text(name + strlen(begin)) : json_null();
}

/* Drivers are plug-ins of libibverbs: libmlx5-rdmav34.so. */
json_t *environment_provider(void)
{
	char name[NAME_MAX + 1];

	if (soft_active() || !find_loaded("lib", "-rdmav", name) || strstr(name, ".so") == NULL)
		return json_null();
	*strstr(name, ".so") = '\0';
	return result_text(name + strlen("lib"));
}
