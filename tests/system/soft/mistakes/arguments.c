/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arguments.c -- calls that are refused for what they are given, or for the state of their object.
 * Each prints the line that `rpma-soft -v` has to print about it, as those of mistakes.c do.
 */
#include "pair.h"

#include <arpa/inet.h>
#include <rdma/rdma_verbs.h>

/* FUNCTION, "of OBJECT" or not, ends with the error, for this REASON. */
#define TOLD(error, object, reason, function)                                                      \
	printf("expect: rpma-soft: %s%s: %s (%s)\n", #function, object, reason,                    \
	       strerrorname_np(error))
#define REFUSES(error, object, reason, function, ...)                                              \
	(TOLD(error, object, reason, function), FAILS(error, function(__VA_ARGS__)))
#define MAKES_NONE(error, object, reason, function, ...)                                           \
	(TOLD(error, object, reason, function), NONE(error, function(__VA_ARGS__)))

/* --- the RDMA CM --- */

#define UNBOUND	  " of id (unbound)"
#define BYTES_MAX 100

static struct {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	char name[BYTES_MAX];
} cm;

static void make(enum rdma_port_space space)
{
	cm.channel = rdma_create_event_channel();
	assert_non_null(cm.channel);
	OK(rdma_create_id(cm.channel, &cm.id, NULL, space));
}

static int teardown_id(void **unused)
{
	(void)unused;
	OK(rdma_destroy_id(cm.id));
	rdma_destroy_event_channel(cm.channel);
	return 0;
}

static int setup_id(void **unused)
{
	(void)unused;
	make(RDMA_PS_TCP);
	return 0;
}

static int setup_datagram_id(void **unused)
{
	(void)unused;
	make(RDMA_PS_UDP);
	return 0;
}

static void resolve(void)
{
	struct rdma_cm_event *event;
	struct sockaddr_storage room;

	OK(rdma_resolve_addr(cm.id, NULL, test_sockaddr("127.0.0.1", 7, &room), 1000));
	OK(rdma_get_cm_event(cm.channel, &event));
	OK(rdma_ack_cm_event(event));
	snprintf(cm.name, sizeof(cm.name), " of id 127.0.0.1:%u to 127.0.0.1:7",
		 ntohs(rdma_get_src_port(cm.id)));
}

TEST(pointers_that_are_null, setup_id, teardown_id)
{
	struct rdma_addrinfo *info;

	REFUSES(EINVAL, "", "id is NULL", rdma_create_id, cm.channel, NULL, NULL, RDMA_PS_TCP);
	REFUSES(EINVAL, "", "id is NULL", rdma_connect, NULL, NULL);
	REFUSES(EINVAL, "", "id is NULL", rdma_get_request, cm.id, NULL);
	REFUSES(EINVAL, "", "event is NULL", rdma_get_cm_event, cm.channel, NULL);
	REFUSES(EINVAL, "", "event is NULL", rdma_ack_cm_event, NULL);
	REFUSES(EINVAL, "", "res is NULL", rdma_create_ep, &cm.id, NULL, NULL, NULL);
	REFUSES(EINVAL, "", "each of node, service and hints is NULL", rdma_getaddrinfo, NULL, NULL,
		NULL, &info);
	REFUSES(EINVAL, "", "res is NULL", rdma_getaddrinfo, "127.0.0.1", NULL, NULL, NULL);
	REFUSES(EINVAL, "", "the address is NULL", rdma_bind_addr, cm.id, NULL);
	REFUSES(EINVAL, "", "qp_attr is NULL", rdma_init_qp_attr, cm.id, NULL, NULL);
	REFUSES(EINVAL, "", "qp_init_attr is NULL", rdma_create_qp, cm.id, NULL, NULL);
	REFUSES(EINVAL, "", "attr is NULL", rdma_create_qp_ex, cm.id, NULL);
	REFUSES(EINVAL, UNBOUND, "attr is NULL", rdma_create_srq, cm.id, NULL, NULL);
	REFUSES(EINVAL, UNBOUND, "ece is NULL", rdma_get_remote_ece, cm.id, NULL);
}

