/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * query.c -- the device's description of itself: attributes, port, GID, P_Key, sysfs files.
 *
 * Limits are those of segment.h, so a program that keeps to what it was told is never
 * refused; where hardware differs, the strictest value is reported.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "objects.h"
#include "soft_device/faults/call.h"
#include "soft_device/process/process.h"

#undef ibv_query_port

/* infiniband/driver.h, which only providers include, declares these. */
const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

#define PORT	     1
#define PKEY_DEFAULT 0xffff
#define CLOCK_KHZ    1000000 /* a tick is a nanosecond: cq_ex.c */

/* include/uapi/rdma/ib_user_verbs.h: enum ib_uverbs_device_cap_flags */
#define CAP_FLUSH_GLOBAL     (UINT64_C(1) << 38)
#define CAP_FLUSH_PERSISTENT (UINT64_C(1) << 39)
#define CAP_ATOMIC_WRITE     (UINT64_C(1) << 40)
/* include/uapi/rdma/ib_user_verbs.h and rdma-core's verbs.h since 45 */
#define ODP_FLUSH	 (1u << 6)
#define ODP_ATOMIC_WRITE (1u << 7)
/* include/rdma/ib_mad.h: IB_PORT_CM_SUP */
#define PORT_CAP_CM	   (1u << 16)
#define PORT_PHYS_LINK_UP  5
#define PORT_WIDTH_1X	   1
#define PORT_SPEED_2_5GBPS 1

static void fill_limits(struct ibv_device_attr *attr)
{
	attr->max_mr_size = UINT64_MAX;
	attr->page_size_cap = 0xfffff000;
	attr->max_qp = SEGMENT_QPS;
	attr->max_qp_wr = SOFT_MAX_WR;
	attr->max_sge = SOFT_MAX_SGE;
	attr->max_sge_rd = SOFT_MAX_SGE;
	attr->max_cq = SEGMENT_CQS;
	attr->max_cqe = SOFT_MAX_CQE;
	attr->max_mr = SEGMENT_MRS;
	attr->max_mw = SEGMENT_MRS - 1; /* the table is the same */
	attr->max_pd = SOFT_MAX_PD;
	attr->max_qp_rd_atom = SOFT_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = SOFT_MAX_RD_ATOMIC * SEGMENT_QPS;
	attr->max_qp_init_rd_atom = SOFT_MAX_RD_ATOMIC;
	attr->max_srq = SEGMENT_SRQS;
	attr->max_srq_wr = SOFT_MAX_WR;
	attr->max_srq_sge = SOFT_MAX_SGE;
	attr->max_pkeys = 1;
	attr->max_ah = 65536; /* as many as there is memory for */
	attr->max_mcast_grp = SEGMENT_MEMBERS;
	attr->max_mcast_qp_attach = SEGMENT_MEMBERS;
	attr->max_total_mcast_qp_attach = SEGMENT_MEMBERS;
}

static void fill_attr(const struct device *device, struct ibv_device_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	fill_limits(attr);
	snprintf(attr->fw_ver, sizeof(attr->fw_ver), "soft-%s", SOFT_VERSION);
	attr->node_guid = device->guid;
	attr->sys_image_guid = device->guid;
	attr->vendor_id = SOFT_VENDOR_ID;
	attr->device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SYS_IMAGE_GUID |
				 IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_RC_RNR_NAK_GEN |
				 IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B |
				 IBV_DEVICE_MEM_MGT_EXTENSIONS;
	attr->atomic_cap = IBV_ATOMIC_HCA;
	attr->local_ca_ack_delay = 15; /* as rxe */
	attr->phys_port_cnt = 1;
}

SOFT_EXPORT int ibv_query_device(struct ibv_context *ibv, struct ibv_device_attr *attr)
{
	const struct context *context = context_of(ibv);

	ENTER(context->generation);
	fill_attr(context->device, attr);
	return 0;
}

int query_device_ex(struct ibv_context *ibv, const struct ibv_query_device_ex_input *input,
		    struct ibv_device_attr_ex *attr, size_t bytes)
{
	const struct context *context = context_of(ibv);
	struct ibv_device_attr_ex full = {.phys_port_cnt_ex = 1};

