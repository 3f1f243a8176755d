/* SPDX-License-Identifier: BSD-3-Clause */
/* mcast.c -- QPs in multicast groups: a table in the segment, which senders read. */
#include <errno.h>
#include <string.h>

#include "objects.h"
#include "qp.h"
#include "soft_device/datapath/grh.h"
#include "soft_device/faults/call.h"
#include "soft_device/transport/groups.h"

/* The entry of the QP in the group, or, for a QP number of 0, a free one. NULL: there is none. */
static struct shared_member *find(uint32_t qpn, const union ibv_gid *group)
{
	struct shared_member *members = process_current->segment->member;

	for (unsigned i = 0; i < SEGMENT_MEMBERS; i++)
		if (atomic_load(&members[i].qpn) == qpn &&
		    (qpn == 0 || memcmp(&members[i].group, group, sizeof(*group)) == 0))
			return &members[i];
	return NULL;
}

static uint16_t port_of(const struct qp *qp)
{
	return (uint16_t)(qp->ibv.qp_num >> 8);
}

/* Objects lock held. 0 or an errno. */
static int attach(const struct qp *qp, const union ibv_gid *group)
{
	struct shared_member *member = find(0, group);
	int error;

	if (find(qp->ibv.qp_num, group) != NULL)
		return 0;
	if (member == NULL)
		return REFUSE(ENOMEM, "ibv_attach_mcast", "no more than %d QPs in groups",
			      SEGMENT_MEMBERS);
	error = -group_join(group, &qp->context->device->gid, port_of(qp));
	if (error != 0)
		return error;
	member->group = *group;
	atomic_store(&member->qpn, qp->ibv.qp_num);
	return 0;
}

SOFT_EXPORT int ibv_attach_mcast(struct ibv_qp *ibv, const union ibv_gid *gid, uint16_t lid)
{
	int error;

	(void)lid; /* only InfiniBand's own networks use it */
	ENTER(qp_of(ibv)->generation);
	if (ibv->qp_type != IBV_QPT_UD || !grh_gid_is_multicast(gid))
		return REFUSE(EINVAL, "ibv_attach_mcast", "expected a UD QP and a multicast GID");
	pthread_mutex_lock(&process_objects);
	error = attach(qp_of(ibv), gid);
	pthread_mutex_unlock(&process_objects);
	return error;
}

SOFT_EXPORT int ibv_detach_mcast(struct ibv_qp *ibv, const union ibv_gid *gid, uint16_t lid)
{
	struct shared_member *member;

	(void)lid;
	ENTER(qp_of(ibv)->generation);
	pthread_mutex_lock(&process_objects);
	member = find(ibv->qp_num, gid);
	if (member != NULL) {
		atomic_store(&member->qpn, 0);
		group_leave(gid, &qp_of(ibv)->context->device->gid, port_of(qp_of(ibv)));
	}
	pthread_mutex_unlock(&process_objects);
	return member == NULL ? REFUSE(EINVAL, "ibv_detach_mcast", "the QP is not in this group")
			      : 0;
}

bool mcast_has(const struct qp *qp)
{
	const struct shared_member *members = process_current->segment->member;
	unsigned i = 0;

	while (i < SEGMENT_MEMBERS && atomic_load(&members[i].qpn) != qp->ibv.qp_num)
		i++;
	return i < SEGMENT_MEMBERS;
}
