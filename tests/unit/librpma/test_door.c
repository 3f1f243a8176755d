/* SPDX-License-Identifier: BSD-3-Clause */
/* test_door.c -- what lies below an object, and what the program keeps with it. */
#include "every_call_fails.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

/* --- the objects of verbs -------------------------------------------------------------- */

static void qp_id_and_pd__are_those_of_the_connection(void **unused)
{
	struct rdma_cm_id *id = NULL;
	struct ibv_qp *qp = NULL;
	struct ibv_pd *pd = NULL;

	expect(0, rpma_conn_get_qp(w.conn, &qp));
	assert_ptr_equal(qp, provider.qp);
	expect(0, rpma_conn_get_id(w.conn, &id));
	assert_ptr_equal(id, provider.id);
	expect(0, rpma_peer_get_pd(w.peer, &pd));
	assert_ptr_equal(pd, provider.pd);
}

static void qp_id_and_pd__refuse_null(void **unused)
{
	struct rdma_cm_id *id = UNTOUCHED;
	struct ibv_qp *qp = UNTOUCHED;
	struct ibv_pd *pd = UNTOUCHED;

	expect(RPMA_E_INVAL, rpma_conn_get_qp(NULL, &qp));
	expect(RPMA_E_INVAL, rpma_conn_get_qp(w.conn, NULL));
	expect(RPMA_E_INVAL, rpma_conn_get_id(NULL, &id));
	expect(RPMA_E_INVAL, rpma_conn_get_id(w.conn, NULL));
	expect(RPMA_E_INVAL, rpma_peer_get_pd(NULL, &pd));
	expect(RPMA_E_INVAL, rpma_peer_get_pd(w.peer, NULL));
	assert_ptr_equal(qp, UNTOUCHED);
	assert_ptr_equal(id, UNTOUCHED);
	assert_ptr_equal(pd, UNTOUCHED);
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

static void caps__are_those_of_the_device(void **unused)
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

static void caps__refuse_null(void **unused)
{
	int caps = 77;

	expect(RPMA_E_INVAL, rpma_peer_get_caps(NULL, &caps));
	expect(RPMA_E_INVAL, rpma_peer_get_caps(w.peer, NULL));
	assert_int_equal(caps, 77);
}

/* --- pointers of the program -------------------------------------------------------------- */

static void context__is_kept(void **unused)
{
	void *context = UNTOUCHED;

	expect(0, rpma_conn_get_context(w.conn, &context));
	assert_null(context);
	expect(0, rpma_conn_set_context(w.conn, &w));
	expect(0, rpma_conn_get_context(w.conn, &context));
	assert_ptr_equal(context, &w);
}

static void context__refuses_null(void **unused)
{
	void *context = UNTOUCHED;

	expect(RPMA_E_INVAL, rpma_conn_set_context(NULL, &w));
	expect(RPMA_E_INVAL, rpma_conn_get_context(NULL, &context));
	expect(RPMA_E_INVAL, rpma_conn_get_context(w.conn, NULL));
	assert_ptr_equal(context, UNTOUCHED);
}

/* --- addresses ---------------------------------------------------------------------------- */

static void set_address(struct sockaddr_storage *storage, uint32_t address, uint16_t port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(address), .sin_port = htons(port)};

	memcpy(storage, &in, sizeof(in));
}

static void assert_address(const struct sockaddr_storage *storage, uint32_t address, uint16_t port)
{
	struct sockaddr_storage expected = {0};

	set_address(&expected, address, port);
	assert_memory_equal(storage, &expected, sizeof(struct sockaddr_in));
}

static void address__is_that_of_either_side(void **unused)
{
	struct sockaddr_storage local = {0}, peer = {0};

	set_address(&provider.id->route.addr.src_storage, 0xc0000201, 40000);
	set_address(&provider.id->route.addr.dst_storage, 0xc0000202, 7204);
	expect(0, rpma_conn_get_address(w.conn, &local, NULL));
	assert_address(&local, 0xc0000201, 40000);
	expect(0, rpma_conn_get_address(w.conn, NULL, &peer));
	assert_address(&peer, 0xc0000202, 7204);
	memset(&local, 0, sizeof(local));
	expect(0, rpma_conn_get_address(w.conn, &local, &peer));
	assert_address(&local, 0xc0000201, 40000);
}

static void address__of_an_endpoint(void **unused)
{
	struct sockaddr_storage addr = {0};

	expect(0, rpma_ep_get_address(w.ep, &addr));
	assert_address(&addr, 0xc0000201, 7204);
}

static void address__refuses_null(void **unused)
{
	struct sockaddr_storage addr;

	expect(RPMA_E_INVAL, rpma_conn_get_address(NULL, &addr, &addr));
	expect(RPMA_E_INVAL, rpma_conn_get_address(w.conn, NULL, NULL));
	expect(RPMA_E_INVAL, rpma_ep_get_address(NULL, &addr));
	expect(RPMA_E_INVAL, rpma_ep_get_address(w.ep, NULL));
}

