/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cm_id.c -- ids of the RDMA CM beside their connections: addresses and ports,
 * queues, event channels they move between, options, and their end.
 */
#include "cm.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

CM_TEST(create_id__fills_in_what_is_known)
{
	assert_ptr_equal(cm.client.id->channel, cm.client.channel);
	assert_ptr_equal(cm.client.id->context, &cm);
	EQUAL((cm.client.id->ps, RDMA_PS_TCP), (cm.client.id->verbs, NULL),
	      (cm.client.id->qp, NULL));
}

CM_TEST(create_id__refuses_port_spaces_it_does_not_know)
{
	struct rdma_cm_id *id = NULL;

	assert_int_equal(rdma_create_id(cm.client.channel, &id, NULL, (enum rdma_port_space)0x1),
			 -1);
}

CM_TEST(resolve__finds_device_and_address)
{
	struct sockaddr_storage room;
	struct sockaddr *addr = test_sockaddr(test_addr(), cm.port, &room);
	struct rdma_cm_id *id = cm.client.id;
	struct ibv_device_attr attr;

	cm_resolve(id, test_addr(), cm.port);
	assert_non_null(id->verbs);
	assert_non_null(id->pd);
	assert_int_equal(id->port_num, 1);
	OK(ibv_query_device(id->verbs, &attr));
	assert_memory_equal(rdma_get_peer_addr(id), addr, sizeof(struct sockaddr_in));
	EQUAL((rdma_get_local_addr(id)->sa_family, AF_INET),
	      (ntohs(rdma_get_dst_port(id)), cm.port));
	assert_int_not_equal(rdma_get_src_port(id), 0);
}

CM_TEST(resolve__shares_the_context_of_a_device)
{
	struct rdma_cm_id *other = cm_id(cm.client.channel);

	cm_resolve(cm.client.id, test_addr(), cm.port);
	cm_resolve(other, test_addr(), cm.port);
	assert_ptr_equal(other->verbs, cm.client.id->verbs);
	assert_ptr_equal(other->pd, cm.client.id->pd);
	OK(rdma_destroy_id(other));
}

CM_TEST(get_devices__has_that_of_the_id)
{
	int count = 0;
	bool found = false;
	struct ibv_context **list = rdma_get_devices(&count);

	assert_non_null(list);
	cm_resolve(cm.client.id, test_addr(), cm.port);
	for (int i = 0; i < count; i++)
		found = found || list[i] == cm.client.id->verbs;
	EQUAL((found, true), (list[count], NULL));
	rdma_free_devices(list);
}

/* rdma_create_qp() brings the QP to INIT, so that receives can be posted. */
CM_TEST(create_qp__makes_one_in_init_and_its_queues)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	cm_resolve(cm.client.id, test_addr(), cm.port);
	cm_make_qp(cm.client.id);
	OK(ibv_query_qp(cm.client.id->qp, &attr, IBV_QP_STATE, &init));
	assert_int_equal(attr.qp_state, IBV_QPS_INIT);
	assert_non_null(cm.client.id->send_cq);
	assert_non_null(cm.client.id->recv_cq);
	assert_non_null(cm.client.id->send_cq_channel);
	assert_non_null(cm.client.id->recv_cq_channel);
	assert_ptr_equal(cm.client.id->qp->pd, cm.client.id->pd);
	rdma_destroy_qp(cm.client.id);
	EQUAL((cm.client.id->qp, NULL), (cm.client.id->send_cq, NULL),
	      (cm.client.id->recv_cq, NULL));
}

/* Queues and PD of the program's own are used as they are, and stay its own. */
CM_TEST(create_qp__takes_queues_of_the_program)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};

	cm_resolve(cm.client.id, test_addr(), cm.port);
	struct ibv_pd *pd = ibv_alloc_pd(cm.client.id->verbs);
	struct ibv_cq *cq = ibv_create_cq(cm.client.id->verbs, 10, NULL, NULL, 0);
	attr.send_cq = attr.recv_cq = cq;
	OK(rdma_create_qp(cm.client.id, pd, &attr));
	assert_ptr_equal(cm.client.id->qp->pd, pd);
	assert_ptr_equal(cm.client.id->qp->send_cq, cq);
	assert_ptr_equal(cm.client.id->qp->recv_cq, cq);
	rdma_destroy_qp(cm.client.id);
	OK(ibv_destroy_cq(cq));
	OK(ibv_dealloc_pd(pd));
}

