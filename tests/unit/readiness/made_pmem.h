/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_pmem.h -- trees of files as libnvdimm lays out its sysfs, and what
 * gather_target() makes of them.
 */
#pragma once

#include "readiness/gather.h"
#include "tests/lib/scratch_root.h"

#define ND	"sys/bus/nd/devices"
#define BUS	"sys/devices/LNXSYSTM:00/ACPI0012:00/ndbus0"
#define TO_BUS	"../../../devices/LNXSYSTM:00/ACPI0012:00/ndbus0"
#define TO_BUS1 "../../devices/LNXSYSTM:00/ACPI0012:00/ndbus0"
#define SCHEMA	"{\"schema\":\"rpma-ddio-check-facts/1\",\"targets\":"

static struct facts_target target;

static inline void gather(const char *path)
{
	struct answers answers;
	const struct gather g = {.root = &root, .answers = &answers};

	assert_int_equal(answers_open(&answers, &root), 0);
	gather_target(&g, path, &target);
	answers_close(&answers);
}

static inline void put(const char *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline void put(const char *text, const char *format, ...)
{
	char name[256];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	scratch_write(name, text);
}

static inline void link_to(const char *name, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline void link_to(const char *name, const char *format, ...)
{
	char to[256];
	va_list args;

	va_start(args, format);
	vsnprintf(to, sizeof(to), format, args);
	va_end(args);
	scratch_link(to, name);
}

static inline void put_region(int n)
{
	char name[64];

	put("ACPI.NFIT\n", BUS "/provider");
	put("memory_controller\n", BUS "/region%d/persistence_domain", n);
	put("135291469824\n", BUS "/region%d/size", n);
	put("0\n", BUS "/region%d/read_only", n);
	put("0\n", BUS "/region%d/numa_node", n);
	put("0x100000000\n", BUS "/region%d/resource", n);
	put("", BUS "/region%d/badblocks", n);
	put("1\n", BUS "/region%d/mappings", n);
	snprintf(name, sizeof(name), "nmem%d,0x0,0x1f80000000,0\n", n);
	put(name, BUS "/region%d/mapping0", n);
	put("\n", BUS "/nmem%d/nfit/flags", n);
	put("0\n", BUS "/nmem%d/nfit/dirty_shutdown", n);
	snprintf(name, sizeof(name), ND "/region%d", n);
	link_to(name, TO_BUS "/region%d", n);
	snprintf(name, sizeof(name), ND "/nmem%d", n);
	link_to(name, TO_BUS "/nmem%d", n);
}

static inline void put_namespace(int region, int n, const char *mode)
{
	char name[64];

	put(mode, BUS "/region%d/namespace%d.%d/mode", region, region, n);
	put("1073741824\n", BUS "/region%d/namespace%d.%d/size", region, region, n);
	put("0x100200000\n", BUS "/region%d/namespace%d.%d/resource", region, region, n);
	snprintf(name, sizeof(name), ND "/namespace%d.%d", region, n);
	link_to(name, TO_BUS "/region%d/namespace%d.%d", region, region, n);
}

/* Like libnvdimm: the namespace is claimed by dax0.1, below which is dax0.0. */
static inline void put_devdax(void)
{
	static const char at[] = BUS "/region0/dax0.1/dax0.0";

	put_region(0);
	put_namespace(0, 0, "dax\n");
	put("namespace0.0\n", BUS "/region0/dax0.1/namespace");
	put("1056964608\n", "%s/size", at);
	put("2097152\n", "%s/align", at);
	scratch_link("../../../../../../../bus/dax/drivers/device_dax",
		     BUS "/region0/dax0.1/dax0.0/driver");
	scratch_link("../../../../../../../bus/dax", BUS "/region0/dax0.1/dax0.0/subsystem");
	scratch_link(TO_BUS "/region0/dax0.1/dax0.0", "sys/bus/dax/devices/dax0.0");
	scratch_link(TO_BUS1 "/region0/dax0.1/dax0.0", "sys/dev/char/252:5");
}

/* pmemN below what claims its namespace, of numbers 259:N. */
static inline void put_disk(int n, const char *claim, const char *disk, const char *mode)
{
	char name[128], text[32];

	put_region(n);
	put_namespace(n, 0, mode);
	snprintf(text, sizeof(text), "namespace%d.0\n", n);
	put(text, BUS "/region%d/%s/namespace", n, claim);
	put("1\n", BUS "/region%d/%s/block/%s/queue/dax", n, claim, disk);
	put("", BUS "/region%d/%s/block/%s/badblocks", n, claim, disk);
	snprintf(name, sizeof(name), "sys/block/%s", disk);
	link_to(name, "../devices/LNXSYSTM:00/ACPI0012:00/ndbus0/region%d/%s/block/%s", n, claim,
		disk);
	snprintf(name, sizeof(name), "sys/dev/block/259:%d", n);
	link_to(name, TO_BUS1 "/region%d/%s/block/%s", n, claim, disk);
}

static inline void put_fsdax(void)
{
	put_disk(0, "pfn0.1", "pmem0", "memory\n");
}

static inline void is_on(enum target_shape shape, const char *device, size_t regions)
{
	EQUAL((target.shape, shape), (target.device, device), (target.regions_count, regions));
}

static inline void is_made_of(const char *name, const char *mode)
{
	EQUAL((target.namespaces_count, 1), (target.namespaces[0].name, name),
	      (target.namespaces[0].mode, mode));
}
