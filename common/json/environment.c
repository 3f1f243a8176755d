/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.c -- gathers the environment block of a result.
 *
 * Groups are functions, facts are rows {key, kind, path}: adding one is adding a
 * row. Everything is read through a replaceable root. Nothing secret or
 * personal is taken: no serial numbers, no user names, no IP addresses. What
 * names the machine can be left out.
 */
#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/rdma/soft.h"
#include "fact.h"
#include "result.h"

#define NODES_MAX	64
#define VULNERABILITIES "sys/devices/system/cpu/vulnerabilities"

static json_t *field(const char *text, const char *key)
{
	char value[256];

	return sysroot_field(text, key, value, sizeof(value)) ? result_text(value) : json_null();
}

static json_t *number_field(const char *text, const char *key, long long factor)
{
	char value[256];

	return sysroot_field(text, key, value, sizeof(value))
		       ? json_integer(strtoll(value, NULL, 10) * factor)
		       : json_null();
}

static json_t *gather_host(const struct sysroot *root, const char *cpuinfo)
{
	static const struct fact facts[] = {
		{"vendor", FACT_TEXT, "sys/class/dmi/id/sys_vendor"},
		{"model", FACT_TEXT, "sys/class/dmi/id/product_name"},
		{"bios_version", FACT_TEXT, "sys/class/dmi/id/bios_version"},
		{"bios_date", FACT_TEXT, "sys/class/dmi/id/bios_date"},
		{0},
	};
	json_t *group = json_object();
	char name[256] = "", flags[4096];

	gethostname(name, sizeof(name) - 1);
	json_object_set_new(group, "hostname", result_text(name));
	fact_add(root, group, "", facts);
	json_object_set_new(group, "virtualised",
			    sysroot_field(cpuinfo, "flags", flags, sizeof(flags))
				    ? json_boolean(strstr(flags, " hypervisor") != NULL)
				    : json_null());
	return group;
}

static json_t *distro(const struct sysroot *root)
{
	static char text[8192];
	const char *at;

	if (sysroot_read(root, text, sizeof(text), "etc/os-release") < 0 ||
	    (at = strstr(text, "PRETTY_NAME=\"")) == NULL)
		return json_null();
	at += strlen("PRETTY_NAME=\"");
	return json_stringn(at, strcspn(at, "\"\n"));
}

/* The part of the command line that bears on measurements. */
static json_t *kernel_options(const struct sysroot *root)
{
	static const char *const wanted[] = {
		"iommu=", "intel_iommu=", "amd_iommu=", "isolcpus=", "nohz_full=",
		"idle=",  "mitigations=", "pci=",	"tsc="};
	char text[4096];
	json_t *list = json_array();
	char *save = NULL;

	if (sysroot_read(root, text, sizeof(text), "proc/cmdline") < 0) {
		json_decref(list);
		return json_null();
	}
	for (char *word = strtok_r(text, " \n", &save); word != NULL;
	     word = strtok_r(NULL, " \n", &save)) {
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
			if (strncmp(word, wanted[i], strlen(wanted[i])) == 0)
				json_array_append_new(list, result_text(word));
		}
	}
	return list;
}

/* Containers say what they are in one of these ways, or not at all. */
static json_t *container(const struct sysroot *root)
{
	if (sysroot_exists(root, "run/systemd/container"))
		return fact_get(root, FACT_TEXT, "run/systemd/container");
	if (sysroot_exists(root, "run/.containerenv"))
		return json_string("podman");
	return sysroot_exists(root, ".dockerenv") ? json_string("docker") : json_null();
}

static json_t *gather_os(const struct sysroot *root)
{
	static const struct fact facts[] = {
		{"lockdown", FACT_TEXT, SYSROOT_LOCKDOWN},
		{0},
	};
	struct utsname name;
	bool known = uname(&name) == 0;
	json_t *group = json_pack("{s:o, s:o, s:o, s:o, s:o}", "kernel",
				  result_text(known ? name.release : NULL), "machine",
				  result_text(known ? name.machine : NULL), "distro", distro(root),
				  "cmdline", kernel_options(root), "container", container(root));

	fact_add(root, group, "", facts);
	return group;
}

static json_t *positive(unsigned long long value)
{
	return value > 0 ? json_integer((json_int_t)value) : json_null();
}

/* The size of CPU 0's last-level cache. */
static json_t *llc_ways(const struct sysroot *root)
{
	int last = 0;

	while (sysroot_exists(root, "sys/devices/system/cpu/cpu0/cache/index%d", last + 1))
		last++;
	return fact_get(root, FACT_NUMBER,
			"sys/devices/system/cpu/cpu0/cache/index%d/ways_of_associativity", last);
}

static json_t *gather_cpu(const struct sysroot *root, const struct topology *topology,
			  const char *cpuinfo)
{
	int64_t smt;
	json_t *group = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "model",
				  field(cpuinfo, "model name"), "family",
				  field(cpuinfo, "cpu family"), "model_id", field(cpuinfo, "model"),
				  "stepping", field(cpuinfo, "stepping"), "microcode",
				  field(cpuinfo, "microcode"), "smt_active",
				  sysroot_number(root, &smt, "sys/devices/system/cpu/smt/active")
					  ? json_boolean(smt != 0)
					  : json_null(),
				  "llc_ways", llc_ways(root));

	if (topology != NULL)
		json_object_update_new(
			group, json_pack("{s:o, s:o, s:o, s:o}", "sockets",
					 positive(topology_sockets(topology)), "cores",
					 positive(topology_cores(topology)), "numa_nodes",
					 result_known(topology_numa_nodes(topology)), "llc_bytes",
					 positive(topology_llc_bytes(topology))));
	return group;
}

