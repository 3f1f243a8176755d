/* SPDX-License-Identifier: BSD-3-Clause */
/* test_device.c -- the list of devices, a device's attributes and its port's. */
#include "device_test.h"

#include <endian.h>

static struct ibv_context *context;

static int setup_context(void **unused)
{
	context = open_device();
	return 0;
}

static int teardown_context(void **unused)
{
	OK(ibv_close_device(context));
	return 0;
}

TEST(list__ends_with_null_and_tells_its_length)
{
	int count = -1;
	struct ibv_device **list = ibv_get_device_list(&count);

	assert_non_null(list);
	assert_true(count > 0);
	for (int i = 0; i < count; i++)
		assert_non_null(list[i]);
	assert_null(list[count]);
	ibv_free_device_list(list);
}

TEST(list__has_names_of_its_own)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	for (int i = 0; i < count; i++) {
		assert_true(strlen(ibv_get_device_name(list[i])) > 0);
		assert_string_equal(ibv_get_device_name(list[i]), list[i]->name);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(list[i]->name, list[j]->name);
	}
	ibv_free_device_list(list);
}

TEST(list__has_channel_adapters)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	EQUAL((list[0]->node_type, IBV_NODE_CA), (list[0]->transport_type, IBV_TRANSPORT_IB),
	      (ibv_node_type_str(list[0]->node_type), "InfiniBand channel adapter"));
	ibv_free_device_list(list);
}

/* "A program should open all the devices it intends to use before the list is
 * freed": the devices it opened stay. */
TEST(list__may_be_freed_once_a_device_is_open)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *opened = ibv_open_device(list[0]);
	struct ibv_device_attr attr;

	assert_non_null(opened);
	ibv_free_device_list(list);
	OK(ibv_query_device(opened, &attr));
	assert_true(strlen(ibv_get_device_name(opened->device)) > 0);
	OK(ibv_close_device(opened));
}

TEST(list__may_be_asked_for_again)
{
	struct ibv_device **first = ibv_get_device_list(NULL), **second = ibv_get_device_list(NULL);
	char name[IBV_SYSFS_NAME_MAX];

	strcpy(name, first[0]->name);
	ibv_free_device_list(first);
	assert_string_equal(second[0]->name, name);
	ibv_free_device_list(second);
}

TEST(device__opens_twice, setup_context, teardown_context)
{
	struct ibv_context *other = ibv_open_device(context->device);

	assert_non_null(other);
	assert_ptr_not_equal(other, context);
	assert_int_not_equal(other->async_fd, context->async_fd);
	OK(ibv_close_device(other));
}

TEST(guid__is_that_of_query_device, setup_context, teardown_context)
{
	struct ibv_device_attr attr;

	OK(ibv_query_device(context, &attr));
	assert_true(attr.node_guid != 0);
	assert_true(attr.node_guid == ibv_get_device_guid(context->device));
}

TEST(query_device__tells_what_requests_need, setup_context, teardown_context)
{
	struct ibv_device_attr attr;

	OK(ibv_query_device(context, &attr));
	assert_int_equal(attr.phys_port_cnt, 1);
	assert_true(attr.max_mr_size == UINT64_MAX);
	assert_true(attr.page_size_cap & 4096);
	assert_true(attr.max_qp > 0 && attr.max_qp_wr > 0 && attr.max_cq > 0 && attr.max_cqe > 0);
	assert_true(attr.max_mr > 0 && attr.max_pd > 0 && attr.max_srq > 0);
	assert_true(attr.max_srq_wr > 0 && attr.max_srq_sge > 0);
	assert_true(attr.max_sge >= 16 && attr.max_sge_rd >= 16);
	assert_true(attr.max_qp_rd_atom >= 16 && attr.max_qp_init_rd_atom >= 16);
	EQUAL((attr.atomic_cap, IBV_ATOMIC_HCA), (attr.max_pkeys > 0, 1),
	      (strnlen(attr.fw_ver, sizeof(attr.fw_ver)) < sizeof(attr.fw_ver), true));
	assert_true(attr.device_cap_flags & IBV_DEVICE_RC_RNR_NAK_GEN);
	assert_true(attr.device_cap_flags & IBV_DEVICE_PORT_ACTIVE_EVENT);
}

TEST(query_device_ex__agrees_with_query_device, setup_context, teardown_context)
{
	struct ibv_device_attr_ex extended;
	struct ibv_device_attr attr;

	memset(&extended, 0xee, sizeof(extended));
	OK(ibv_query_device(context, &attr));
	OK(ibv_query_device_ex(context, NULL, &extended));
	assert_memory_equal(&extended.orig_attr, &attr, sizeof(attr));
	EQUAL(((unsigned)extended.device_cap_flags_ex, attr.device_cap_flags),
	      (extended.comp_mask, 0));
}

