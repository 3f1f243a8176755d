/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ep.c -- endpoints: listening, the bound port, incoming requests. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "every_call_fails.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <poll.h>

/* --- rpma_ep_listen() ---------------------------------------------------- */

TEST(listen__binds_to_the_address, setup_peer, teardown)
{
	const struct sockaddr_in *bound;

	make_ep();
	bound = &provider.listener->route.addr.src_sin;
	EQUAL((provider.getaddrinfo.node, "192.0.2.1"),
	      (provider.getaddrinfo.hints.ai_flags & RAI_PASSIVE, RAI_PASSIVE),
	      (bound->sin_family, AF_INET), (ntohs(bound->sin_port), 7204),
	      (provider.listener->ps, RDMA_PS_TCP));
	assert_int_equal(provider.listen_backlog, 0); /* the kernel's maximum */
	assert_int_equal(provider.live.addrinfo, 0);
}

TEST(listen__takes_ipv6, setup_peer, teardown)
{
	expect(0, rpma_ep_listen(w.peer, "2001:db8::1", "7204", &w.ep));
	EQUAL((provider.listener->route.addr.src_addr.sa_family, AF_INET6),
	      (ntohs(provider.listener->route.addr.src_sin6.sin6_port), 7204));
}

MAKES(listen_ep, struct rpma_ep, w.ep, rpma_ep_listen(w.peer, "192.0.2.1", "7204", &made))

SURVIVES(listen, .function = "rpma_ep_listen", .setup = setup_peer, .act = listen_ep)

/* --- rpma_ep_get_fd(), rpma_ep_get_port() -------------------------------- */

TEST(get_fd__is_readable_when_a_client_asks, setup_ep, teardown)
{
	struct pollfd pollfd = {.events = POLLIN};

	expect(0, rpma_ep_get_fd(w.ep, &pollfd.fd));
	assert_int_equal(poll(&pollfd, 1, 0), 0);
	provider_queue_connect_request(NULL, 0);
	assert_int_equal(poll(&pollfd, 1, 0), 1);
}

/* Bound at run time, so that this file also links with the reference. */
static int get_port(const struct rpma_ep *ep, uint16_t *port)
{
	int (*function)(const struct rpma_ep *, uint16_t *);

	*(void **)&function = dlsym(RTLD_DEFAULT, "rpma_ep_get_port");
	return function(ep, port);
}

TEST(get_port__gives_the_port_the_kernel_chose, setup_peer, teardown)
{
	static const char *const addresses[] = {"192.0.2.1", "2001:db8::1"};

	OURS_ONLY("it has no rpma_ep_get_port()");
	for (size_t i = 0; i < ARRAY_LENGTH(addresses); i++) {
		uint16_t port = 0;

		provider.bound_port = 0x1234;
		expect(0, rpma_ep_listen(w.peer, addresses[i], "0", &w.ep));
		expect_named(0, "rpma_ep_get_port", get_port(w.ep, &port));
		assert_int_equal(port, 0x1234);
		expect(0, rpma_ep_shutdown(&w.ep));
	}
}

TEST(get_port__refuses_null, setup_ep, teardown)
{
	uint16_t port = 77;

	OURS_ONLY("it has no rpma_ep_get_port()");
	expect_named(RPMA_E_INVAL, "rpma_ep_get_port", get_port(NULL, &port));
	expect_named(RPMA_E_INVAL, "rpma_ep_get_port", get_port(w.ep, NULL));
	assert_int_equal(port, 77);
}

/* --- rpma_ep_next_conn_req() --------------------------------------------- */

TEST(next_conn_req__gives_a_request_with_a_qp, setup_ep, teardown)
{
	make_incoming();
	assert_non_null(w.req);
	assert_ptr_equal(provider.id->qp, provider.qp);
	assert_int_equal(provider.create_qp.cap.max_send_wr, 10);
}

TEST(next_conn_req__follows_the_cfg, setup_ep, teardown)
{
	expect(0, rpma_conn_cfg_set_sq_size(w.cfg, 11));
	expect(0, rpma_conn_cfg_set_rcq_size(w.cfg, 14));
	make_incoming();
	EQUAL((provider.create_qp.cap.max_send_wr, 11), (provider.create_cq[1].cqe, 14));
}

TEST(next_conn_req__names_the_client, setup_ep, teardown)
{
	struct sockaddr_in6 *client = (struct sockaddr_in6 *)&provider.client_addr;

	OURS_ONLY("it logs no address");
	client->sin6_family = AF_INET6;
	client->sin6_port = htons(4711);
	assert_int_equal(inet_pton(AF_INET6, "2001:db8::7", &client->sin6_addr), 1);
	expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_NOTICE));
	make_incoming();
	expect_logged(RPMA_LOG_LEVEL_NOTICE, "[2001:db8::7]:4711");
}

TEST(next_conn_req__takes_requests_in_turn, setup_ep, teardown)
{
	struct rpma_conn_private_data pdata;

	provider_queue_connect_request("1", 1);
	provider_queue_connect_request("2", 1);
	for (int i = '1'; i <= '2'; i++) {
		expect(0, rpma_ep_next_conn_req(w.ep, NULL, &w.req));
		expect(0, rpma_conn_req_get_private_data(w.req, &pdata));
		assert_int_equal(*(char *)pdata.ptr, i);
		expect(0, rpma_conn_req_delete(&w.req));
		reference_leaks(id, 1, "it never destroys the id of a rejected request");
	}
}

