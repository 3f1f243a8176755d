/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ipv6.c -- the RDMA CM over IPv6, at RPMA_TEST_ADDR6 (default ::1). */
#include "cm.h"

#include <arpa/inet.h>

static int setup_cm6(void **unused)
{
	if (test_addr6() == NULL)
		return 0;
	cm.server.channel = rdma_create_event_channel();
	cm.client.channel = rdma_create_event_channel();
	cm.listener = cm_listen(cm.server.channel, test_addr6(), 10);
	cm.port = ntohs(rdma_get_src_port(cm.listener));
	cm.client.id = cm_id(cm.client.channel);
	return 0;
}

#define NEEDS_IPV6() SKIP_UNLESS(test_addr6() != NULL, "RPMA_TEST_ADDR6 is not set")

TEST(connection__carries_messages, setup_cm6, teardown_cm)
{
	NEEDS_IPV6();
	cm_make_pair(test_addr6());
	cm_send_works(&cm.client, &cm.server);
	cm_send_works(&cm.server, &cm.client);
	OK(rdma_disconnect(cm.client.id));
	cm_expect(cm.server.channel, RDMA_CM_EVENT_DISCONNECTED);
}

TEST(addresses__are_of_ipv6, setup_cm6, teardown_cm)
{
	struct in6_addr expected;

	NEEDS_IPV6();
	assert_int_equal(inet_pton(AF_INET6, test_addr6(), &expected), 1);
	cm_make_pair(test_addr6());
	struct sockaddr_in6 *peer = (struct sockaddr_in6 *)rdma_get_peer_addr(cm.server.id);
	struct sockaddr_in6 *local = (struct sockaddr_in6 *)rdma_get_local_addr(cm.server.id);

	EQUAL((peer->sin6_family, AF_INET6), (local->sin6_family, AF_INET6));
	assert_memory_equal(&local->sin6_addr, &expected, sizeof(expected));
	EQUAL((local->sin6_port, htons(cm.port)),
	      (peer->sin6_port, rdma_get_src_port(cm.client.id)));
}

TEST(gid__of_the_address_is_in_the_table, setup_cm6, teardown_cm)
{
	union ibv_gid gid;
	int index = -1;

	NEEDS_IPV6();
	OK(ibv_close_device(open_device_of(test_addr6(), &index, &gid)));
	assert_true(index >= 0);
}

TEST(listener__on_any_address_takes_ipv4_too, setup_cm6, teardown_cm)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	NEEDS_IPV6();
	OK(rdma_destroy_id(cm.listener));
	cm.listener = cm_listen(cm.server.channel, "::", 1);
	cm.port = ntohs(rdma_get_src_port(cm.listener));
	cm_connect(cm.client.id, &param); /* to the IPv4 address */
	cm.server.id = cm_take_request().id;
	cm_accept(cm.server.id, &param);
	cm_expect(cm.client.channel, RDMA_CM_EVENT_ESTABLISHED);
	cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
}

/* RDMA_OPTION_ID_AFONLY of rdma_set_option(3), before the listener is bound and after. */
TEST(listener__of_one_family_takes_no_other, setup_cm6, teardown_cm)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct sockaddr_storage room;
	int one = 1;

	NEEDS_IPV6();
	for (int bound = 0; bound <= 1; bound++) {
		OK(rdma_destroy_id(cm.listener));
		cm.listener = cm_id(cm.server.channel);
		if (bound)
			OK(rdma_bind_addr(cm.listener, test_sockaddr("::", 0, &room)));
		OK(rdma_set_option(cm.listener, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &one,
				   sizeof(one)));
		if (!bound)
			OK(rdma_bind_addr(cm.listener, test_sockaddr("::", 0, &room)));
		OK(rdma_listen(cm.listener, 1));
		cm.port = ntohs(rdma_get_src_port(cm.listener));
		cm_connect(cm.client.id, &param); /* to the IPv4 address */
		cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED);
		teardown_cm(state);
		setup_cm6(state);
	}
}