	ENTER_AS("ibv_query_device_ex", context->generation);
	if (input != NULL && input->comp_mask != 0)
		return REFUSE(EINVAL, "ibv_query_device_ex", "unknown comp_mask %#x",
			      input->comp_mask);
	if (bytes < sizeof(full.orig_attr))
		return REFUSE(EINVAL, "ibv_query_device_ex", "an attribute structure of %zu bytes",
			      bytes);
	fill_attr(context->device, &full.orig_attr);
	full.device_cap_flags_ex = full.orig_attr.device_cap_flags | CAP_FLUSH_GLOBAL |
				   CAP_FLUSH_PERSISTENT | CAP_ATOMIC_WRITE;
	full.odp_caps.general_caps = (uint64_t)IBV_ODP_SUPPORT | (uint64_t)IBV_ODP_SUPPORT_IMPLICIT;
	full.odp_caps.per_transport_caps.rc_odp_caps =
		IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
		IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV |
		ODP_FLUSH | ODP_ATOMIC_WRITE;
	full.odp_caps.per_transport_caps.uc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
						       IBV_ODP_SUPPORT_WRITE |
						       IBV_ODP_SUPPORT_SRQ_RECV;
	full.odp_caps.per_transport_caps.ud_odp_caps =
		IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
	full.max_dm_size = SOFT_MAX_DM;
	full.completion_timestamp_mask = UINT64_MAX;
	full.hca_core_clock = CLOCK_KHZ;
	full.cq_mod_caps = (struct ibv_cq_moderation_caps){UINT16_MAX, UINT16_MAX};
	memset(attr, 0, bytes); /* a newer struct than ours is larger */
	memcpy(attr, &full, bytes < sizeof(full) ? bytes : sizeof(full));
	return 0;
}

static const struct ibv_port_attr the_port = {
	.state = IBV_PORT_ACTIVE,
	.max_mtu = IBV_MTU_4096,
	.active_mtu = IBV_MTU_4096,
	.gid_tbl_len = SOFT_GIDS,
	.port_cap_flags = PORT_CAP_CM,
	.max_msg_sz = SOFT_MAX_MESSAGE,
	.pkey_tbl_len = 1,
	.max_vl_num = 1,
	.active_width = PORT_WIDTH_1X,
	.active_speed = PORT_SPEED_2_5GBPS,
	.phys_state = PORT_PHYS_LINK_UP,
	.link_layer = IBV_LINK_LAYER_ETHERNET,
	.flags = IBV_QPF_GRH_REQUIRED,
};

/* Q_Key violations of all QPs that this process has on the device. */
static uint32_t qkey_violations(const struct device *device)
{
	const struct shared_block *block = process_current->segment->block;
	uint32_t count = 0;

	for (unsigned i = 0; i < SEGMENT_BLOCKS; i++)
		if (atomic_load(&block[i].port) != 0 &&
		    memcmp(&block[i].gid, &device->gid, sizeof(device->gid)) == 0)
			count += atomic_load(&block[i].qkey_violations);
	return count;
}

static int port_query(struct ibv_context *ibv, uint8_t port, void *attr, size_t bytes)
{
	struct ibv_port_attr now = the_port;

	if (port != PORT)
		return REFUSE_OF(EINVAL, "ibv_query_port", "%s: port %u, expected %d",
				 ibv->device->name, port, PORT);
	now.qkey_viol_cntr = qkey_violations(context_of(ibv)->device);
	memset(attr, 0, bytes);
	memcpy(attr, &now, bytes < sizeof(now) ? bytes : sizeof(now));
	return 0;
}

int query_port(struct ibv_context *ibv, uint8_t port, struct ibv_port_attr *attr, size_t bytes)
{
	ENTER_AS("ibv_query_port", context_of(ibv)->generation);
	return port_query(ibv, port, attr, bytes);
}

/* For programs that were compiled when the struct ended before port_cap_flags2. */
SOFT_EXPORT int ibv_query_port(struct ibv_context *ibv, uint8_t port,
			       struct _compat_ibv_port_attr *attr)
{
	ENTER(context_of(ibv)->generation);
	return port_query(ibv, port, attr, offsetof(struct ibv_port_attr, port_cap_flags2));
}

/* An index of the GID or P_Key table, which has COUNT entries; 0 or EINVAL. */
static int check_entry(struct ibv_context *ibv, const char *call, uint32_t port, uint32_t index,
		       uint32_t count)
{
	if (port == PORT && index < count)
		return 0;
	return REFUSE_OF(EINVAL, call,
			 "%s: port %u, index %u; expected port %d and an index below %u",
			 ibv->device->name, port, index, PORT, count);
}

