/* SPDX-License-Identifier: BSD-3-Clause */
/* test_utils.c -- finding the device behind an address, and whether it can page on demand. */
#include "every_call_fails.h"

#include <netdb.h>

/* --- rpma_utils_get_ibv_context() ---------------------------------------- */

TEST(get_ibv_context__binds_to_a_local_address, setup_nothing, teardown)
{
	struct ibv_context *context = NULL;

	expect(0, rpma_utils_get_ibv_context("192.0.2.1", RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
	assert_ptr_equal(context, provider.context);
	EQUAL((provider.getaddrinfo.node, "192.0.2.1"),
	      (provider.getaddrinfo.hints.ai_flags & RAI_PASSIVE, RAI_PASSIVE),
	      (calls_count("rdma_bind_addr"), 1), (calls_count("rdma_resolve_addr"), 0));
}

TEST(get_ibv_context__resolves_a_remote_address, setup_nothing, teardown)
{
	struct ibv_context *context = NULL;

	expect(0, rpma_utils_get_ibv_context("192.0.2.1", RPMA_UTIL_IBV_CONTEXT_REMOTE, &context));
	assert_ptr_equal(context, provider.context);
	EQUAL((provider.getaddrinfo.hints.ai_flags & RAI_PASSIVE, 0),
	      (provider.resolve.addr_timeout_ms, 1000), (calls_count("rdma_bind_addr"), 0));
}

TEST(get_ibv_context__finds_no_device_for_a_wildcard, setup_nothing, teardown)
{
	static const char *const wildcards[] = {"0.0.0.0", "::"};

	for (size_t i = 0; i < ARRAY_LENGTH(wildcards); i++) {
		struct ibv_context *context = UNTOUCHED;

		expect(DIFFERS(RPMA_E_PROVIDER, 0, "it calls NULL a success"),
		       rpma_utils_get_ibv_context(wildcards[i], RPMA_UTIL_IBV_CONTEXT_LOCAL,
						  &context));
		assert_ptr_equal(context, DIFFERS(UNTOUCHED, NULL, "it calls NULL a success"));
	}
}

TEST(get_ibv_context__resolves_a_loopback_address, setup_nothing, teardown)
{
	static const char *const loopbacks[] = {"127.0.0.1", "127.1.2.3", "::1"};

	for (size_t i = 0; i < ARRAY_LENGTH(loopbacks); i++) {
		struct ibv_context *context = NULL;

		expect(0, rpma_utils_get_ibv_context(loopbacks[i], RPMA_UTIL_IBV_CONTEXT_LOCAL,
						     &context));
		assert_ptr_equal(context,
				 DIFFERS(provider.context, NULL, "it calls NULL a success"));
	}
}

TEST(get_ibv_context__reports_an_unknown_address, setup_nothing, teardown)
{
	struct ibv_context *context = UNTOUCHED;

	provider.getaddrinfo_answer = EAI_NONAME;
	expect(RPMA_E_PROVIDER, rpma_utils_get_ibv_context("nowhere.invalid",
							   RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
	assert_ptr_equal(context, UNTOUCHED);
	assert_int_equal(logged[RPMA_LOG_LEVEL_ERROR], 1);
}

TEST(get_ibv_context__refuses_bad_arguments, setup_nothing, teardown)
{
	struct ibv_context *context = UNTOUCHED;

	expect(RPMA_E_INVAL,
	       rpma_utils_get_ibv_context(NULL, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
	expect(RPMA_E_INVAL,
	       rpma_utils_get_ibv_context("192.0.2.1", RPMA_UTIL_IBV_CONTEXT_LOCAL, NULL));
	expect(RPMA_E_INVAL, rpma_utils_get_ibv_context(
				     "192.0.2.1", (enum rpma_util_ibv_context_type)2, &context));
	assert_ptr_equal(context, UNTOUCHED);
}

/* The address and the side of the calls that fail. */
static const char *address;
static enum rpma_util_ibv_context_type side;

static int get_context(void)
{
	struct ibv_context *context = UNTOUCHED;
	int ret = rpma_utils_get_ibv_context(address, side, &context);

	if (ret != 0)
		assert_ptr_equal(context, UNTOUCHED);
	else if (context != NULL || !on_reference()) /* which calls NULL a success */
		assert_ptr_equal(context, provider.context);
	return ret;
}

TEST(get_ibv_context__survives_every_failing_call, setup_nothing, teardown)
{
	static const struct {
		const char *address;
		enum rpma_util_ibv_context_type side;
	} cases[] = {{"192.0.2.1", RPMA_UTIL_IBV_CONTEXT_LOCAL},
		     {"127.0.0.1", RPMA_UTIL_IBV_CONTEXT_LOCAL},
		     {"192.0.2.1", RPMA_UTIL_IBV_CONTEXT_REMOTE}};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		address = cases[i].address;
		side = cases[i].side;
		every_call_fails(&(struct operation){
			.function = "rpma_utils_get_ibv_context",
			.setup = setup_nothing,
			.act = get_context,
			.exceptions = {{"rdma_destroy_id", 0 /* a context is there */}}});
	}
}

/* --- rpma_utils_ibv_context_is_odp_capable() ------------------------------ */

TEST(is_odp_capable__needs_rc_reads_and_writes, setup_nothing, teardown)
{
	static const struct {
		uint64_t general;
		uint32_t rc;
		int capable;
	} cases[] = {
		{IBV_ODP_SUPPORT, IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ, 1},
		{IBV_ODP_SUPPORT, IBV_ODP_SUPPORT_WRITE, 0},
		{IBV_ODP_SUPPORT, IBV_ODP_SUPPORT_READ, 0},
		{0, IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ, 0},
		{0, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		int capable = 77;

		provider.device_attr.odp_caps.general_caps = cases[i].general;
		provider.device_attr.odp_caps.per_transport_caps.rc_odp_caps = cases[i].rc;
		expect(0, rpma_utils_ibv_context_is_odp_capable(provider.context, &capable));
		assert_int_equal(capable, cases[i].capable);
	}
}

static int is_odp_capable(void)
{
	int capable = 77;

	return rpma_utils_ibv_context_is_odp_capable(provider.context, &capable);
}

SURVIVES(is_odp_capable, .function = "rpma_utils_ibv_context_is_odp_capable",
	 .setup = setup_nothing, .act = is_odp_capable)