CM_TEST(create_qp__refuses_a_pd_of_another_context)
{
	struct ibv_context *context = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};

	cm_resolve(cm.client.id, test_addr(), cm.port);
	FAILS(EINVAL, rdma_create_qp(cm.client.id, pd, &attr));
	assert_null(cm.client.id->qp);
	OK(ibv_dealloc_pd(pd));
	OK(ibv_close_device(context));
}

CM_TEST(create_qp_ex__makes_an_extended_one)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE};

	cm_resolve(cm.client.id, test_addr(), cm.port);
	attr.pd = cm.client.id->pd;
	OK(rdma_create_qp_ex(cm.client.id, &attr));
	assert_non_null(ibv_qp_to_qp_ex(cm.client.id->qp));
}

CM_TEST(create_srq__is_taken_by_the_qp)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 5, .max_sge = 1}};

	cm_resolve(cm.client.id, test_addr(), cm.port);
	OK(rdma_create_srq(cm.client.id, NULL, &attr));
	assert_non_null(cm.client.id->srq);
	cm_make_qp(cm.client.id);
	assert_ptr_equal(cm.client.id->qp->srq, cm.client.id->srq);
	rdma_destroy_qp(cm.client.id);
	rdma_destroy_srq(cm.client.id);
	assert_null(cm.client.id->srq);
}

CM_TEST(create_srq_ex__is_in_the_pd_of_the_id)
{
	struct ibv_srq_init_attr_ex attr = {.attr = {.max_wr = 5, .max_sge = 1},
					    .comp_mask = IBV_SRQ_INIT_ATTR_TYPE,
					    .srq_type = IBV_SRQT_BASIC};

	cm_resolve(cm.client.id, test_addr(), cm.port);
	OK(rdma_create_srq_ex(cm.client.id, &attr));
	assert_non_null(cm.client.id->srq);
	assert_ptr_equal(cm.client.id->srq->pd, cm.client.id->pd);
	rdma_destroy_srq(cm.client.id);
	assert_null(cm.client.id->srq);
}

CM_TEST(port__in_use_is_refused)
{
	struct sockaddr_storage room;

	FAILS(EADDRINUSE, rdma_bind_addr(cm.client.id, test_sockaddr(test_addr(), cm.port, &room)));
}

CM_TEST(port__is_free_after_its_listener)
{
	struct sockaddr_storage room;
	struct rdma_cm_id *id = cm_id(cm.server.channel);

	OK(rdma_destroy_id(cm.listener));
	cm.listener = id;
	OK(rdma_bind_addr(id, test_sockaddr(test_addr(), cm.port, &room)));
	OK(rdma_listen(id, 1));
}

CM_TEST(bind__to_a_foreign_address_is_refused)
{
	struct sockaddr_storage room;

	/* TEST-NET-3 of RFC 5737: no host's */
	int result = rdma_bind_addr(cm.client.id, test_sockaddr("203.0.113.1", 0, &room));
	assert_int_equal(result, -1);
	assert_true(errno == EADDRNOTAVAIL || errno == ENODEV);
}

/* cma_bind_addr() in drivers/infiniband/core/cma.c: a loopback address is any device's. */
CM_TEST(bind__to_loopback_chooses_no_device)
{
	static const char *const addresses[] = {"127.0.0.1", "::1"};
	struct sockaddr_storage room;

	for (size_t i = 0; i < 2; i++) {
		struct rdma_cm_id *id = cm_id(cm.client.channel);

		OK(rdma_bind_addr(id, test_sockaddr(addresses[i], 0, &room)));
		EQUAL((id->verbs, NULL), (id->pd, NULL));
		assert_int_not_equal(rdma_get_src_port(id), 0);
		OK(rdma_destroy_id(id));
	}
}

/* The route is another matter: the kernel has none to a loopback address over RoCE. */
CM_TEST(resolve__to_loopback_chooses_a_device)
{
	struct rdma_cm_id *id = cm.client.id;
	struct sockaddr_storage room;

	OK(rdma_resolve_addr(id, NULL, test_sockaddr("127.0.0.1", 1, &room), WAIT_S * 1000));
	assert_ptr_equal(cm_expect(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED).id, id);
	assert_non_null(id->verbs);
}

CM_TEST(listen__on_any_address_serves_this_one)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	OK(rdma_destroy_id(cm.listener));
	cm.listener = cm_listen(cm.server.channel, "0.0.0.0", 1);
	cm.port = ntohs(rdma_get_src_port(cm.listener));
	assert_null(cm.listener->verbs);
	cm_connect(cm.client.id, &param);
	cm.server.id = cm_take_request().id;
	assert_non_null(cm.server.id->verbs);
	cm_accept(cm.server.id, &param);
	cm_expect(cm.client.channel, RDMA_CM_EVENT_ESTABLISHED);
	cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
}