static json_t *gather_noise(const struct sysroot *root)
{
	static const struct fact facts[] = {
		{"thp", FACT_TEXT, "sys/kernel/mm/transparent_hugepage/enabled"},
		{"loadavg", FACT_TEXT, "proc/loadavg"},
		{"isolated_cpus", FACT_TEXT, "sys/devices/system/cpu/isolated"},
		{"clocksource", FACT_TEXT, SYSROOT_CLOCKSOURCE},
		{"numa_balancing", FACT_NUMBER, SYSROOT_NUMA_BALANCING},
		{"ksm_run", FACT_NUMBER, "sys/kernel/mm/ksm/run"},
		{"perf_event_paranoid", FACT_NUMBER, "proc/sys/kernel/perf_event_paranoid"},
		{0},
	};
	json_t *group = json_object();

	fact_add(root, group, "", facts);
	return group;
}

static json_t *gather_mitigations(const struct sysroot *root)
{
	struct sysroot_walk files = sysroot_walk(root, SIZE_MAX, VULNERABILITIES);
	json_t *group = files.directory != NULL ? json_object() : json_null();
	const char *name;
	char line[256];

	while ((name = sysroot_next(&files)) != NULL) {
		if (sysroot_text(root, line, VULNERABILITIES "/%s", name))
			json_object_set_new(group, name, result_text(line));
	}
	return group;
}

static json_t *limit(rlim_t value)
{
	return value == RLIM_INFINITY ? json_string("unlimited") : json_integer((json_int_t)value);
}

/* "Node 0 MemTotal:  16384 kB" of each node. */
static json_t *memory_nodes(const struct sysroot *root)
{
	json_t *list = json_array();
	char text[4096];

	for (int node = 0; node < NODES_MAX; node++) {
		const char *total;

		if (sysroot_read(root, text, sizeof(text), "sys/devices/system/node/node%d/meminfo",
				 node) < 0)
			continue;
		total = strstr(text, "MemTotal:");
		json_array_append_new(
			list, json_pack("{s:i, s:o}", "node", node, "total_bytes",
					total != NULL ? number_field(total, "MemTotal", 1024)
						      : json_null()));
	}
	return list;
}

static json_t *gather_memory(const struct sysroot *root)
{
	static char meminfo[16384];
	json_t *group = json_object();
	struct rlimit memlock;

	if (sysroot_read(root, meminfo, sizeof(meminfo), "proc/meminfo") < 0)
		meminfo[0] = '\0';
	json_object_set_new(group, "total_bytes", number_field(meminfo, "MemTotal", 1024));
	json_object_set_new(group, "hugepages", number_field(meminfo, "HugePages_Total", 1));
	json_object_set_new(group, "hugepage_bytes", number_field(meminfo, "Hugepagesize", 1024));
	json_object_set_new(group, "nodes", memory_nodes(root));
	if (getrlimit(RLIMIT_MEMLOCK, &memlock) == 0) {
		json_object_set_new(group, "memlock_soft_bytes", limit(memlock.rlim_cur));
		json_object_set_new(group, "memlock_hard_bytes", limit(memlock.rlim_max));
	}
	return group;
}

static json_t *gather_software(void)
{
	/* the faults of the software device, and what else it was told to do to the traffic */
	const char *soft = soft_active() ? getenv("RPMA_SOFT") : NULL;

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s}", "librpma", RPMA_VERSION,
			 "libibverbs", environment_library("libibverbs.so"), "librdmacm",
			 environment_library("librdmacm.so"), "libpmem",
			 environment_library("libpmem.so"), "provider", environment_provider(),
			 "soft_device", result_text(soft), "compiler", __VERSION__);
}

json_t *environment_gather(const struct sysroot *root, const struct topology *topology,
			   const char *device)
{
	const size_t size = 1 << 16;
	char *cpuinfo = malloc(size);
	json_t *block;

	if (cpuinfo == NULL)
		return json_null();
	sysroot_read(root, cpuinfo, size, "proc/cpuinfo");
	block = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "host",
			  gather_host(root, cpuinfo), "os", gather_os(root), "cpu",
			  gather_cpu(root, topology, cpuinfo), "power", environment_power(root),
			  "noise", gather_noise(root), "mitigations", gather_mitigations(root),
			  "nic", environment_nic(root, device), "memory", gather_memory(root),
			  "pmem", environment_pmem(root), "software", gather_software());
	free(cpuinfo);
	return block != NULL ? block : json_null();
}

void environment_anonymise(json_t *block)
{
	json_t *host = json_object_get(block, "host"), *nic = json_object_get(block, "nic");

	json_object_set_new(host, "hostname", json_null());
	if (json_is_object(nic))
		json_object_set_new(nic, "node_guid", json_null());
}
