/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cpu_quota.c -- the quota of the groups of a tree of the test's own. The files are those of
 * cgroups(7), cgroup-v2.rst and sched-bwc.rst.
 */
#include "common/host/cpu_time.h"
#include "tests/lib/scratch_root.h"

static struct cpu_quota now;

static struct cpu_quota look(void)
{
	cpu_quota_read(&root, &now);
	return now;
}

static void expect_none(const struct cpu_quota *quota)
{
	assert_true(quota->known);
	assert_true(quota->cpus == 0);
	assert_int_equal(quota->throttled_periods, 0);
}

ROOT_TEST(version_2_has_cpu_max)
{
	scratch_write("proc/self/cgroup", "0::/user.slice/job\n");
	scratch_write("sys/fs/cgroup/user.slice/job/cpu.max", "50000 100000\n");
	scratch_write("sys/fs/cgroup/user.slice/job/cpu.stat",
		      "usage_usec 9000\nuser_usec 8000\nsystem_usec 1000\nnr_periods 63\n"
		      "nr_throttled 40\nthrottled_usec 1234567\n");
	scratch_write("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
	now = look();
	assert_true(now.known);
	assert_true(now.cpus == 0.5);
	EQUAL((now.periods, 63), (now.throttled_periods, 40), (now.throttled_ns, 1234567000));
}

ROOT_TEST(version_1_has_cfs_quota)
{
	static const char *const controllers[] = {"cpu", "cpu,cpuacct", "cpuacct,cpu"};

	for (size_t i = 0; i < 3; i++) {
		char line[64], path[128];

		/* version 2 is mounted beside it, without the controller */
		snprintf(line, sizeof(line), "5:cpuset:/\n4:%s:/job\n0::/job\n", controllers[i]);
		scratch_write("proc/self/cgroup", line);
		snprintf(path, sizeof(path), "sys/fs/cgroup/%s/job/cpu.cfs_quota_us",
			 controllers[i]);
		scratch_write(path, "150000\n");
		snprintf(path, sizeof(path), "sys/fs/cgroup/%s/job/cpu.cfs_period_us",
			 controllers[i]);
		scratch_write(path, "100000\n");
		snprintf(path, sizeof(path), "sys/fs/cgroup/%s/job/cpu.stat", controllers[i]);
		scratch_write(path, "nr_periods 10\nnr_throttled 3\nthrottled_time 77000000\n");
		now = look();
		assert_true(now.known);
		assert_true(now.cpus == 1.5);
		EQUAL((now.periods, 10), (now.throttled_periods, 3), (now.throttled_ns, 77000000));
	}
}

/* A group above may be tighter, and stops those below it. */
ROOT_TEST(all_groups_above_count)
{
	scratch_write("proc/self/cgroup", "0::/a/b\n");
	scratch_write("sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
	scratch_write("sys/fs/cgroup/a/b/cpu.stat", "nr_periods 5\nnr_throttled 1\n"
						    "throttled_usec 10\n");
	scratch_write("sys/fs/cgroup/a/cpu.max", "25000 100000\n");
	scratch_write("sys/fs/cgroup/a/cpu.stat", "nr_periods 7\nnr_throttled 4\n"
						  "throttled_usec 30\n");
	now = look();
	assert_true(now.cpus == 0.25);
	EQUAL((now.throttled_periods, 5), (now.throttled_ns, 40000));
}

/* A container sees its own group as the root of the mount, whatever its path is called. */
ROOT_TEST(a_container_has_the_root_of_its_mount)
{
	scratch_write("proc/self/cgroup", "0::/\n");
	scratch_write("sys/fs/cgroup/cpu.max", "100000 100000\n");
	scratch_write("sys/fs/cgroup/cpu.stat", "nr_periods 2\nnr_throttled 1\n");
	now = look();
	assert_true(now.known && now.cpus == 1);
	assert_int_equal(now.throttled_periods, 1);
	scratch_write("proc/self/cgroup", "0::/docker/0123456789ab\n");
	now = look();
	assert_true(now.known && now.cpus == 1);
}

ROOT_TEST(without_a_quota_there_is_none)
{
	scratch_write("proc/self/cgroup", "0::/job\n");
	scratch_write("sys/fs/cgroup/job/cgroup.procs", "1\n");
	now = look();
	expect_none(&now);
	scratch_write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
	now = look();
	expect_none(&now);
	scratch_write("proc/self/cgroup", "1:cpu:/job\n");
	scratch_write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
	scratch_write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
	now = look();
	expect_none(&now);
}

ROOT_TEST(what_cannot_be_read_is_unknown)
{
	static const char *const lines[] = {"", "\n", "0:\n", "0::\n", "4:cpu\n", "rubbish"};

	assert_false(look().known);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		scratch_write("proc/self/cgroup", lines[i]);
		assert_false(look().known);
	}
	/* the group has a quota, and whether it was used up cannot be seen */
	scratch_write("proc/self/cgroup", "0::/job\n");
	scratch_write("sys/fs/cgroup/job/cpu.max", "50000 100000\n");
	assert_false(look().known);
	scratch_write("sys/fs/cgroup/job/cpu.stat", "nr_periods 2\nnr_throttled 1\n");
	assert_true(look().known);
}

ROOT_TEST(a_span_is_the_difference)
{
	struct cpu_quota before = {.known = true, .cpus = 2, .periods = 10, .throttled_periods = 3};

	now = (struct cpu_quota){.known = true,
				 .cpus = 2,
				 .periods = 15,
				 .throttled_periods = 4,
				 .throttled_ns = 50};
	cpu_quota_since(&now, &before);
	assert_true(now.known && now.cpus == 2);
	EQUAL((now.periods, 5), (now.throttled_periods, 1), (now.throttled_ns, 50));
	/* moved to another group meanwhile */
	before.periods = 100;
	cpu_quota_since(&now, &before);
	assert_false(now.known);
}