CM_TEST(channel__nonblocking_has_no_event)
{
	struct rdma_cm_event *event = NULL;

	make_nonblocking(cm.client.channel->fd);
	cm_expect_nothing(cm.client.channel);
	FAILS(EAGAIN, rdma_get_cm_event(cm.client.channel, &event));
	cm_resolve(cm.client.id, test_addr(), cm.port);
	FAILS(EAGAIN, rdma_get_cm_event(cm.client.channel, &event));
}

CM_TEST(migrate__takes_later_events_along)
{
	struct rdma_event_channel *other = rdma_create_event_channel();

	OK(rdma_migrate_id(cm.client.id, other));
	assert_ptr_equal(cm.client.id->channel, other);
	cm_resolve(cm.client.id, test_addr(), cm.port);
	cm_expect_nothing(cm.client.channel);
	OK(rdma_migrate_id(cm.client.id, cm.client.channel));
	rdma_destroy_event_channel(other);
}

CM_TEST(migrate__takes_waiting_events_along)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct sockaddr_storage room;

	OK(rdma_resolve_addr(cm.client.id, NULL, test_sockaddr(test_addr(), cm.port, &room), 5000));
	wait_readable(cm.client.channel->fd, "an event of the RDMA CM");
	OK(rdma_migrate_id(cm.client.id, other));
	cm_expect_nothing(cm.client.channel);
	assert_ptr_equal(cm_expect(other, RDMA_CM_EVENT_ADDR_RESOLVED).id, cm.client.id);
	OK(rdma_migrate_id(cm.client.id, cm.client.channel));
	rdma_destroy_event_channel(other);
}

CM_PAIR_TEST(migrated__connection_is_told_of_its_end)
{
	struct rdma_event_channel *other = rdma_create_event_channel();

	OK(rdma_migrate_id(cm.server.id, other));
	OK(rdma_disconnect(cm.client.id));
	assert_ptr_equal(cm_expect(other, RDMA_CM_EVENT_DISCONNECTED).id, cm.server.id);
	cm_expect_nothing(cm.server.channel);
	rdma_destroy_qp(cm.server.id);
	OK(ibv_dereg_mr(cm.server.mr));
	OK(rdma_destroy_id(cm.server.id));
	cm.server.id = NULL;
	cm.server.mr = NULL;
	rdma_destroy_event_channel(other);
}

CM_TEST(migrated__listener_hears_on_the_new_channel)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_event_channel *other = rdma_create_event_channel();

	OK(rdma_migrate_id(cm.listener, other));
	cm_connect(cm.client.id, &param);
	struct cm_event event = cm_expect(other, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_ptr_equal(event.id->channel, other);
	cm_expect_nothing(cm.server.channel);
	OK(rdma_destroy_id(event.id));
	OK(rdma_destroy_id(cm.listener));
	cm.listener = NULL;
	rdma_destroy_event_channel(other);
}

CM_TEST(listeners__get_their_own_requests)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_id *other = cm_listen(cm.server.channel, test_addr(), 1);

	cm_resolve(cm.client.id, test_addr(), ntohs(rdma_get_src_port(other)));
	cm_make_qp(cm.client.id);
	OK(rdma_connect(cm.client.id, &param));
	struct cm_event event = cm_expect(cm.server.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_ptr_equal(event.listen_id, other);
	OK(rdma_destroy_id(event.id));
	OK(rdma_destroy_id(other));
}

/* A bound client comes from the port it chose. */
CM_TEST(resolve__keeps_the_port_of_a_bound_id)
{
	struct sockaddr_storage room;

	OK(rdma_bind_addr(cm.client.id, test_sockaddr(test_addr(), 0, &room)));
	uint16_t port = rdma_get_src_port(cm.client.id);
	assert_int_not_equal(port, 0);
	cm_make_pair(test_addr());
	EQUAL((rdma_get_src_port(cm.client.id), port), (rdma_get_dst_port(cm.server.id), port));
}

struct destroyer {
	struct rdma_cm_id *id;
	int result;
};

static void *destroy_id(void *argument)
{
	struct destroyer *destroyer = argument;

	destroyer->result = rdma_destroy_id(destroyer->id);
	return NULL;
}

