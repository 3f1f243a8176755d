/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_topology.c -- placement on a machine described by data/two-sockets.xml:
 * CPUs 0-3 and siblings 8-11 on the first socket, 4-7 and 12-15 on the second,
 * which has the RDMA device mlx5_0.
 */
#include <errno.h>

#include "common/topology.h"
#include "test.h"

static int load(void **state)
{
	struct topology *topology = NULL;
	int ret = topology_load(&topology);

	*state = topology;
	return ret;
}

static int unload(void **state)
{
	topology_free((struct topology **)state);
	return 0;
}

static void the_description_is_of_another_machine(void **state)
{
	assert_false(topology_is_this_machine(*state));
	assert_int_equal(topology_cores(*state), 8);
	assert_int_equal(topology_sockets(*state), 2);
	assert_int_equal(topology_numa_nodes(*state), 2);
	assert_int_equal(topology_llc_bytes(*state), 33554432);
}

static void auto_goes_next_to_the_device(void **state)
{
	static const int expected[] = {4, 5, 6, 7};
	int cpus[4];

	assert_int_equal(topology_choose(*state, "auto", "mlx5_0", cpus, 4), 0);
	assert_memory_equal(cpus, expected, sizeof(expected));
}

/* Away from the device when its socket is full; core 0 is the last resort. */
static void auto_takes_no_sibling_and_core_0_last(void **state)
{
	static const int expected[] = {4, 5, 6, 7, 1, 2, 3, 0};
	int cpus[9];

	assert_int_equal(topology_choose(*state, "auto", "mlx5_0", cpus, 8), 0);
	assert_memory_equal(cpus, expected, sizeof(expected));
	assert_int_equal(topology_choose(*state, "auto", "mlx5_0", cpus, 9), -ERANGE);
}

static void auto_without_a_known_device_leaves_core_0_alone(void **state)
{
	int cpu = -1;

	assert_int_equal(topology_choose(*state, "auto", "rxe0", &cpu, 1), 0);
	assert_int_equal(cpu, 1);
	assert_int_equal(topology_choose(*state, "auto", NULL, &cpu, 1), 0);
	assert_int_equal(cpu, 1);
}

static void a_list_is_taken_as_it_is(void **state)
{
	static const int expected[] = {0, 8, 9};
	int cpus[4];

	assert_int_equal(topology_choose(*state, "0,8-9", "mlx5_0", cpus, 3), 0);
	assert_memory_equal(cpus, expected, sizeof(expected));
	assert_int_equal(topology_choose(*state, "0,8-9", "mlx5_0", cpus, 4), -ERANGE);
	assert_int_equal(topology_choose(*state, "63", NULL, cpus, 1), -ERANGE);
}

static void lists_are_checked(void **state)
{
	assert_true(topology_list_valid("0"));
	assert_true(topology_list_valid("2,4-7"));
	assert_false(topology_list_valid(""));
	assert_false(topology_list_valid("core"));
	assert_false(topology_list_valid("1,x"));
	assert_false(topology_list_valid("3-"));
}

/* hwloc itself would report success, and bind nothing. */
static void a_foreign_description_binds_nothing(void **state)
{
	char before[TOPOLOGY_CPUS_TEXT], after[TOPOLOGY_CPUS_TEXT];

	topology_read_back(before);
	assert_true(before[0] >= '0' && before[0] <= '9');
	assert_int_equal(topology_bind_thread(*state, 0), -EXDEV);
	assert_string_equal(topology_read_back(after), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_description_is_of_another_machine),
		cmocka_unit_test(auto_goes_next_to_the_device),
		cmocka_unit_test(auto_takes_no_sibling_and_core_0_last),
		cmocka_unit_test(auto_without_a_known_device_leaves_core_0_alone),
		cmocka_unit_test(a_list_is_taken_as_it_is),
		cmocka_unit_test(lists_are_checked),
		cmocka_unit_test(a_foreign_description_binds_nothing),
	};

	return cmocka_run_group_tests_name("common.topology", tests, load, unload);
}
