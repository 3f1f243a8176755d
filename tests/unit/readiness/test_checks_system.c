/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_checks_system.c -- NUMA-01 to NUMA-03 and SYS-01 to SYS-06: each status
 * from the facts that lead to it.
 */
#include "cases.h"

CHANGE(no_target, f->target.shape = TARGET_NOT_GIVEN)
CHANGE(dram, f->target.shape = TARGET_NOT_PMEM)

static void target_node(struct facts *f, int node)
{
	f->target.regions[0].numa_node = f->target.namespaces[0].numa_node = node;
}

CHANGE(target_far, target_node(f, 1))
CHANGE(target_on_two_nodes, f->target.regions[1].numa_node = 1, f->target.regions_count = 2)
CHANGE(target_unknown, target_node(f, -1))
CHANGE(nic_unknown, f->device.numa_node = -1)
CHANGE(namespace_known, target_unknown(f), f->target.namespaces[0].numa_node = 0)

static void usable(struct facts *f, const char *list)
{
	snprintf(f->platform.usable_cpus, sizeof(f->platform.usable_cpus), "%s", list);
}

CHANGE(usable_far, usable(f, "16-31"))
CHANGE(usable_one_near, usable(f, "15-31"))
CHANGE(usable_unknown, usable(f, ""))
CHANGE(local_unknown, f->device.local_cpus[0] = '\0')
CHANGE(local_is_junk, snprintf(f->device.local_cpus, sizeof(f->device.local_cpus), "all of them"))
CHANGE(balancing, f->platform.numa_balancing = 1)
CHANGE(balancing_tiers, f->platform.numa_balancing = 2)
CHANGE(no_balancing, f->platform.numa_balancing = -1)
CHANGE(powersave, snprintf(f->platform.governor, sizeof(f->platform.governor), "powersave"))
CHANGE(mixed_governors,
       snprintf(f->platform.governor, sizeof(f->platform.governor), "performance, schedutil"))
CHANGE(no_governor, f->platform.governor[0] = '\0')
CHANGE(turbo, f->platform.turbo = KNOWN_YES)
CHANGE(turbo_unknown, f->platform.turbo = KNOWN_NOT)
CHANGE(deep_sleep, f->platform.deepest_idle_ns = 133000)
CHANGE(no_idle, f->platform.deepest_idle_ns = -1)

static void clock_is(struct facts *f, const char *name)
{
	snprintf(f->platform.clocksource, sizeof(f->platform.clocksource), "%s", name);
}

CHANGE(hpet, clock_is(f, "hpet"))
CHANGE(kvm_clock, clock_is(f, "kvm-clock"))
CHANGE(clock_of_arm, clock_is(f, "arch_sys_counter"))
CHANGE(clock_unknown, clock_is(f, ""))
CHANGE(integrity, snprintf(f->platform.lockdown, sizeof(f->platform.lockdown), "integrity"))
CHANGE(confidentiality,
       snprintf(f->platform.lockdown, sizeof(f->platform.lockdown), "confidentiality"))
CHANGE(no_lockdown_file, f->platform.lockdown[0] = '\0')
CHANGE(interrupts_far, snprintf(f->platform.irq_cpus, sizeof(f->platform.irq_cpus), "3,16"))
CHANGE(no_interrupts, f->platform.irq_cpus[0] = '\0')

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