SOFT_EXPORT int ibv_query_gid(struct ibv_context *ibv, uint8_t port, int index, union ibv_gid *gid)
{
	ENTER_MINUS(context_of(ibv)->generation);
	if (check_entry(ibv, __func__, port, (uint32_t)index, SOFT_GIDS) != 0)
		return -1;
	*gid = context_of(ibv)->device->gid;
	return 0;
}

static void fill_entry(const struct device *device, uint32_t index, void *entry, size_t bytes)
{
	const struct ibv_gid_entry ours = {.gid = device->gid,
					   .gid_index = index,
					   .port_num = PORT,
					   .gid_type = gid_type_of(index),
					   .ndev_ifindex = device->ifindex};

	memset(entry, 0, bytes);
	memcpy(entry, &ours, bytes < sizeof(ours) ? bytes : sizeof(ours));
}

SOFT_EXPORT int _ibv_query_gid_ex(struct ibv_context *ibv, uint32_t port, uint32_t index,
				  struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	ENTER_AS("ibv_query_gid_ex", context_of(ibv)->generation);
	if (flags != 0)
		return REFUSE(EOPNOTSUPP, "ibv_query_gid_ex", "unknown flags %#x", flags);
	if (check_entry(ibv, "ibv_query_gid_ex", port, index, SOFT_GIDS) != 0)
		return EINVAL;
	fill_entry(context_of(ibv)->device, index, entry, entry_size);
	return 0;
}

SOFT_EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *ibv, struct ibv_gid_entry *entries,
					 size_t max_entries, uint32_t flags, size_t entry_size)
{
	ENTER_WITH("ibv_query_gid_table", context_of(ibv)->generation, -call_error);
	if (flags != 0)
		return REFUSE(-EOPNOTSUPP, "ibv_query_gid_table", "unknown flags %#x", flags);
	if (max_entries < SOFT_GIDS)
		return REFUSE(-EINVAL, "ibv_query_gid_table", "room for %zu entries of %d",
			      max_entries, SOFT_GIDS);
	for (uint32_t i = 0; i < SOFT_GIDS; i++)
		fill_entry(context_of(ibv)->device, i, (char *)entries + i * entry_size,
			   entry_size);
	return SOFT_GIDS;
}

/* Private to rdma-core, but perftest and others import it: 0 is RoCE v1, 1 is RoCE v2. */
SOFT_EXPORT int ibv_query_gid_type(struct ibv_context *ibv, uint8_t port, unsigned int index,
				   int *type);
int ibv_query_gid_type(struct ibv_context *ibv, uint8_t port, unsigned int index, int *type)
{
	ENTER_MINUS(context_of(ibv)->generation);
	if (check_entry(ibv, __func__, port, index, SOFT_GIDS) != 0)
		return -1;
	*type = gid_type_of(index) == IBV_GID_TYPE_ROCE_V2;
	return 0;
}

SOFT_EXPORT int ibv_query_pkey(struct ibv_context *ibv, uint8_t port, int index, __be16 *pkey)
{
	ENTER_MINUS(context_of(ibv)->generation);
	if (check_entry(ibv, __func__, port, (uint32_t)index, 1) != 0)
		return -1;
	*pkey = htobe16(PKEY_DEFAULT);
	return 0;
}

SOFT_EXPORT int ibv_get_pkey_index(struct ibv_context *ibv, uint8_t port, __be16 pkey)
{
	ENTER_MINUS(context_of(ibv)->generation);
	if (port == PORT && pkey == htobe16(PKEY_DEFAULT))
		return 0;
	return call_failed(REFUSE_OF(EINVAL, __func__,
				     "%s: port %u, P_Key %#x; expected %d and %#x",
				     ibv->device->name, port, be16toh(pkey), PORT, PKEY_DEFAULT));
}

SOFT_EXPORT const char *ibv_get_sysfs_path(void)
{
	return "/sys";
}

/* sysfs/ answers for the files of the devices, as it does for any program. */
SOFT_EXPORT int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s", dir, file);
	ssize_t got;
	int fd;

	if (length < 0 || (size_t)length >= sizeof(path))
		return call_failed(ENAMETOOLONG);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, buf, size);
	close(fd);
	if (got > 0 && buf[got - 1] == '\n')
		buf[--got] = '\0';
	else if (got >= 0 && (size_t)got < size)
		buf[got] = '\0';
	return (int)got;
}
