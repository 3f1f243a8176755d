/* SPDX-License-Identifier: BSD-3-Clause */
/* test_topology.c -- placement on the machine of two_sockets.h. */
#include "tests/lib/test.h"
#include "tests/lib/two_sockets.h"

TWO_SOCKETS_TEST(the_description_is_of_another_machine)
{
	EQUAL((topology_is_this_machine(*state), false), (topology_cores(*state), 8),
	      (topology_sockets(*state), 2), (topology_numa_nodes(*state), 2),
	      (topology_llc_bytes(*state), 33554432));
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

		EQUAL((topology_choose(*state, &places[i], &cpu, 1), 1), (cpu, 1),
		      (topology_node_near(*state, &places[i]), -1));
	}
}

TWO_SOCKETS_TEST(nodes_are_known)
{
	static const struct topology_near given = {NULL, 0};

	EQUAL((topology_node_near(*state, &at_the_device), 1),
	      (topology_node_near(*state, &given), 0), (topology_node_of_cpu(*state, 3), 0),
	      (topology_node_of_cpu(*state, 12), 1), (topology_node_of_cpu(*state, 16), -1),
	      (topology_node_of_cpu(*state, -1), -1), (topology_has_node(*state, 1), true),
	      (topology_has_node(*state, 2), false), (topology_has_node(*state, -1), false));
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
	EQUAL((topology_list_cpus(*state, "0,8-9", cpus, 2), 2),
	      (topology_list_cpus(*state, "0,63", cpus, 4), -ERANGE),
	      (topology_list_cpus(*state, "x", cpus, 4), -EINVAL),
	      (topology_usable(*state, text), "0-15"));
}

TWO_SOCKETS_TEST(lists_are_checked)
{
	EQUAL((topology_list_valid("0"), true), (topology_list_valid("2,4-7"), true),
	      (topology_list_valid(""), false), (topology_list_valid("core"), false),
	      (topology_list_valid("1,x"), false), (topology_list_valid("3-"), false));
}

/* hwloc itself would report success, and bind nothing. */
TWO_SOCKETS_TEST(lists_are_compared)
{
	EQUAL((topology_lists_meet("0-15", "15-31"), true),
	      (topology_lists_meet("0-15", "16-31"), false), (topology_lists_meet("", "0"), false),
	      (topology_lists_meet("0", "all"), false), (topology_list_has("0-15", "1,3-4"), true),
	      (topology_list_has("0-15", "0-15"), true),
	      (topology_list_has("0-15", "15-16"), false), (topology_list_has("0-15", ""), false));
}

TWO_SOCKETS_TEST(lists_are_put_together)
{
	char list[16] = "";

	EQUAL((topology_list_add(list, sizeof(list), "3"), 0),
	      (topology_list_add(list, sizeof(list), "17,4"), 0), (list, "3-4,17"),
	      (topology_list_add(list, sizeof(list), "x"), -EINVAL), (list, "3-4,17"),
	      (topology_list_add(list, sizeof(list), "20,22,24,26,28"), -ENOSPC), (list, ""));
}

TWO_SOCKETS_TEST(a_foreign_description_binds_nothing)
{
	char before[TOPOLOGY_CPUS_TEXT], after[TOPOLOGY_CPUS_TEXT];

	topology_read_back(before);
	assert_true(before[0] >= '0' && before[0] <= '9');
	EQUAL((topology_bind_thread(*state, 0), -EXDEV),
	      (topology_bind_memory(*state, before, sizeof(before), 0), -EXDEV),
	      (topology_read_back(after), before));
}
