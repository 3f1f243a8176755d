/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_gather_platform.c -- what cpuinfo, the command line and sysfs say of
 * the processor and of the kernel's settings.
 */
#include "tree.h"

static struct facts_platform p;

#define CPU0 "sys/devices/system/cpu/cpu0/"

ROOT_TEST(nothing_is_known_of_an_empty_tree)
{
	tree_gather_platform(&p);
	EQUAL((p.vendor, ""), (p.family, -1), (p.model, -1), (p.stepping, -1),
	      (p.tph_disabled, KNOWN_NOT), (p.ddio_ways_msr, -1), (p.turbo, KNOWN_NOT),
	      (p.deepest_idle_ns, -1), (p.numa_balancing, -1), (p.governor, ""));
	EQUAL((p.clocksource, ""), (p.lockdown, ""), (p.usable_cpus, ""), (p.irq_cpus, ""),
	      (p.emulated, ""));
}

ROOT_TEST(a_processor_of_intel)
{
	scratch_write("proc/cpuinfo", "processor\t: 0\n"
				      "vendor_id\t: GenuineIntel\n"
				      "cpu family\t: 6\n"
				      "model\t\t: 85\n"
				      "model name\t: Intel(R) Xeon(R) Gold 6252 CPU @ 2.10GHz\n"
				      "stepping\t: 7\n"
				      "flags\t\t: fpu vme hypervisors\n"
				      "\n"
				      "processor\t: 1\n"
				      "model\t\t: 1\n");
	tree_gather_platform(&p);
	EQUAL((p.vendor, "GenuineIntel"), (p.family, 6), (p.model, 0x55), (p.stepping, 7),
	      (p.cpu_model_name, "Intel(R) Xeon(R) Gold 6252 CPU @ 2.10GHz"), (p.emulated, ""));
}

ROOT_TEST(a_processor_of_arm)
{
	scratch_write("proc/cpuinfo", "processor\t: 0\n"
				      "Features\t: fp asimd dcpop sha3\n"
				      "CPU implementer\t: 0x41\n");
	tree_gather_platform(&p);
	EQUAL((p.vendor, "Arm 0x41"), (p.arm_dcpop, KNOWN_YES), (p.arm_dcpodp, KNOWN_NO),
	      (p.family, -1));
}

ROOT_TEST(dcpodp_is_not_dcpop)
{
	scratch_write("proc/cpuinfo", "CPU implementer\t: 0x41\nFeatures\t: fp dcpodp\n");
	tree_gather_platform(&p);
	EQUAL((p.arm_dcpop, KNOWN_NO), (p.arm_dcpodp, KNOWN_YES));
}

ROOT_TEST(a_guest_is_known)
{
	scratch_write("proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor\n");
	tree_gather_platform(&p);
	assert_string_equal(p.emulated, "of unknown make");
	scratch_write("sys/class/dmi/id/sys_vendor", "QEMU\n");
	tree_gather_platform(&p);
	assert_string_equal(p.emulated, "QEMU");
}

ROOT_TEST(the_command_line_is_split_into_words)
{
	static const struct {
		const char *line;
		enum known expected;
	} cases[] = {
		{"ro quiet\n", KNOWN_NO},
		{"ro pci=notph quiet\n", KNOWN_YES},
		{"pci=noaer,notph\n", KNOWN_YES},
		{"pci=noaer pci=notph\n", KNOWN_YES},
		{"pci=notphx\n", KNOWN_NO},
		{"xpci=notph\n", KNOWN_NO},
		{"notph\n", KNOWN_NO},
		{"pci=\n", KNOWN_NO},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		scratch_write("proc/cmdline", cases[i].line);
		tree_gather_platform(&p);
		if (p.tph_disabled != cases[i].expected)
			fail_msg("%s", cases[i].line);
	}
}

/* A sparse file reads as the driver does. */
static void put_msr(const char *path, uint64_t value)
{
	char full[PATH_MAX];
	FILE *file = fopen(scratch_path(path, full), "we");

	assert_non_null(file);
	EQUAL((fseek(file, 0xc8b, SEEK_SET), 0), (fwrite(&value, sizeof(value), 1, file), 1),
	      (fclose(file), 0));
}