TEST(arguments_that_an_id_does_not_take, setup_id, teardown_id)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	struct rdma_conn_param param = {.retry_count = 7};
	struct rdma_addrinfo info = {.ai_port_space = RDMA_PS_TCP, .ai_connect_len = 57};
	struct sockaddr unix_address = {.sa_family = AF_UNIX};
	struct sockaddr_storage room, room6;
	struct sockaddr *there = test_sockaddr("127.0.0.1", 7, &room);
	struct rdma_cm_id *other;
	int mask, value = 1;

	REFUSES(EOPNOTSUPP, "", "port space 0x2; supported are TCP (0x106) and UDP (0x111)",
		rdma_create_id, cm.channel, &other, NULL, RDMA_PS_IPOIB);
	REFUSES(EINVAL, "", "address family 1, expected AF_INET (2) or AF_INET6 (10)",
		rdma_resolve_addr, cm.id, NULL, &unix_address, 1000);
	REFUSES(EINVAL, UNBOUND, "address families 10 and 2 of source and destination",
		rdma_resolve_addr, cm.id, test_sockaddr("::1", 0, &room6), there, 1000);
	REFUSES(ENOSYS, UNBOUND, "level 1, only RDMA_OPTION_ID (0) is supported", rdma_set_option,
		cm.id, RDMA_OPTION_IB, 0, &value, sizeof(value));
	REFUSES(ENOSYS, UNBOUND, "option 99 with 4 bytes, in state IDLE", rdma_set_option, cm.id,
		RDMA_OPTION_ID, 99, &value, sizeof(value));
	REFUSES(EINVAL, UNBOUND, "it has an event channel: requests come there", rdma_get_request,
		cm.id, &other);
	REFUSES(EINVAL, "", "ai_connect_len 57, at most 56", rdma_create_ep, &other, &info, NULL,
		NULL);
	REFUSES(EINVAL, UNBOUND, "it has no device: resolve its address first", rdma_create_qp,
		cm.id, NULL, &init);
	REFUSES(EINVAL, UNBOUND, "it has no device: resolve its address first", rdma_connect, cm.id,
		&param);
	REFUSES(EINVAL, UNBOUND, "it is in state IDLE", rdma_resolve_route, cm.id, 1000);
	REFUSES(EINVAL, UNBOUND, "no attributes of RTR in state IDLE", rdma_init_qp_attr, cm.id,
		&attr, &mask);
	REFUSES(EINVAL, UNBOUND, "event 5, expected 4", rdma_notify, cm.id, IBV_EVENT_SQ_DRAINED);
	REFUSES(EINVAL, UNBOUND, "expected an id of RDMA_PS_UDP and an IP address",
		rdma_join_multicast, cm.id, there, NULL);
	/* RFC 5737: no host has it */
	REFUSES(ENODEV, " of id 198.51.100.1:7", "no device has this address", rdma_bind_addr,
		cm.id, test_sockaddr("198.51.100.1", 7, &room6));
}

TEST(calls_that_come_before_the_route, setup_id, teardown_id)
{
	static const char data[200];
	struct rdma_conn_param param = {.responder_resources = 17};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD};

	resolve();
	REFUSES(EINVAL, cm.name, "it has no QP, and conn_param is NULL", rdma_connect, cm.id, NULL);
	REFUSES(EINVAL, cm.name, "responder_resources is 17, at most 16", rdma_connect, cm.id,
		&param);
	param = (struct rdma_conn_param){.initiator_depth = 17};
	REFUSES(EINVAL, cm.name, "initiator_depth is 17, at most 16", rdma_accept, cm.id, &param);
	param = (struct rdma_conn_param){.private_data_len = 5};
	REFUSES(EINVAL, cm.name, "private_data is NULL", rdma_connect, cm.id, &param);
	param = (struct rdma_conn_param){.private_data = data, .private_data_len = sizeof(data)};
	REFUSES(EINVAL, cm.name, "private_data_len is 200, at most 56", rdma_connect, cm.id,
		&param);
	param = (struct rdma_conn_param){.private_data_len = 0};
	REFUSES(EINVAL, cm.name, "it is in state ADDR_RESOLVED, not in ROUTE_RESOLVED",
		rdma_connect, cm.id, &param);
	REFUSES(EINVAL, cm.name, "it is in state ADDR_RESOLVED", rdma_accept, cm.id, &param);
	REFUSES(EINVAL, cm.name, "it is in state ADDR_RESOLVED", rdma_establish, cm.id);
	REFUSES(EINVAL, cm.name, "it is in state ADDR_RESOLVED", rdma_notify, cm.id,
		IBV_EVENT_COMM_EST);
	REFUSES(EINVAL, cm.name, "it is in state ADDR_RESOLVED", rdma_reject, cm.id, NULL, 0);
	REFUSES(EINVAL, cm.name, "it is in state ADDR_RESOLVED", rdma_disconnect, cm.id);
	REFUSES(EINVAL, cm.name, "another QP type than that of its port space", rdma_create_qp,
		cm.id, NULL, &init);
}