/* --- backlog ------------------------------------------------------------------------------ */

static void backlog__is_that_of_the_call(void **unused)
{
	expect(0, rpma_ep_listen_with_backlog(w.peer, "192.0.2.1", "7204", 3, &w.ep));
	assert_int_equal(provider.listen_backlog, 3);
}

static void backlog__refuses_bad_arguments(void **unused)
{
	struct rpma_ep *ep = UNTOUCHED;

	expect(RPMA_E_INVAL, rpma_ep_listen_with_backlog(NULL, "192.0.2.1", "7204", 3, &ep));
	expect(RPMA_E_INVAL, rpma_ep_listen_with_backlog(w.peer, NULL, "7204", 3, &ep));
	expect(RPMA_E_INVAL, rpma_ep_listen_with_backlog(w.peer, "192.0.2.1", NULL, 3, &ep));
	expect(RPMA_E_INVAL, rpma_ep_listen_with_backlog(w.peer, "192.0.2.1", "7204", 3, NULL));
	expect(RPMA_E_INVAL, rpma_ep_listen_with_backlog(w.peer, "192.0.2.1", "7204", 0, &ep));
	expect_text("backlog is 0, expected 1 or more");
	assert_ptr_equal(ep, UNTOUCHED);
}

static int listen_with_backlog(void)
{
	struct rpma_ep *ep = UNTOUCHED;
	int ret = rpma_ep_listen_with_backlog(w.peer, "192.0.2.1", "7204", 3, &ep);

	keep_made(ret, ep, w.ep);
	return ret;
}

static void backlog__survives_every_failing_call(void **unused)
{
	every_call_fails(&(struct operation){.function = "rpma_ep_listen_with_backlog",
					     .setup = setup_peer,
					     .act = listen_with_backlog});
}

/* --- refusals ------------------------------------------------------------------------------ */

static const struct rpma_conn_private_data full = {"full", 4};

static void reject__has_a_reason(void **unused)
{
	expect(0, rpma_conn_req_reject(&w.req, &full));
	assert_null(w.req);
	assert_int_equal(provider.reject_private_data_len, 4);
	assert_memory_equal(provider.reject_private_data, "full", 4);
}

static void reject__may_have_none(void **unused)
{
	expect(0, rpma_conn_req_reject(&w.req, NULL));
	assert_int_equal(provider.reject_private_data_len, 0);
	assert_int_equal(calls_count("rdma_reject"), 1);
}

static void reject__refuses_bad_arguments(void **unused)
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

static void reject__is_for_the_side_that_listens(void **unused)
{
	expect(RPMA_E_INVAL, rpma_conn_req_reject(&w.req, &full));
	assert_non_null(w.req);
}

static int reject_req(void)
{
	return rpma_conn_req_reject(&w.req, &full);
}

static void reject__survives_every_failing_call(void **unused)
{
	every_call_fails(&(struct operation){
		.function = "rpma_conn_req_reject", .setup = setup_incoming, .act = reject_req});
}

static void rejection__tells_who_refused(void **unused)
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

static void rejection__refuses_null(void **unused)
{
	enum rpma_rejection rejection = RPMA_REJECTION_OTHER;

	expect(RPMA_E_INVAL, rpma_conn_get_rejection(NULL, &rejection));
	expect(RPMA_E_INVAL, rpma_conn_get_rejection(w.conn, NULL));
	assert_int_equal(rejection, RPMA_REJECTION_OTHER);
}

/* --- the version ---------------------------------------------------------------------------- */

static void version__is_that_of_the_header(void **unused)
{
	char begin[16];

	snprintf(begin, sizeof(begin), "%d.%d.", RPMA_VERSION_MAJOR, RPMA_VERSION_MINOR);
	assert_memory_equal(rpma_version(), begin, strlen(begin));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(qp_id_and_pd__are_those_of_the_connection, setup_conn),
		TEST(qp_id_and_pd__refuse_null, setup_conn),
		TEST(caps__are_those_of_the_device, setup_nothing),
		TEST(caps__refuse_null, setup_peer),
		TEST(context__is_kept, setup_conn),
		TEST(context__refuses_null, setup_conn),
		TEST(address__is_that_of_either_side, setup_conn),
		TEST(address__of_an_endpoint, setup_ep),
		TEST(address__refuses_null, setup_accepted),
		TEST(backlog__is_that_of_the_call, setup_peer),
		TEST(backlog__refuses_bad_arguments, setup_peer),
		TEST(backlog__survives_every_failing_call, setup_nothing),
		TEST(reject__has_a_reason, setup_incoming),
		TEST(reject__may_have_none, setup_incoming),
		TEST(reject__refuses_bad_arguments, setup_incoming),
		TEST(reject__is_for_the_side_that_listens, setup_req),
		TEST(reject__survives_every_failing_call, setup_nothing),
		TEST(rejection__tells_who_refused, setup_conn),
		TEST(rejection__refuses_null, setup_conn),
		TEST(version__is_that_of_the_header, setup_nothing),
	};

	return run_library_tests(tests, argc, argv);
}
