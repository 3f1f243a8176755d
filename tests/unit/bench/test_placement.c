/* SPDX-License-Identifier: BSD-3-Clause */
/* test_placement.c -- what --pin and --mem-node make of the machine of two_sockets.h. */
#include "common/base/failure.h"
#include "tests/lib/json_holds.h"
#include "tests/lib/two_sockets.h"
#include "tools/rpma-bench/measure/placement.h"

static struct placement p;

struct request_case {
	struct placement_request request;
	int cpus[4]; /* as many as threads */
	int node;
	bool shared;
};

TWO_SOCKETS_TEST(requests_are_met)
{
	static const struct request_case cases[] = {
		{{"auto", "auto", {"mlx5_0", -1}, 2, 0, false}, {4, 5}, 1, false},
		/* memory of no known place goes to the first thread */
		{{"auto", "auto", {NULL, -1}, 1, 0, false}, {1}, 0, false},
		{{"auto", "none", {"mlx5_0", -1}, 1, 0, false}, {4}, -1, false},
		{{"auto", "0", {"mlx5_0", -1}, 1, 0, false}, {4}, 0, false},
		/* next to the persistent memory, wherever the device is */
		{{"auto", "auto", {"mlx5_0", 0}, 2, 0, false}, {1, 2}, 0, false},
		/* cores that others take are left to them */
		{{"auto", "auto", {"mlx5_0", -1}, 2, 3, false}, {7, 1}, 1, false},
		/* no more cores: the last ones are left to the kernel */
		{{"auto", "auto", {"mlx5_0", -1}, 3, 6, true}, {3, 0, -1}, 1, true},
		{{"none", "auto", {"mlx5_0", -1}, 2, 0, false}, {-1, -1}, 1, false},
		{{"none", "auto", {NULL, -1}, 1, 0, false}, {-1}, -1, false},
		{{"2,12", "auto", {NULL, -1}, 2, 0, false}, {2, 12}, 0, false},
		/* a list goes round */
		{{"2,12", "auto", {NULL, -1}, 3, 0, false}, {2, 12, 2}, 0, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct request_case *c = &cases[i];

		EQUAL((placement_choose(&p, *state, &c->request), 0), (p.policy, c->request.pin),
		      (p.threads, c->request.threads));
		assert_memory_equal(p.cpus, c->cpus, p.threads * sizeof(int));
		EQUAL((p.cpus[p.threads], -1), (p.node, c->node),
		      (p.shared_warning[0] != '\0', c->shared), (p.pin_warning[0], '\0'),
		      (p.memory_warning[0], '\0'));
	}
}

TWO_SOCKETS_TEST(requests_that_cannot_be_met_are_refused)
{
	static const struct placement_request cases[] = {
		{"auto", "auto", {NULL, -1}, 9, 0, false},
		{"0,63", "auto", {NULL, -1}, 1, 0, false},
		{"auto", "2", {NULL, -1}, 1, 0, false},
	};
	static const char *const sentences[] = {"9 threads, but 8 cores", "--pin 0,63",
						"--mem-node 2"};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(placement_choose(&p, *state, &cases[i]) < 0);
		assert_memory_equal(failure_get()->text, sentences[i], strlen(sentences[i]));
	}
}

TWO_SOCKETS_TEST(more_threads_than_cores_share_them)
{
	static const struct placement_request request = {"none", "auto", {NULL, -1}, 9, 0, false};
	/* those of the other end count */
	static const struct placement_request both = {"none", "auto", {NULL, -1}, 1, 8, false};

	EQUAL((placement_choose(&p, *state, &both), 0),
	      (p.shared_warning, "9 threads of this run share 8 cores"),
	      (placement_choose(&p, *state, &request), 0),
	      (p.shared_warning, "9 threads of this run share 8 cores"));
}

TWO_SOCKETS_TEST(what_the_kernel_refuses_is_a_warning)
{
	static const struct placement_request request = {"auto", "1", {NULL, -1}, 1, 0, false};

	assert_int_equal(placement_choose(&p, *state, &request), 0);
	placement_pin_refused(&p, 4, -EPERM);
	assert_string_equal(p.pin_warning,
			    "a thread could not be bound to CPU 4: Operation not permitted");
	placement_memory_refused(&p, -ENOSYS);
	assert_string_equal(p.memory_warning, "buffers could not be bound to NUMA node 1: "
					      "Function not implemented");
}

TWO_SOCKETS_TEST(it_is_told_with_null_for_what_is_not_bound)
{
	static const struct placement_request request = {"auto", "none", {"mlx5_0", -1},
							 3,	 6,	 true};
	json_auto_t *json = NULL,
		    *expected = json_loads("{\"policy\": \"auto\", \"cpus\": [3, 0, null], "
					   "\"node\": null}",
					   0, NULL);

	assert_int_equal(placement_choose(&p, *state, &request), 0);
	json = placement_json(&p);
	assert_true(json_equal(json, expected));
}

/* The kernel's answer counts more than what was chosen; a refused choice does not count. */
TWO_SOCKETS_TEST(the_node_is_what_the_kernel_says)
{
	static const struct placement_request request = {"none", "1", {NULL, -1}, 0, 0, false};

	EQUAL((placement_choose(&p, *state, &request), 0), (p.node, 1));
	p.memory_node = 0;
	GIVES(placement_json(&p), "node: 0");
	p.memory_node = -1;
	placement_memory_refused(&p, -EPERM);
	GIVES(placement_json(&p), "node: null");
}