TEST(calls_on_an_id_that_listens, setup_id, teardown_id)
{
	struct sockaddr_storage room;
	struct sockaddr *there = test_sockaddr("127.0.0.1", 7, &room);
	int value = 1;

	OK(rdma_listen(cm.id, 1));
	snprintf(cm.name, sizeof(cm.name), " of id 0.0.0.0:%u", ntohs(rdma_get_src_port(cm.id)));
	REFUSES(EINVAL, cm.name, "it is in state LISTENING", rdma_listen, cm.id, 1);
	REFUSES(EINVAL, cm.name, "it is in state LISTENING", rdma_bind_addr, cm.id, there);
	REFUSES(EINVAL, cm.name, "it is in state LISTENING", rdma_resolve_addr, cm.id, NULL, there,
		1000);
	REFUSES(EINVAL, cm.name, "option 1 with 4 bytes, in state LISTENING", rdma_set_option,
		cm.id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &value, sizeof(value));
	REFUSES(EINVAL, cm.name, "option 2 with 4 bytes, in state LISTENING", rdma_set_option,
		cm.id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &value, sizeof(value));
}

TEST(groups_of_an_id, setup_datagram_id, teardown_id)
{
	struct rdma_cm_join_mc_attr_ex attr = {.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS};
	struct sockaddr_storage room;
	struct sockaddr *group = test_sockaddr("239.1.2.3", 0, &room);
	struct rdma_cm_event *event;

	REFUSES(EINVAL, UNBOUND, "it has no device: resolve an address first", rdma_join_multicast,
		cm.id, group, NULL);
	REFUSES(EINVAL, UNBOUND, "expected attributes with an address and join flags",
		rdma_join_multicast_ex, cm.id, &attr, NULL);
	REFUSES(EINVAL, UNBOUND, "expected an IPv4 or IPv6 address", rdma_leave_multicast, cm.id,
		NULL);
	resolve();
	OK(rdma_join_multicast(cm.id, group, NULL));
	OK(rdma_get_cm_event(cm.channel, &event));
	OK(rdma_ack_cm_event(event));
	REFUSES(EINVAL, cm.name, "it is in this group", rdma_join_multicast, cm.id, group, NULL);
}

