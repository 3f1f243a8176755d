/* SPDX-License-Identifier: BSD-3-Clause */
/* test_conn_cfg.c -- the connection configuration: defaults, setters, getters. */
#include "every_call_fails.h"

/* The four sizes differ in name and default alone. */
static const struct size_field {
	int (*set)(struct rpma_conn_cfg *cfg, uint32_t size);
	int (*get)(const struct rpma_conn_cfg *cfg, uint32_t *size);
	const char *set_name, *get_name;
	uint32_t default_value;
} sizes[] = {
#define SIZE(field, value)                                                                         \
	{                                                                                          \
		rpma_conn_cfg_set_##field, rpma_conn_cfg_get_##field, "rpma_conn_cfg_set_" #field, \
			"rpma_conn_cfg_get_" #field, value                                         \
	}
	SIZE(cq_size, 10),
	SIZE(rcq_size, 0),
	SIZE(sq_size, 10),
	SIZE(rq_size, 10),
};

TEST(sizes__have_their_defaults, setup_cfg, teardown)
{
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		uint32_t size = 77;

		expect_named(0, sizes[i].get_name, sizes[i].get(w.cfg, &size));
		assert_int_equal(size, sizes[i].default_value);
	}
}

TEST(sizes__are_kept_apart, setup_cfg, teardown)
{
	for (uint32_t i = 0; i < ARRAY_LENGTH(sizes); i++)
		expect_named(0, sizes[i].set_name, sizes[i].set(w.cfg, UINT32_MAX - i));
	for (uint32_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		uint32_t size = 0;

		expect_named(0, sizes[i].get_name, sizes[i].get(w.cfg, &size));
		assert_int_equal(size, UINT32_MAX - i);
	}
}

TEST(sizes__refuse_null, setup_cfg, teardown)
{
	uint32_t size = 77;

	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		expect_named(RPMA_E_INVAL, sizes[i].set_name, sizes[i].set(NULL, 1));
		expect_named(RPMA_E_INVAL, sizes[i].get_name, sizes[i].get(NULL, &size));
		expect_named(RPMA_E_INVAL, sizes[i].get_name, sizes[i].get(w.cfg, NULL));
	}
	assert_int_equal(size, 77);
}

TEST(timeout__is_1000_ms_until_set, setup_cfg, teardown)
{
	int timeout_ms = 0;

	expect(0, rpma_conn_cfg_get_timeout(w.cfg, &timeout_ms));
	EQUAL((timeout_ms, RPMA_DEFAULT_TIMEOUT_MS), (timeout_ms, 1000));
	expect(0, rpma_conn_cfg_set_timeout(w.cfg, 0));
	expect(0, rpma_conn_cfg_get_timeout(w.cfg, &timeout_ms));
	assert_int_equal(timeout_ms, 0);
}

TEST(timeout__refuses_bad_arguments, setup_cfg, teardown)
{
	expect(RPMA_E_INVAL, rpma_conn_cfg_set_timeout(NULL, 1));
	expect(RPMA_E_INVAL, rpma_conn_cfg_set_timeout(w.cfg, -1));
	REFUSES_NULL(rpma_conn_cfg_get_timeout, w.cfg, int);
}

TEST(compl_channel__is_not_shared_until_set, setup_cfg, teardown)
{
	bool shared = true;

	expect(0, rpma_conn_cfg_get_compl_channel(w.cfg, &shared));
	assert_false(shared);
	expect(0, rpma_conn_cfg_set_compl_channel(w.cfg, true));
	expect(0, rpma_conn_cfg_get_compl_channel(w.cfg, &shared));
	assert_true(shared);
}

TEST(srq__is_null_until_set, setup_cfg, teardown)
{
	struct rpma_srq *srq = UNTOUCHED;

	expect(0, rpma_conn_cfg_get_srq(w.cfg, &srq));
	assert_null(srq);
	make_srq(0);
	expect(0, rpma_conn_cfg_set_srq(w.cfg, w.srq));
	expect(0, rpma_conn_cfg_get_srq(w.cfg, &srq));
	assert_ptr_equal(srq, w.srq);
}

TEST(new_and_delete__refuse_null, setup_nothing, teardown)
{
	expect(RPMA_E_INVAL, rpma_conn_cfg_new(NULL));
	expect(RPMA_E_INVAL, rpma_conn_cfg_delete(NULL));
}

MAKES(new_cfg, struct rpma_conn_cfg, w.cfg, rpma_conn_cfg_new(&made))

SURVIVES(new, .function = "rpma_conn_cfg_new", .setup = setup_nothing, .act = new_cfg)