TEST(next_conn_req__says_that_nobody_asked, setup_ep, teardown)
{
	static const struct {
		int errnum, ours, reference;
	} cases[] = {
		{ENODATA, RPMA_E_NO_EVENT, RPMA_E_NO_EVENT},
		{EAGAIN, RPMA_E_NO_EVENT, RPMA_E_PROVIDER},
		{EINTR, RPMA_E_NO_EVENT, RPMA_E_PROVIDER},
		{EIO, RPMA_E_PROVIDER, RPMA_E_PROVIDER},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct rpma_conn_req *req = UNTOUCHED;
		int want = DIFFERS(cases[i].ours, cases[i].reference,
				   "an empty nonblocking channel is a provider error to it");

		logged[RPMA_LOG_LEVEL_ERROR] = 0;
		calls_fail_on("rdma_get_cm_event", cases[i].errnum);
		expect(want, rpma_ep_next_conn_req(w.ep, NULL, &req));
		assert_ptr_equal(req, UNTOUCHED);
		assert_int_equal(logged[RPMA_LOG_LEVEL_ERROR], want == RPMA_E_PROVIDER);
	}
}

TEST(next_conn_req__drops_any_other_event, setup_ep, teardown)
{
	struct rpma_conn_req *req = UNTOUCHED;

	provider_queue_cm_event(provider.listener, RDMA_CM_EVENT_DEVICE_REMOVAL, NULL, 0);
	expect(RPMA_E_INVAL, rpma_ep_next_conn_req(w.ep, NULL, &req));
	assert_ptr_equal(req, UNTOUCHED);
	assert_int_equal(calls_count("rdma_ack_cm_event"), 1);
}

/* It gave up when its request had been fetched already. */
TEST(next_conn_req__passes_over_the_end_of_a_client, setup_ep, teardown)
{
	struct rpma_conn_req *second = NULL;

	OURS_ONLY("it reports an error");
	provider_queue_connect_request("1", 1);
	expect(0, rpma_ep_next_conn_req(w.ep, NULL, &w.req));
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_REJECTED, NULL, 0);
	provider.num_cqs = 0;
	provider_queue_connect_request("2", 1);
	expect(0, rpma_ep_next_conn_req(w.ep, NULL, &second));
	expect(0, rpma_conn_req_delete(&second));
}

TEST(next_conn_req__rejects_the_client_when_it_fails, setup_ep, teardown)
{
	provider_queue_connect_request(NULL, 0);
	calls_fail_on("ibv_create_cq", ENOMEM);
	expect(RPMA_E_PROVIDER, rpma_ep_next_conn_req(w.ep, NULL, &w.req));
	assert_int_equal(calls_count("rdma_reject"),
			 DIFFERS(1, 0, "it lets the client wait for its timeout"));
	reference_leaks(id, 1, "and forgets the id");
	assert_int_equal(provider.live.id, 1); /* the listener's */
}

/* It forgets the id of a request it cannot serve, or destroys it with the event unacked. */
static void forgive_reference(void)
{
	if (on_reference() && provider.misuse != NULL)
		provider.misuse = NULL;
	else if (strcmp(calls_first_failed(), "rdma_get_cm_event") != 0)
		reference_leaks(id, 1, "of two");
}

TEST(next_conn_req__destroys_the_id_even_if_it_cannot_reject, setup_ep, teardown)
{
	OURS_ONLY("it leaks the id");
	make_srq(5);
	expect(0, rpma_conn_cfg_set_srq(w.cfg, w.srq));
	expect(0, rpma_conn_cfg_set_compl_channel(w.cfg, true)); /* not with such an SRQ */
	provider_queue_connect_request(NULL, 0);
	calls_fail_always("rdma_reject", EIO);
	expect(RPMA_E_INVAL, rpma_ep_next_conn_req(w.ep, w.cfg, &w.req));
	assert_int_equal(calls_count("rdma_reject"), 1);
	assert_int_equal(provider.live.id, 1); /* the listener's */
}

static int next_conn_req(void)
{
	struct rpma_conn_req *req = UNTOUCHED;
	int ret;

	provider_queue_connect_request("hello", 5);
	ret = rpma_ep_next_conn_req(w.ep, w.cfg, &req);
	if (ret != 0)
		forgive_reference();
	keep_made(ret, req, w.req);
	return ret;
}

SETUP(setup_rich_ep, setup_ep, expect(0, rpma_conn_cfg_set_compl_channel(w.cfg, true));
      expect(0, rpma_conn_cfg_set_rcq_size(w.cfg, 1)))

SURVIVES(next_conn_req, .function = "rpma_ep_next_conn_req", .setup = setup_rich_ep,
	 .act = next_conn_req)

/* --- rpma_ep_shutdown() -------------------------------------------------- */

TEST(shutdown__leaves_connections_alone, setup_accepted, teardown)
{
	expect(0, rpma_ep_shutdown(&w.ep));
	expect(0, rpma_conn_disconnect(w.conn));
	assert_int_equal(provider.live.id, 1);
}

ENDS(shutdown_ep, w.ep, rpma_ep_shutdown(&w.ep))

SURVIVES(shutdown, .function = "rpma_ep_shutdown", .setup = setup_ep, .act = shutdown_ep)