TEST(channel_of_an_id_that_has_none)
{
	struct rdma_cm_id *id;

	OK(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	REFUSES(EINVAL, UNBOUND, "channel is NULL, and it has none of the program's",
		rdma_migrate_id, id, NULL);
	OK(rdma_destroy_id(id));
}

/* --- verbs --- */

#define DEVICE_REFUSES(error, reason, function, ...)                                               \
	do {                                                                                       \
		char of[BYTES_MAX];                                                                \
		snprintf(of, sizeof(of), " of %s", ibv_get_device_name(w.near.context->device));   \
		REFUSES(error, of, reason, function, w.near.context, ##__VA_ARGS__);               \
	} while (0)

PAIR_TEST(entries_that_the_port_does_not_have)
{
	struct ibv_values_ex values = {.comp_mask = 2};
	struct ibv_gid_entry entry;
	union ibv_gid gid;
	__be16 pkey;

	DEVICE_REFUSES(EINVAL, "port 2, index 0; expected port 1 and an index below 4",
		       ibv_query_gid, 2, 0, &gid);
	DEVICE_REFUSES(EINVAL, "port 1, index 4; expected port 1 and an index below 4",
		       ibv_query_gid_ex, 1, 4, &entry, 0);
	DEVICE_REFUSES(EINVAL, "port 1, index 1; expected port 1 and an index below 1",
		       ibv_query_pkey, 1, 1, &pkey);
	DEVICE_REFUSES(EINVAL, "port 1, P_Key 0x1234; expected 1 and 0xffff", ibv_get_pkey_index, 1,
		       htons(0x1234));
	REFUSES(EOPNOTSUPP, "", "unknown flags 0x1", ibv_query_gid_ex, w.near.context, 1, 0, &entry,
		1);
	REFUSES(EINVAL, "", "unknown comp_mask 0x2", ibv_query_rt_values_ex, w.near.context,
		&values);
	TOLD(EOPNOTSUPP, "", "unknown flags 0x1", ibv_query_gid_table);
	assert_int_equal(ibv_query_gid_table(w.near.context, &entry, 1, 1), -EOPNOTSUPP);
	TOLD(EINVAL, "", "room for 1 entries of 4", ibv_query_gid_table);
	assert_int_equal(ibv_query_gid_table(w.near.context, &entry, 1, 0), -EINVAL);
}

PAIR_TEST(objects_that_are_not_made)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RAW_PACKET};
	struct ibv_cq_init_attr_ex cq = {
		.cqe = 1, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = 0x80};
	struct ibv_grh grh = {0};
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH};
	struct ibv_ah_attr way;
	char memory[BYTES_MAX];

	MAKES_NONE(EINVAL, "", "type 3, expected 1 or 2", ibv_alloc_mw, w.near.pd,
		   (enum ibv_mw_type)3);
	MAKES_NONE(EOPNOTSUPP, "", "QP type 8; supported are RC (2), UC (3), UD (4)", ibv_create_qp,
		   w.near.pd, &init);
	init.qp_type = IBV_QPT_RC;
	MAKES_NONE(EINVAL, "", "send_cq is NULL", ibv_create_qp, w.near.pd, &init);
	MAKES_NONE(EOPNOTSUPP, "", "unknown flags 0x80", ibv_create_cq_ex, w.near.context, &cq);
	REFUSES(EPROTONOSUPPORT, "", "the first 40 bytes are no GRH of IPv4 or IPv6",
		ibv_init_ah_from_wc, w.near.context, 1, &wc, &grh, &way);
	snprintf(memory, sizeof(memory), " of 0 bytes at %#llx",
		 (unsigned long long)(uintptr_t)w.near.memory);
	MAKES_NONE(EINVAL, memory, "no bytes", ibv_reg_mr, w.near.pd, w.near.memory, 0, 0);
	snprintf(memory, sizeof(memory), " of 1 bytes at %#llx",
		 (unsigned long long)(uintptr_t)w.near.memory);
	MAKES_NONE(EINVAL, memory, "IBV_ACCESS_REMOTE_WRITE needs IBV_ACCESS_LOCAL_WRITE as well",
		   ibv_reg_mr, w.near.pd, w.near.memory, 1, IBV_ACCESS_REMOTE_WRITE);
}

