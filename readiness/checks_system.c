/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checks_system.c -- where things are and how the machine is set: what makes
 * figures worse or unsteady, and never data unsafe.
 */
#include <string.h>

#include "checks.h"
#include "common/host/topology.h"

#define IDLE_MAX_NS 5000 /* the exit from the first state takes 1 to 2 us, from C1E 10 us */

/* The node of what the target lies on: -1 unknown, -2 several. */
static int node_of_target(const struct facts_target *target)
{
	int node = -1;

	for (size_t i = 0; i < target->namespaces_count + target->regions_count; i++) {
		int one = i < target->namespaces_count
				  ? target->namespaces[i].numa_node
				  : target->regions[i - target->namespaces_count].numa_node;

		if (one < 0 || one == node)
			continue;
		if (node >= 0)
			return -2;
		node = one;
	}
	return node;
}

static bool on_pmem(enum target_shape shape)
{
	return shape == TARGET_ON_DEVDAX || shape == TARGET_ON_FSDAX || shape == TARGET_ON_BLOCK;
}

static void inspect_pmem_node(const struct facts *facts, struct readiness_finding *finding)
{
	int nic = facts->device.numa_node, memory = node_of_target(&facts->target);

	if (checks_without_hardware(facts, finding))
		return;
	if (!on_pmem(facts->target.shape)) {
		finding_is(finding, SKIP, "No persistent memory was named as target.");
		return;
	}
	finding_source(finding,
		       "/sys/class/infiniband/%s/device/numa_node, /sys/bus/nd/devices/*/numa_node",
		       facts->device.name);
	finding_value(finding, "NIC %d, target %d", nic, memory);
	if (memory == -2) {
		finding_value(finding, "NIC %d, target on several", nic);
		finding_say(finding, READINESS_WARN,
			    "The target lies on several NUMA nodes: the NIC is far from a part.",
			    "Take a target of one node, with the NIC on the same.");
	} else if (nic < 0 || memory < 0)
		finding_is(finding, UNKNOWN,
			   "The NUMA node of the NIC or of the target is not known.");
	else if (nic != memory)
		finding_say(finding, READINESS_WARN,
			    "NIC and persistent memory are on different NUMA nodes: all data "
			    "crosses the link between the sockets.",
			    "Take a NIC, or a target, of the same node.");
	else
		finding_is(finding, PASS, "NIC and persistent memory are on the same NUMA node.");
}

static void inspect_cpus(const struct facts *facts, struct readiness_finding *finding)
{
	const char *local = facts->device.local_cpus, *usable = facts->platform.usable_cpus;

	if (checks_without_hardware(facts, finding))
		return;
	finding_source(finding, "/sys/class/infiniband/%s/device/local_cpulist, /proc/self/status",
		       facts->device.name);
	if (!topology_list_valid(local) || !topology_list_valid(usable)) {
		finding_is(finding, UNKNOWN,
			   "The CPUs near the NIC, or those that may be used, are not known.");
		return;
	}
	finding_value(finding, "near the NIC %s, usable %s", local, usable);
	if (topology_lists_meet(local, usable))
		finding_is(finding, PASS, "There are CPUs near the NIC to run on.");
	else
		finding_say(finding, READINESS_WARN,
			    "None of the CPUs this process may use is near the NIC.",
			    "Start it on CPUs of the NIC's node (numactl, taskset), or widen the "
			    "cpuset of the container.");
}

static void inspect_balancing(const struct facts *facts, struct readiness_finding *finding)
{
	int64_t value = facts->platform.numa_balancing;

	finding_source(finding, "/" SYSROOT_NUMA_BALANCING);
	if (value < 0) {
		finding_is(finding, SKIP, "This kernel does not balance NUMA memory.");
		return;
	}
	finding_value(finding, "%lld", (long long)value);
	if (value == 0)
		finding_is(finding, PASS, "The kernel moves no memory between nodes.");
	else
		finding_say(finding, READINESS_WARN,
			    "The kernel unmaps pages to see who uses them: latency has spikes, and "
			    "on-demand paging faults.",
			    "As root: sysctl kernel.numa_balancing=0.");
}

