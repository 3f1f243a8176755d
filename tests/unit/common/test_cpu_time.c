/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cpu_time.c -- the time of some CPUs from a /proc/stat of the test's own.
 * The columns are those of proc_stat(5); a tick is 1/sysconf(_SC_CLK_TCK) s.
 */
#include "common/host/cpu_time.h"
#include "tests/lib/scratch_root.h"

#define SECOND 1000000000ULL

static uint64_t tick(void)
{
	return SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
}

static cpu_set_t cpus(const int *list, size_t count)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (size_t i = 0; i < count; i++)
		CPU_SET((size_t)list[i], &set);
	return set;
}

static struct cpu_time look(const char *stat, const cpu_set_t *allowed)
{
	struct cpu_time now;

	if (stat != NULL)
		scratch_write("proc/stat", stat);
	cpu_time_read(&root, allowed, &now);
	return now;
}

ROOT_TEST(only_allowed_cpus_are_summed)
{
	const cpu_set_t allowed = cpus((int[]){0, 1, 3, 10}, 4);
	struct cpu_time now = look("cpu  9 9 9 9 9 9 9 9 9 9\n"
				   "cpu0 1 2 4 100 50 8 16 5 1 2\n"
				   "cpu1 10 0 0 0 0 0 0 0 0 0\n"
				   "cpu2 1000 1000 1000 1000 0 0 0 1000 0 0\n"
				   "cpu10 0 0 20 0 0 0 0 2 0 0\n"
				   "intr 12345 0 0\n"
				   "cpu3 1 1 1 1\n",
				   &allowed);

	assert_true(now.known);
	/* user, nice, system, irq and softirq; guest time is in user time already */
	EQUAL((now.busy_ns, (1 + 2 + 4 + 8 + 16 + 10 + 20) * tick()), (now.steal_ns, 7 * tick()),
	      (now.all_ns, (31 + 150 + 5 + 10 + 22) * tick()), (now.cpus, 3), (now.list, "0-1,10"));
}

ROOT_TEST(a_kernel_of_old_has_four_columns)
{
	const cpu_set_t allowed = cpus((int[]){0}, 1);

	assert_int_equal(look("cpu 1 2 3 4\ncpu0 1 2 3 4\n", &allowed).busy_ns, 6 * tick());
}

ROOT_TEST(what_is_no_such_file_is_unknown)
{
	static const char *const files[] = {
		"",
		"\n",
		"cpu 1 2 3 4\n",
		"cpu0\n",
		"cpu0 1 2 3\n",
		"cpu0 a b c d e\n",
		"cpu1 1 2 3 4 5 6 7 8\n",
		"cpux 1 2 3 4\n",
	};
	const cpu_set_t allowed = cpus((int[]){0}, 1), none = cpus(NULL, 0);

	assert_false(look(NULL, &allowed).known);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (look(files[i], &allowed).known)
			fail_msg("\"%s\" was taken", files[i]);
	}
	assert_false(look("cpu0 1 2 3 4\n", &none).known);
}

/* On one CPU, from one line to the other in a time of the test's. */
static struct cpu_time between(const char *first, const char *last, uint64_t wall_ns)
{
	const cpu_set_t allowed = cpus((int[]){0}, 1);
	struct cpu_time before = look(first, &allowed), now = look(last, &allowed);

	before.wall_ns = 5;
	now.wall_ns = 5 + wall_ns;
	before.own_ns = 100;
	now.own_ns = 350;
	cpu_time_since(&now, &before);
	return now;
}

ROOT_TEST(a_span_is_the_difference)
{
	struct cpu_time span = between("cpu0 100 0 0 1000 0 0 0 7 0 0\n",
				       "cpu0 130 5 10 1050 0 1 0 11 0 0\n", 100 * tick());

	EQUAL((span.known, true), (span.busy_ns, 46 * tick()), (span.steal_ns, 4 * tick()),
	      (span.own_ns, 250), (span.wall_ns, 100 * tick()));
}

ROOT_TEST(counters_that_stand_still_are_unknown)
{
	static const char zero[] = "cpu0 0 0 0 0 0 0 0 0 0 0\n";

	EQUAL((between(zero, zero, SECOND).known, false),
	      (between("cpu0 5 0 0 9 0 0 0 0\n", "cpu0 6 0 0 9 0 0 0 0\n", SECOND).known, false));
	/* idle by the kernel's count, and so known to be undisturbed */
	assert_true(
		between("cpu0 5 0 0 0 0 0 0 0\n", "cpu0 5 0 0 100 0 0 0 0\n", 100 * tick()).known);
}

ROOT_TEST(counters_that_go_back_are_unknown)
{
	assert_false(between("cpu0 50 0 0 0 0 0 0 0\n", "cpu0 49 0 0 100 0 0 0 0\n", 100 * tick())
			     .known);
	assert_false(
		between("cpu0 0 0 0 0 0 0 0 9\n", "cpu0 0 0 0 100 0 0 0 8\n", 100 * tick()).known);
}

ROOT_TEST(cpus_that_came_or_went_make_it_unknown)
{
	const cpu_set_t allowed = cpus((int[]){0, 1}, 2);
	struct cpu_time before = look("cpu0 1 0 0 9\ncpu1 1 0 0 9\n", &allowed);
	struct cpu_time now = look("cpu0 1 0 0 19\n", &allowed);

	now.wall_ns = before.wall_ns + 10 * tick();
	cpu_time_since(&now, &before);
	assert_false(now.known);
}

TEST(this_process_burns_its_own_time)
{
	struct sysroot machine;
	struct cpu_time before, now;
	cpu_set_t allowed;

	cpu_time_allowed(&allowed);
	assert_true(CPU_COUNT(&allowed) > 0);
	assert_int_equal(sysroot_open(&machine, "/"), 0);
	cpu_time_read(&machine, &allowed, &before);
	do {
		cpu_time_read(&machine, &allowed, &now);
	} while (now.own_ns < before.own_ns + 20000000);
	cpu_time_since(&now, &before);
	assert_true(now.own_ns >= 20000000);
	sysroot_close(&machine);
}

ROOT_TEST(the_boot_id_is_the_kernels)
{
	char id[CPU_TIME_BOOT_ID];

	cpu_time_boot_id(&root, id);
	assert_string_equal(id, "");
	scratch_write("proc/sys/kernel/random/boot_id", "0f53ab21-6d4e-4a6e-8b23-6d1b7d3f8a11\n");
	cpu_time_boot_id(&root, id);
	assert_string_equal(id, "0f53ab21-6d4e-4a6e-8b23-6d1b7d3f8a11");
}