ROOT_TEST(ways_are_those_of_the_nics_node)
{
	tree_host();
	tree_file(NIC, "numa_node", "1\n");
	scratch_write("proc/cpuinfo", "vendor_id\t: GenuineIntel\n");
	put_msr("dev/cpu/0/msr", 0x7ff);
	put_msr("dev/cpu/16/msr", 0x600);
	tree_gather_platform(&p);
	assert_int_equal(p.ddio_ways_msr, 0x7ff);
	scratch_write("sys/devices/system/node/node1/cpulist", "16-31\n");
	tree_gather_platform(&p);
	EQUAL((p.ddio_ways_msr, 0x600), (p.ddio_ways_source, "dev/cpu/16/msr"));
}

ROOT_TEST(another_vendor_has_no_such_register)
{
	scratch_write("proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
	put_msr("dev/cpu/0/msr", 0x600);
	tree_gather_platform(&p);
	EQUAL((p.ddio_ways_msr, -1), (p.ddio_ways_source, ""));
}

ROOT_TEST(shared_ways)
{
	scratch_write("sys/fs/resctrl/info/L3/shareable_bits", "600\n");
	scratch_write("sys/fs/resctrl/info/L3/cbm_mask", "7ff\n");
	scratch_write("sys/fs/resctrl/info/L3/io_alloc", "enabled\n");
	scratch_write("sys/fs/resctrl/info/L3/io_alloc_cbm", "0=ffff;1=ffff\n");
	tree_gather_platform(&p);
	EQUAL((p.l3_shareable_bits, "600"), (p.l3_cbm_mask, "7ff"), (p.l3_io_alloc, "enabled"),
	      (p.l3_io_alloc_cbm, "0=ffff;1=ffff"));
}

ROOT_TEST(governors_of_all_processors)
{
	scratch_write(CPU0 "cpufreq/scaling_governor", "performance\n");
	scratch_write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
	tree_gather_platform(&p);
	assert_string_equal(p.governor, "performance");
	scratch_write("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
	tree_gather_platform(&p);
	assert_string_equal(p.governor, "performance, powersave");
}

ROOT_TEST(turbo_has_two_ways_to_be_told)
{
	scratch_write("sys/devices/system/cpu/cpufreq/boost", "1\n");
	tree_gather_platform(&p);
	assert_int_equal(p.turbo, KNOWN_YES);
	scratch_write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
	tree_gather_platform(&p);
	assert_int_equal(p.turbo, KNOWN_NO);
}

static void idle_state(int state, const char *latency, const char *disabled)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), CPU0 "cpuidle/state%d/latency", state);
	scratch_write(path, latency);
	snprintf(path, sizeof(path), CPU0 "cpuidle/state%d/disable", state);
	scratch_write(path, disabled);
}

ROOT_TEST(the_deepest_state_that_is_enabled)
{
	idle_state(0, "0\n", "0\n");
	idle_state(1, "2\n", "0\n");
	idle_state(2, "133\n", "0\n");
	tree_gather_platform(&p);
	assert_int_equal(p.deepest_idle_ns, 133000);
	idle_state(2, "133\n", "1\n");
	tree_gather_platform(&p);
	assert_int_equal(p.deepest_idle_ns, 2000);
}

ROOT_TEST(settings_of_the_kernel)
{
	scratch_write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	scratch_write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	scratch_write("proc/sys/kernel/numa_balancing", "1\n");
	scratch_write("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
	tree_gather_platform(&p);
	EQUAL((p.lockdown, "integrity"), (p.clocksource, "tsc"), (p.numa_balancing, 1),
	      (p.usable_cpus, "0-7"));
}

ROOT_TEST(interrupts_are_put_together)
{
	tree_host();
	tree_file(NIC, "msi_irqs/120", "msix\n");
	tree_file(NIC, "msi_irqs/121", "msix\n");
	tree_file(NIC, "msi_irqs/122", "msix\n");
	scratch_write("proc/irq/120/effective_affinity_list", "3\n");
	scratch_write("proc/irq/121/effective_affinity_list", "4\n");
	scratch_write("proc/irq/122/smp_affinity_list", "17\n");
	scratch_write("proc/irq/9/effective_affinity_list", "30\n");
	tree_gather_platform(&p);
	assert_string_equal(p.irq_cpus, "3-4,17");
}