static void inspect_governor(const struct facts *facts, struct readiness_finding *finding)
{
	const char *governor = facts->platform.governor;

	finding_source(finding, "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
	if (governor[0] == '\0') {
		finding_is(finding, SKIP,
			   "The kernel does not set the frequency, as in most virtual machines.");
		return;
	}
	finding_value(finding, "%s", governor);
	if (strcmp(governor, "performance") == 0)
		finding_is(finding, PASS, "CPUs run as fast as they can.");
	else
		finding_say(finding, READINESS_WARN,
			    "CPUs slow down when they have little to do: figures depend on what "
			    "ran before.",
			    "For measurements, as root: cpupower frequency-set -g performance.");
}

static void inspect_turbo(const struct facts *facts, struct readiness_finding *finding)
{
	enum known turbo = facts->platform.turbo;

	finding_source(finding, "/sys/devices/system/cpu/{intel_pstate/no_turbo,cpufreq/boost}");
	if (turbo == KNOWN_NOT) {
		finding_is(finding, SKIP, "The kernel does not tell whether CPUs have a turbo.");
		return;
	}
	finding_value(finding, "%s", turbo == KNOWN_YES ? "on" : "off");
	if (turbo == KNOWN_NO)
		finding_is(finding, PASS, "Frequencies do not depend on temperature.");
	else
		finding_say(finding, READINESS_WARN,
			    "Frequencies depend on temperature and on what other cores do: figures "
			    "differ from run to run.",
			    "For comparisons turn it off in the firmware's menu, or write 1 to "
			    "intel_pstate/no_turbo, or 0 to cpufreq/boost.");
}

static void inspect_idle(const struct facts *facts, struct readiness_finding *finding)
{
	int64_t exit_ns = facts->platform.deepest_idle_ns;

	finding_source(finding, "/sys/devices/system/cpu/cpu0/cpuidle/state*/{disable,latency}");
	if (exit_ns < 0) {
		finding_is(finding, SKIP,
			   "The kernel chooses no idle states, as in most virtual machines.");
		return;
	}
	finding_value(finding, "%lld us to wake from the deepest", (long long)exit_ns / 1000);
	if (exit_ns <= IDLE_MAX_NS)
		finding_is(finding, PASS, "CPUs wake quickly.");
	else
		finding_say(
			finding, READINESS_WARN,
			"CPUs may sleep so deep that waking takes longer than an RDMA operation.",
			"For measurements that wait for events, as root: cpupower idle-set -D 5.");
}

static void inspect_clock(const struct facts *facts, struct readiness_finding *finding)
{
	const char *clock = facts->platform.clocksource;

	finding_source(finding, "/" SYSROOT_CLOCKSOURCE);
	finding_value(finding, "%s", clock);
	if (clock[0] == '\0')
		finding_is(finding, UNKNOWN, "The clock of the kernel is not known.");
	else if (strcmp(clock, "tsc") == 0 || strcmp(clock, "arch_sys_counter") == 0)
		finding_is(finding, PASS, "Reading the time takes some nanoseconds.");
	else
		finding_say(finding, READINESS_WARN,
			    "Reading the time is slow, or goes through a hypervisor.",
			    "See in the kernel's log why tsc was given up; on a machine that keeps "
			    "it stable: clocksource=tsc on the kernel's command line.");
}

static void inspect_lockdown(const struct facts *facts, struct readiness_finding *finding)
{
	const char *lockdown = facts->platform.lockdown;

	finding_source(finding, "/" SYSROOT_LOCKDOWN);
	if (lockdown[0] == '\0') {
		finding_is(finding, SKIP, "The kernel does not tell of a lockdown.");
		return;
	}
	finding_value(finding, "%s", lockdown);
	if (strcmp(lockdown, "none") == 0)
		finding_is(finding, PASS, "Registers can be read, for root.");
	else
		finding_say(finding, READINESS_WARN,
			    "The kernel is locked down: model specific registers, and with "
			    "confidentiality performance events, are out of reach of root, too.",
			    "For the time of the check boot without lockdown=, or with secure boot "
			    "off.");
}

static void inspect_interrupts(const struct facts *facts, struct readiness_finding *finding)
{
	const char *local = facts->device.local_cpus, *irqs = facts->platform.irq_cpus;

	if (checks_without_hardware(facts, finding))
		return;
	finding_source(finding,
		       "/sys/class/infiniband/%s/device/{msi_irqs,local_cpulist}, "
		       "/proc/irq/*/effective_affinity_list",
		       facts->device.name);
	if (!topology_list_valid(local) || !topology_list_valid(irqs)) {
		finding_is(finding, UNKNOWN, "Where the NIC's interrupts go is not known.");
		return;
	}
	finding_value(finding, "interrupts on %s, near the NIC %s", irqs, local);
	if (topology_list_has(local, irqs))
		finding_is(finding, PASS, "The NIC's interrupts go to CPUs near it.");
	else
		finding_say(finding, READINESS_WARN,
			    "Some of the NIC's interrupts go to CPUs of another node: waiting for "
			    "events takes longer there.",
			    "Set /proc/irq/*/smp_affinity_list of the NIC's interrupts (irqbalance "
			    "moves them back), or use queues of near CPUs.");
}

#define FIGURES_ONLY "It bears on figures, not on the safety of data.\n"

const struct readiness_check checks_system[] = {
	{"NUMA-01", "NIC and persistent memory", READINESS_ADVISES, READINESS_ADVISES,
	 inspect_pmem_node,
	 "Between sockets bandwidth is less and latency more. Compared are numa_node of the\n"
	 "NIC and of the namespaces and regions the target lies on. " FIGURES_ONLY
	 "PASS: the same node.\n"
	 "WARN: different ones, or the target is on several.\n"
	 "UNKNOWN: the platform does not tell (-1).\n"
	 "SKIP: no device, software transport, or no persistent memory as target.\n"},
	{"NUMA-02", "CPUs near the NIC", READINESS_ADVISES, READINESS_ADVISES, inspect_cpus,
	 "Threads that post and poll should run near the NIC. Compared are local_cpulist of\n"
	 "the NIC and the CPUs that this process may use (Cpus_allowed_list). " FIGURES_ONLY
	 "PASS: some are near it.\n"
	 "WARN: none is.\n"
	 "UNKNOWN: one of the lists cannot be read.\n"
	 "SKIP: no device, or a software transport.\n"},
	{"NUMA-03", "NUMA balancing", READINESS_ADVISES, READINESS_ADVISES, inspect_balancing,
	 "The kernel's balancing unmaps pages from time to time to learn who uses them;\n"
	 "registered memory cannot be moved, so it costs and brings nothing. Read from\n"
	 "/proc/sys/kernel/numa_balancing. " FIGURES_ONLY "PASS: off (0).\n"
	 "WARN: on.\n"
	 "SKIP: the kernel has none.\n"},
	{"SYS-01", "frequency governor", READINESS_ADVISES, READINESS_ADVISES, inspect_governor,
	 "A governor that saves power lets the first operations after a pause run slowly. Read\n"
	 "from scaling_governor of all CPUs. " FIGURES_ONLY "PASS: all have performance.\n"
	 "WARN: another.\n"
	 "SKIP: the kernel does not set frequencies.\n"},
	{"SYS-02", "turbo", READINESS_ADVISES, READINESS_ADVISES, inspect_turbo,
	 "Turbo frequencies last as long as the processor is cool. Read from\n"
	 "intel_pstate/no_turbo or cpufreq/boost. " FIGURES_ONLY "PASS: off.\n"
	 "WARN: on: faster, but less repeatable.\n"
	 "SKIP: the kernel does not tell.\n"},
	{"SYS-03", "idle states", READINESS_ADVISES, READINESS_ADVISES, inspect_idle,
	 "A CPU that waits for an event sleeps; from the deeper states it takes 10 to 200\n"
	 "microseconds to wake. Read from cpuidle of CPU 0. " FIGURES_ONLY
	 "PASS: no state takes more than 5 us.\n"
	 "WARN: one does.\n"
	 "SKIP: the kernel chooses no states.\n"},
	{"SYS-04", "clock", READINESS_ADVISES, READINESS_ADVISES, inspect_clock,
	 "Each sample takes the time twice; with another clock than the processor's own that\n"
	 "is a system call, or a trap. Read from current_clocksource. " FIGURES_ONLY
	 "PASS: tsc, or arch_sys_counter.\n"
	 "WARN: another.\n"
	 "UNKNOWN: cannot be read.\n"},
	{"SYS-05", "lockdown", READINESS_ADVISES, READINESS_ADVISES, inspect_lockdown,
	 "A kernel that is locked down keeps model specific registers, and with\n"
	 "confidentiality performance events, from root: DDIO-02 and DDIO-06 then know\n"
	 "nothing. Read from /sys/kernel/security/lockdown.\n"
	 "PASS: none.\n"
	 "WARN: integrity or confidentiality.\n"
	 "SKIP: the kernel does not tell.\n"},
	{"SYS-06", "interrupts of the NIC", READINESS_ADVISES, READINESS_ADVISES,
	 inspect_interrupts,
	 "A thread that waits for events is woken on the CPU that had the interrupt. Compared are\n"
	 "effective_affinity_list of the NIC's interrupts and its local_cpulist. " FIGURES_ONLY
	 "PASS: all are near the NIC.\n"
	 "WARN: some are not.\n"
	 "UNKNOWN: cannot be read, or there are none.\n"
	 "SKIP: no device, or a software transport.\n"},
	{0},
};