PAIR_TEST(changes_that_an_object_does_not_take)
{
	struct ibv_modify_cq_attr moderation = {.attr_mask = 2};
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w.near.pd, &init);
	char name[BYTES_MAX];

	assert_non_null(srq);
	snprintf(name, sizeof(name), " of SRQ %u", srq->handle);
	REFUSES(EOPNOTSUPP, name, "it cannot be resized", ibv_modify_srq, srq, &init.attr,
		IBV_SRQ_MAX_WR);
	REFUSES(EINVAL, name, "unknown srq_attr_mask 0x4", ibv_modify_srq, srq, &init.attr, 4);
	OK(ibv_destroy_srq(srq));
	snprintf(name, sizeof(name), " of CQ %u", w.near.cq->handle);
	REFUSES(EINVAL, name, "attr_mask 0x2, expected IBV_CQ_ATTR_MODERATE", ibv_modify_cq,
		w.near.cq, &moderation);
	snprintf(name, sizeof(name), " of key %#x", w.near.mr->rkey);
	TOLD(EINVAL, name, "flags 0 and the arguments do not go together", ibv_rereg_mr);
	errno = 0;
	assert_int_equal(ibv_rereg_mr(w.near.mr, 0, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	assert_int_equal(errno, EINVAL);
}

PAIR_TEST(device_memory_that_there_is_not)
{
	struct ibv_alloc_dm_attr attr = {.length = 64, .log_align_req = 13};
	unsigned char bytes[BYTES_MAX] = {0};
	struct ibv_dm *dm;

	MAKES_NONE(EINVAL, "", "log_align_req 13, expected 0 to 12", ibv_alloc_dm, w.near.context,
		   &attr);
	attr = (struct ibv_alloc_dm_attr){.length = 64, .comp_mask = 1};
	MAKES_NONE(EINVAL, "", "unknown comp_mask 0x1", ibv_alloc_dm, w.near.context, &attr);
	attr = (struct ibv_alloc_dm_attr){.length = 64};
	dm = ibv_alloc_dm(w.near.context, &attr);
	assert_non_null(dm);
	REFUSES(EINVAL, "", "3 bytes at 0; expected multiples of 4", ibv_memcpy_to_dm, dm, 0, bytes,
		3);
	REFUSES(EINVAL, "", "8 bytes at 60 of 64", ibv_memcpy_from_dm, bytes, dm, 60, 8);
	MAKES_NONE(EINVAL, "", "access 0x22 needs IBV_ACCESS_LOCAL_WRITE as well", ibv_reg_dm_mr,
		   w.near.pd, dm, 0, 64, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE);
	OK(ibv_free_dm(dm));
}

PAIR_TEST(calls_that_the_device_does_not_have)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w.near.pd, &init);
	struct ibv_srq_init_attr_ex shared = {.comp_mask =
						      IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
					      .srq_type = IBV_SRQT_TM,
					      .pd = w.near.pd};
	struct ibv_xrcd_init_attr xrcd = {.comp_mask = 0};
	struct ibv_qp_open_attr open = {.comp_mask = 0};
	struct ibv_wq_init_attr wq = {.comp_mask = 0};
	struct ibv_rwq_ind_table_init_attr table = {.comp_mask = 0};
	struct ibv_flow_attr flow = {.comp_mask = 0};
	struct ibv_flow_action_esp_attr esp = {.comp_mask = 0};
	struct ibv_counters_init_attr counters = {.comp_mask = 0};
	struct ibv_qp_rate_limit_attr rate = {.comp_mask = 0};
	struct ibv_context *context = w.near.context;
	struct ibv_ops_wr op = {0}, *bad;
	uint32_t number;

	assert_non_null(srq);
#define LACKS(check, function, ...) check(EOPNOTSUPP, "", "not supported", function, __VA_ARGS__)
	LACKS(MAKES_NONE, ibv_create_srq_ex, context, &shared);
	LACKS(MAKES_NONE, ibv_open_xrcd, context, &xrcd);
	LACKS(MAKES_NONE, ibv_open_qp, context, &open);
	LACKS(MAKES_NONE, ibv_create_wq, context, &wq);
	LACKS(MAKES_NONE, ibv_create_rwq_ind_table, context, &table);
	LACKS(MAKES_NONE, ibv_create_flow, w.near.qp, &flow);
	LACKS(MAKES_NONE, ibv_create_flow_action_esp, context, &esp);
	LACKS(MAKES_NONE, ibv_create_counters, context, &counters);
	LACKS(REFUSES, ibv_modify_qp_rate_limit, w.near.qp, &rate);
	LACKS(REFUSES, ibv_get_srq_num, srq, &number);
	LACKS(REFUSES, ibv_post_srq_ops, srq, &op, &bad);
	OK(ibv_destroy_srq(srq));
}
