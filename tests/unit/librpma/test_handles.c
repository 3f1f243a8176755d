/* SPDX-License-Identifier: BSD-3-Clause */
/* test_handles.c -- what lies below an object, and what the program keeps with it. */
#include "every_call_fails.h"

#include <netinet/in.h>

/* --- the objects of verbs -------------------------------------------------------------- */

TEST(id_and_pd__are_those_of_the_connection, setup_conn, teardown)
{
	struct rdma_cm_id *id = NULL;
	struct ibv_pd *pd = NULL;

	expect(0, rpma_conn_get_id(w.conn, &id));
	assert_ptr_equal(id, provider.id);
	expect(0, rpma_peer_get_pd(w.peer, &pd));
	assert_ptr_equal(pd, provider.pd);
}

TEST(handles__refuse_null, setup_conn, teardown)
{
	REFUSES_NULL(rpma_conn_get_id, w.conn, struct rdma_cm_id *);
	REFUSES_NULL(rpma_peer_get_pd, w.peer, struct ibv_pd *);
	REFUSES_NULL(rpma_peer_get_caps, w.peer, int);
	REFUSES_NULL(rpma_conn_get_context, w.conn, void *);
	REFUSES_NULL(rpma_conn_get_rejection, w.conn, enum rpma_rejection);
	expect(RPMA_E_INVAL, rpma_conn_set_context(NULL, &w));
}

/* --- what a device can do ---------------------------------------------------------------- */

static int caps_of_peer(void)
{
	int caps = -1;

	make_peer();
	expect(0, rpma_peer_get_caps(w.peer, &caps));
	expect(0, rpma_peer_delete(&w.peer));
	return caps;
}

TEST(caps__are_those_of_the_device, setup_nothing, teardown)
{
	struct ibv_odp_caps *odp = &provider.device_attr.odp_caps;

	provider.device_attr.orig_attr.atomic_cap = IBV_ATOMIC_NONE;
	assert_int_equal(caps_of_peer(), 0);
	provider.device_attr.orig_attr.atomic_cap = IBV_ATOMIC_HCA;
	assert_int_equal(caps_of_peer(), RPMA_PEER_CAP_ATOMICS);
	provider.device_attr.orig_attr.atomic_cap = IBV_ATOMIC_NONE;
	odp->general_caps = IBV_ODP_SUPPORT;
	odp->per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
	assert_int_equal(caps_of_peer(), RPMA_PEER_CAP_ODP);
	odp->general_caps = 0;
	/* device_cap_flags_ex: Linux include/uapi/rdma/ib_user_verbs.h */
	provider.device_attr.device_cap_flags_ex = UINT64_C(1) << 38 | UINT64_C(1) << 39;
	assert_int_equal(caps_of_peer(), RPMA_NATIVE ? RPMA_PEER_CAP_NATIVE_FLUSH : 0);
	provider.device_attr.device_cap_flags_ex = UINT64_C(1) << 40;
	assert_int_equal(caps_of_peer(), RPMA_NATIVE ? RPMA_PEER_CAP_NATIVE_ATOMIC_WRITE : 0);
}

/* --- pointers of the program -------------------------------------------------------------- */

TEST(context__is_kept, setup_conn, teardown)
{
	void *context = UNTOUCHED;

	expect(0, rpma_conn_get_context(w.conn, &context));
	assert_null(context);
	expect(0, rpma_conn_set_context(w.conn, &w));
	expect(0, rpma_conn_get_context(w.conn, &context));
	assert_ptr_equal(context, &w);
}

/* --- refusals ------------------------------------------------------------------------------ */

static const struct rpma_conn_private_data full = {"full", 4};

TEST(reject__has_a_reason, setup_incoming, teardown)
{
	expect(0, rpma_conn_req_reject(&w.req, &full));
	EQUAL((w.req, NULL), (provider.reject_private_data_len, 4));
	assert_memory_equal(provider.reject_private_data, "full", 4);
}

TEST(reject__may_have_none, setup_incoming, teardown)
{
	expect(0, rpma_conn_req_reject(&w.req, NULL));
	EQUAL((provider.reject_private_data_len, 0), (calls_count("rdma_reject"), 1));
}

TEST(reject__refuses_bad_arguments, setup_incoming, teardown)
{
	static char bytes[149];
	static const struct rpma_conn_private_data bad[] = {{NULL, 1}, {bytes, 0}, {bytes, 149}};
	struct rpma_conn_req *none = NULL;

	expect(RPMA_E_INVAL, rpma_conn_req_reject(NULL, NULL));
	expect(RPMA_E_INVAL, rpma_conn_req_reject(&none, NULL));
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		expect(RPMA_E_INVAL, rpma_conn_req_reject(&w.req, &bad[i]));
	assert_non_null(w.req);
	assert_int_equal(calls_count("rdma_reject"), 0);
}

TEST(reject__is_for_the_side_that_listens, setup_req, teardown)
{
	expect(RPMA_E_INVAL, rpma_conn_req_reject(&w.req, &full));
	assert_non_null(w.req);
}

static int reject_req(void)
{
	return rpma_conn_req_reject(&w.req, &full);
}

SURVIVES(reject, .function = "rpma_conn_req_reject", .setup = setup_incoming, .act = reject_req)

TEST(rejection__tells_who_refused, setup_conn, teardown)
{
	static const struct {
		int status; /* enum ib_cm_rej_reason of Linux; negative on iWARP */
		enum rpma_rejection rejection;
	} cases[] = {
		{8, RPMA_REJECTION_NO_LISTENER}, {28, RPMA_REJECTION_PROGRAM},
		{1, RPMA_REJECTION_OTHER},	 {-ECONNREFUSED, RPMA_REJECTION_OTHER},
		{0, RPMA_REJECTION_OTHER},
	};
	enum rpma_rejection rejection = RPMA_REJECTION_OTHER;
	enum rpma_conn_event event;

	expect(0, rpma_conn_get_rejection(w.conn, &rejection));
	assert_int_equal(rejection, RPMA_REJECTION_NONE);
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		provider.cm_status = cases[i].status;
		provider_queue_cm_event(provider.id, RDMA_CM_EVENT_REJECTED, "full", 4);
		expect(0, rpma_conn_next_event(w.conn, &event));
		assert_int_equal(event, RPMA_CONN_REJECTED);
		expect(0, rpma_conn_get_rejection(w.conn, &rejection));
		assert_int_equal(rejection, cases[i].rejection);
	}
	struct rpma_conn_private_data reason = {0};
	expect(0, rpma_conn_get_private_data(w.conn, &reason));
	assert_int_equal(reason.len, 4);
	assert_memory_equal(reason.ptr, "full", 4);
}
