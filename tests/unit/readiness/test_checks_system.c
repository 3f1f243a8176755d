/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_checks_system.c -- NUMA-01 to NUMA-03 and SYS-01 to SYS-06: each status
 * from the facts that lead to it.
 */
#include "cases.h"

static void no_target(struct facts *f)
{
	f->target.shape = TARGET_NOT_GIVEN;
}

static void dram(struct facts *f)
{
	f->target.shape = TARGET_NOT_PMEM;
}

static void target_node(struct facts *f, int node)
{
	f->target.regions[0].numa_node = f->target.namespaces[0].numa_node = node;
}

static void target_far(struct facts *f)
{
	target_node(f, 1);
}

static void target_on_two_nodes(struct facts *f)
{
	f->target.regions[1].numa_node = 1;
	f->target.regions_count = 2;
}

static void target_unknown(struct facts *f)
{
	target_node(f, -1);
}

static void nic_unknown(struct facts *f)
{
	f->device.numa_node = -1;
}

static void namespace_known(struct facts *f)
{
	target_unknown(f);
	f->target.namespaces[0].numa_node = 0;
}

static void usable(struct facts *f, const char *list)
{
	snprintf(f->platform.usable_cpus, sizeof(f->platform.usable_cpus), "%s", list);
}

static void usable_far(struct facts *f)
{
	usable(f, "16-31");
}

static void usable_one_near(struct facts *f)
{
	usable(f, "15-31");
}

static void usable_unknown(struct facts *f)
{
	usable(f, "");
}

static void local_unknown(struct facts *f)
{
	f->device.local_cpus[0] = '\0';
}

static void local_is_junk(struct facts *f)
{
	snprintf(f->device.local_cpus, sizeof(f->device.local_cpus), "all of them");
}

static void balancing(struct facts *f)
{
	f->platform.numa_balancing = 1;
}

static void balancing_tiers(struct facts *f)
{
	f->platform.numa_balancing = 2;
}

static void no_balancing(struct facts *f)
{
	f->platform.numa_balancing = -1;
}

static void powersave(struct facts *f)
{
	snprintf(f->platform.governor, sizeof(f->platform.governor), "powersave");
}

static void mixed_governors(struct facts *f)
{
	snprintf(f->platform.governor, sizeof(f->platform.governor), "performance, schedutil");
}

static void no_governor(struct facts *f)
{
	f->platform.governor[0] = '\0';
}

static void turbo(struct facts *f)
{
	f->platform.turbo = KNOWN_YES;
}

static void turbo_unknown(struct facts *f)
{
	f->platform.turbo = KNOWN_NOT;
}

static void deep_sleep(struct facts *f)
{
	f->platform.deepest_idle_ns = 133000;
}

static void no_idle(struct facts *f)
{
	f->platform.deepest_idle_ns = -1;
}

static void clock_is(struct facts *f, const char *name)
{
	snprintf(f->platform.clocksource, sizeof(f->platform.clocksource), "%s", name);
}

static void hpet(struct facts *f)
{
	clock_is(f, "hpet");
}

static void kvm_clock(struct facts *f)
{
	clock_is(f, "kvm-clock");
}

static void clock_of_arm(struct facts *f)
{
	clock_is(f, "arch_sys_counter");
}

static void clock_unknown(struct facts *f)
{
	clock_is(f, "");
}

static void integrity(struct facts *f)
{
	snprintf(f->platform.lockdown, sizeof(f->platform.lockdown), "integrity");
}

static void confidentiality(struct facts *f)
{
	snprintf(f->platform.lockdown, sizeof(f->platform.lockdown), "confidentiality");
}

static void no_lockdown_file(struct facts *f)
{
	f->platform.lockdown[0] = '\0';
}

static void interrupts_far(struct facts *f)
{
	snprintf(f->platform.irq_cpus, sizeof(f->platform.irq_cpus), "3,16");
}

static void no_interrupts(struct facts *f)
{
	f->platform.irq_cpus[0] = '\0';
}

static const struct check_case cases[] = {
	{"NUMA-01", READINESS_PASS, NULL},
	{"NUMA-01", READINESS_PASS, namespace_known},
	{"NUMA-01", READINESS_WARN, target_far},
	{"NUMA-01", READINESS_WARN, target_on_two_nodes},
	{"NUMA-01", READINESS_UNKNOWN, target_unknown},
	{"NUMA-01", READINESS_UNKNOWN, nic_unknown},
	{"NUMA-01", READINESS_SKIP, no_target},
	{"NUMA-01", READINESS_SKIP, dram},
	{"NUMA-01", READINESS_SKIP, rxe},
	{"NUMA-01", READINESS_SKIP, no_device},
	{"NUMA-02", READINESS_PASS, NULL},
	{"NUMA-02", READINESS_PASS, usable_one_near},
	{"NUMA-02", READINESS_WARN, usable_far},
	{"NUMA-02", READINESS_UNKNOWN, usable_unknown},
	{"NUMA-02", READINESS_UNKNOWN, local_unknown},
	{"NUMA-02", READINESS_UNKNOWN, local_is_junk},
	{"NUMA-02", READINESS_SKIP, rxe},
	{"NUMA-02", READINESS_SKIP, no_device},
	{"NUMA-03", READINESS_PASS, NULL},
	{"NUMA-03", READINESS_WARN, balancing},
	{"NUMA-03", READINESS_WARN, balancing_tiers},
	{"NUMA-03", READINESS_SKIP, no_balancing},
	{"SYS-01", READINESS_PASS, NULL},
	{"SYS-01", READINESS_WARN, powersave},
	{"SYS-01", READINESS_WARN, mixed_governors},
	{"SYS-01", READINESS_SKIP, no_governor},
	{"SYS-02", READINESS_PASS, NULL},
	{"SYS-02", READINESS_WARN, turbo},
	{"SYS-02", READINESS_SKIP, turbo_unknown},
	{"SYS-03", READINESS_PASS, NULL},
	{"SYS-03", READINESS_WARN, deep_sleep},
	{"SYS-03", READINESS_SKIP, no_idle},
	{"SYS-04", READINESS_PASS, NULL},
	{"SYS-04", READINESS_PASS, clock_of_arm},
	{"SYS-04", READINESS_WARN, hpet},
	{"SYS-04", READINESS_WARN, kvm_clock},
	{"SYS-04", READINESS_UNKNOWN, clock_unknown},
	{"SYS-05", READINESS_PASS, NULL},
	{"SYS-05", READINESS_WARN, integrity},
	{"SYS-05", READINESS_WARN, confidentiality},
	{"SYS-05", READINESS_SKIP, no_lockdown_file},
	{"SYS-06", READINESS_PASS, NULL},
	{"SYS-06", READINESS_WARN, interrupts_far},
	{"SYS-06", READINESS_UNKNOWN, no_interrupts},
	{"SYS-06", READINESS_UNKNOWN, local_unknown},
	{"SYS-06", READINESS_SKIP, rxe},
	{"SYS-06", READINESS_SKIP, no_device},
};

CASES_OF(checks_system)
