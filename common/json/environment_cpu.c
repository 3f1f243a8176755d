/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment_cpu.c -- is the processor emulated, and which libraries are
 * loaded: facts that do not come from files.
 */
#include <stdio.h>
#include <string.h>

#include "common/rdma/soft.h"
#include "environment.h"
#include "result.h"

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

/* The file is named after the version: libibverbs.so.1.14.44.0. */
json_t *environment_library(const char *soname)
{
	/* the library is loaded, but nothing of it is called */
	if (soft_active())
		return json_string("librpma-soft " RPMA_VERSION);
	char line[4352];
	json_t *version = json_null();
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps != NULL && json_is_null(version) && fgets(line, sizeof(line), maps) != NULL) {
		const char *base = strrchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (base != NULL && strncmp(base + 1, soname, strlen(soname)) == 0 &&
		    base[1 + strlen(soname)] == '.')
			version = result_text(base + 2 + strlen(soname));
	}
	if (maps != NULL)
		fclose(maps);
	return version;
}

/* Drivers are plug-ins of libibverbs: libmlx5-rdmav34.so. */
json_t *environment_provider(void)
{
	char line[4352];
	json_t *provider = json_null();
	FILE *maps;

	if (soft_active())
		return provider;
	maps = fopen("/proc/self/maps", "re");
	while (maps != NULL && json_is_null(provider) && fgets(line, sizeof(line), maps) != NULL) {
		const char *base = strrchr(line, '/');
		char *end = base != NULL ? strstr(base, ".so") : NULL;

		if (end == NULL || strncmp(base, "/lib", 4) != 0 || strstr(base, "-rdmav") == NULL)
			continue;
		*end = '\0';
		provider = result_text(base + 4);
	}
	if (maps != NULL)
		fclose(maps);
	return provider;
}
