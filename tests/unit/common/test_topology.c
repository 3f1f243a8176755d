/* SPDX-License-Identifier: BSD-3-Clause */
/* test_topology.c -- placement on the machine of two_sockets.h. */
#include "tests/lib/test.h"
#include "tests/lib/two_sockets.h"

TWO_SOCKETS_TEST(the_description_is_of_another_machine)
{
	assert_false(topology_is_this_machine(*state));
	assert_int_equal(topology_cores(*state), 8);
	assert_int_equal(topology_sockets(*state), 2);
	assert_int_equal(topology_numa_nodes(*state), 2);
	assert_int_equal(topology_llc_bytes(*state), 33554432);
}

static const struct topology_near at_the_device = {"mlx5_0", -1};

TWO_SOCKETS_TEST(threads_go_next_to_the_device)
{
	static const int expected[] = {4, 5, 6, 7};
	int cpus[4];

	assert_int_equal(topology_choose(*state, &at_the_device, cpus, 4), 4);
	assert_memory_equal(cpus, expected, sizeof(expected));
}

/* Away from the device when its socket is full; core 0 is the last resort. */
TWO_SOCKETS_TEST(no_sibling_is_taken_and_core_0_last)
{
	static const int expected[] = {4, 5, 6, 7, 1, 2, 3, 0};
	int cpus[9];

	assert_int_equal(topology_choose(*state, &at_the_device, cpus, 9), 8);
	assert_memory_equal(cpus, expected, sizeof(expected));
}

TWO_SOCKETS_TEST(the_node_comes_before_the_device)
{
	static const struct topology_near pmem = {"mlx5_0", 0};
	static const int expected[] = {1, 2, 3, 4};
	int cpus[4];

	assert_int_equal(topology_choose(*state, &pmem, cpus, 4), 4);
	assert_memory_equal(cpus, expected, sizeof(expected));
}

TWO_SOCKETS_TEST(an_unknown_place_leaves_core_0_alone)
{
	static const struct topology_near places[] = {{"rxe0", -1}, {NULL, -1}, {NULL, 7}};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int cpu = -1;

		assert_int_equal(topology_choose(*state, &places[i], &cpu, 1), 1);
		assert_int_equal(cpu, 1);
		assert_int_equal(topology_node_near(*state, &places[i]), -1);
	}
}

TWO_SOCKETS_TEST(nodes_are_known)
{
	static const struct topology_near given = {NULL, 0};

	assert_int_equal(topology_node_near(*state, &at_the_device), 1);
	assert_int_equal(topology_node_near(*state, &given), 0);
	assert_int_equal(topology_node_of_cpu(*state, 3), 0);
	assert_int_equal(topology_node_of_cpu(*state, 12), 1);
	assert_int_equal(topology_node_of_cpu(*state, 16), -1);
	assert_int_equal(topology_node_of_cpu(*state, -1), -1);
	assert_true(topology_has_node(*state, 1));
	assert_false(topology_has_node(*state, 2));
	assert_false(topology_has_node(*state, -1));
}

TWO_SOCKETS_TEST(the_rdma_device_is_found)
{
	assert_string_equal(topology_first_device(*state), "mlx5_0");
}

TWO_SOCKETS_TEST(a_list_is_taken_as_it_is)
{
	static const int expected[] = {0, 8, 9};
	int cpus[4];
	char text[TOPOLOGY_CPUS_TEXT];

	assert_int_equal(topology_list_cpus(*state, "0,8-9", cpus, 4), 3);
	assert_memory_equal(cpus, expected, sizeof(expected));
	assert_int_equal(topology_list_cpus(*state, "0,8-9", cpus, 2), 2);
	assert_int_equal(topology_list_cpus(*state, "0,63", cpus, 4), -ERANGE);
	assert_int_equal(topology_list_cpus(*state, "x", cpus, 4), -EINVAL);
	assert_string_equal(topology_usable(*state, text), "0-15");
}

TWO_SOCKETS_TEST(lists_are_checked)
{
	assert_true(topology_list_valid("0"));
	assert_true(topology_list_valid("2,4-7"));
	assert_false(topology_list_valid(""));
	assert_false(topology_list_valid("core"));
	assert_false(topology_list_valid("1,x"));
	assert_false(topology_list_valid("3-"));
}

/* hwloc itself would report success, and bind nothing. */
TWO_SOCKETS_TEST(lists_are_compared)
{
	assert_true(topology_lists_meet("0-15", "15-31"));
	assert_false(topology_lists_meet("0-15", "16-31"));
	assert_false(topology_lists_meet("", "0"));
	assert_false(topology_lists_meet("0", "all"));
	assert_true(topology_list_has("0-15", "1,3-4"));
	assert_true(topology_list_has("0-15", "0-15"));
	assert_false(topology_list_has("0-15", "15-16"));
	assert_false(topology_list_has("0-15", ""));
}

TWO_SOCKETS_TEST(lists_are_put_together)
{
	char list[16] = "";

	assert_int_equal(topology_list_add(list, sizeof(list), "3"), 0);
	assert_int_equal(topology_list_add(list, sizeof(list), "17,4"), 0);
	assert_string_equal(list, "3-4,17");
	assert_int_equal(topology_list_add(list, sizeof(list), "x"), -EINVAL);
	assert_string_equal(list, "3-4,17");
	assert_int_equal(topology_list_add(list, sizeof(list), "20,22,24,26,28"), -ENOSPC);
	assert_string_equal(list, "");
}

TWO_SOCKETS_TEST(a_foreign_description_binds_nothing)
{
	char before[TOPOLOGY_CPUS_TEXT], after[TOPOLOGY_CPUS_TEXT];

	topology_read_back(before);
	assert_true(before[0] >= '0' && before[0] <= '9');
	assert_int_equal(topology_bind_thread(*state, 0), -EXDEV);
	assert_int_equal(topology_bind_memory(*state, before, sizeof(before), 0), -EXDEV);
	assert_string_equal(topology_read_back(after), before);
}