/* rdma_destroy_id(3): "Users must ... acknowledge an associated events"; it waits. */
CM_TEST(destroy_id__waits_for_the_ack)
{
	struct destroyer destroyer = {cm.client.id, -2};
	struct rdma_cm_event *event = NULL;
	struct sockaddr_storage room;
	pthread_t thread;

	OK(rdma_resolve_addr(cm.client.id, NULL, test_sockaddr(test_addr(), cm.port, &room), 5000));
	wait_readable(cm.client.channel->fd, "an event of the RDMA CM");
	OK(rdma_get_cm_event(cm.client.channel, &event));
	OK(pthread_create(&thread, NULL, destroy_id, &destroyer));
	assert_int_equal(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_ptr_equal(event->id, cm.client.id); /* it is still there */
	OK(rdma_ack_cm_event(event));
	OK(pthread_join(thread, NULL));
	cm.client.id = NULL;
	assert_int_equal(destroyer.result, 0);
}

/* Events not taken go with their id. */
CM_TEST(destroy_id__drops_its_waiting_events)
{
	struct sockaddr_storage room;

	OK(rdma_resolve_addr(cm.client.id, NULL, test_sockaddr(test_addr(), cm.port, &room), 5000));
	wait_readable(cm.client.channel->fd, "an event of the RDMA CM");
	OK(rdma_destroy_id(cm.client.id));
	cm.client.id = NULL;
	cm_expect_nothing(cm.client.channel);
}

struct reader {
	struct rdma_event_channel *channel;
	atomic_int tid; /* 0: not there yet */
	int result;
};

static void *read_event(void *argument)
{
	struct reader *reader = argument;
	struct rdma_cm_event *event;

	atomic_store(&reader->tid, gettid());
	reader->result = rdma_get_cm_event(reader->channel, &event);
	if (reader->result == 0)
		rdma_ack_cm_event(event);
	return NULL;
}

static bool sleeps_or_has_ended(int tid)
{
	char name[64], text[256] = "", *state;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", tid);
	file = fopen(name, "r");
	if (file == NULL)
		return true;
	state = strrchr(fgets(text, sizeof(text), file) == NULL ? "" : text, ')');
	fclose(file);
	return state == NULL || state[2] == 'S'; /* proc_pid_stat(5) */
}

/* rping does so: the thread sleeps on, as one in the kernel does, until it is cancelled. */
CM_TEST(destroy_channel__leaves_its_reader_asleep)
{
	struct sockaddr_storage room;
	struct sockaddr *addr = test_sockaddr(test_addr(), cm.port, &room);

	for (int round = 0; round < 100; round++) {
		struct reader reader = {.channel = rdma_create_event_channel(), .result = -2};
		struct rdma_cm_id *id;
		pthread_t thread;

		assert_non_null(reader.channel);
		id = cm_id(reader.channel);
		OK(pthread_create(&thread, NULL, read_event, &reader));
		while (atomic_load(&reader.tid) == 0 || !sleeps_or_has_ended(reader.tid))
			sched_yield();
		OK(rdma_resolve_addr(id, NULL, addr, 5000)); /* raises an event or is too late to */
		OK(rdma_destroy_id(id));
		rdma_destroy_event_channel(reader.channel);
		while (!sleeps_or_has_ended(reader.tid))
			sched_yield();
		OK(pthread_cancel(thread));
		OK(pthread_join(thread, NULL));
		assert_int_not_equal(reader.result, -1);
	}
}

CM_TEST(event_strings__are_those_of_the_manual)
{
	EQUAL((rdma_event_str(RDMA_CM_EVENT_ADDR_RESOLVED), "RDMA_CM_EVENT_ADDR_RESOLVED"),
	      (rdma_event_str(RDMA_CM_EVENT_TIMEWAIT_EXIT), "RDMA_CM_EVENT_TIMEWAIT_EXIT"),
	      (rdma_event_str((enum rdma_cm_event_type)99), "UNKNOWN EVENT"));
}

CM_TEST(set_option__takes_what_programs_set)
{
	int one = 1;
	uint8_t timeout = 16, tos = 0;

	OK(rdma_set_option(cm.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)));
	OK(rdma_set_option(cm.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one,
			   sizeof(one)));
	OK(rdma_set_option(cm.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			   sizeof(timeout)));
	FAILS(ENOSYS, rdma_set_option(cm.client.id, 99, 0, &one, sizeof(one)));
	FAILS(EINVAL,
	      rdma_set_option(cm.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &one, sizeof(one)));
}