TEST(query_device_ex__tells_of_odp, setup_context, teardown_context)
{
	struct ibv_device_attr_ex attr;
	uint32_t needed = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;

	OK(ibv_query_device_ex(context, NULL, &attr));
	if (attr.odp_caps.general_caps &
	    IBV_ODP_SUPPORT) /* soft has it, rxe of these kernels not */
		assert_int_equal(attr.odp_caps.per_transport_caps.rc_odp_caps & needed, needed);
	else
		assert_int_equal(attr.odp_caps.per_transport_caps.rc_odp_caps, 0);
	assert_true(on_rxe() || attr.odp_caps.general_caps & IBV_ODP_SUPPORT);
}

TEST(query_device_ex__refuses_an_input_it_does_not_know, setup_context, teardown_context)
{
	struct ibv_query_device_ex_input input = {.comp_mask = 1};
	struct ibv_device_attr_ex attr;

	FAILS(EINVAL, ibv_query_device_ex(context, &input, &attr));
}

TEST(query_port__tells_of_an_active_ethernet_port, setup_context, teardown_context)
{
	struct ibv_port_attr port;

	OK(ibv_query_port(context, 1, &port));
	EQUAL((port.state, IBV_PORT_ACTIVE), (port.link_layer, IBV_LINK_LAYER_ETHERNET),
	      (port.max_mtu, IBV_MTU_4096));
	assert_true(port.active_mtu >= IBV_MTU_256 && port.active_mtu <= port.max_mtu);
	assert_true(port.max_msg_sz >= 1 << 20);
	assert_true(port.gid_tbl_len >= 1 && port.pkey_tbl_len >= 1);
	assert_int_equal(port.lid, 0);
	assert_int_equal(port.phys_state, 5); /* LinkUp */
}

TEST(query_port__has_no_other_port, setup_context, teardown_context)
{
	struct ibv_port_attr port;

	FAILS(EINVAL, ibv_query_port(context, 0, &port));
	FAILS(EINVAL, ibv_query_port(context, 2, &port));
}

TEST(gid__at_the_address_is_roce_v2)
{
	struct ibv_gid_entry entry;
	union ibv_gid gid;
	int index = -1;
	struct ibv_context *found = open_device_of(test_addr(), &index, &gid);

	OK(ibv_query_gid_ex(found, 1, (uint32_t)index, &entry, 0));
	assert_memory_equal(&entry.gid, &gid, sizeof(gid));
	EQUAL((entry.gid_index, index), (entry.port_num, 1),
	      (entry.gid_type, IBV_GID_TYPE_ROCE_V2));
	assert_true(entry.ndev_ifindex > 0);
	OK(ibv_close_device(found));
}

TEST(gid_table__has_the_entries_that_are_set, setup_context, teardown_context)
{
	struct ibv_gid_entry entries[16];
	ssize_t count = ibv_query_gid_table(context, entries, ARRAY_LENGTH(entries), 0);
	union ibv_gid gid;

	assert_true(count >= 1);
	for (ssize_t i = 0; i < count; i++) {
		OK(ibv_query_gid(context, 1, (int)entries[i].gid_index, &gid));
		assert_memory_equal(&gid, &entries[i].gid, sizeof(gid));
	}
}

TEST(gid__past_the_table_is_refused, setup_context, teardown_context)
{
	struct ibv_port_attr port;
	struct ibv_gid_entry entry;
	union ibv_gid gid;

	OK(ibv_query_port(context, 1, &port));
	assert_int_equal(ibv_query_gid(context, 1, port.gid_tbl_len, &gid), -1);
	assert_int_not_equal(ibv_query_gid_ex(context, 1, (uint32_t)port.gid_tbl_len, &entry, 0),
			     0);
}

TEST(pkey__is_the_default_one, setup_context, teardown_context)
{
	uint16_t pkey = 0;

	OK(ibv_query_pkey(context, 1, 0, &pkey));
	EQUAL((be16toh(pkey), 0xffff), (ibv_get_pkey_index(context, 1, pkey), 0));
}

TEST(async_event__is_not_there_at_first, setup_context, teardown_context)
{
	struct ibv_async_event event;

	make_nonblocking(context->async_fd);
	expect_no_async(context);
	FAILS(EAGAIN, ibv_get_async_event(context, &event));
}
