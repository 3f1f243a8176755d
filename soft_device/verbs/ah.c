/* SPDX-License-Identifier: BSD-3-Clause */
/* ah.c -- address handles: where a datagram goes, from attributes or from one that came. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "objects.h"
#include "soft_device/check/objects.h"
#include "soft_device/datapath/grh.h"
#include "soft_device/datapath/sq_ud.h"
#include "soft_device/faults/call.h"

static struct ibv_ah *create(struct pd *pd, const struct ibv_ah_attr *attr)
{
	struct ah *ah;

	if (!attr->is_global || attr->port_num != 1 || attr->grh.sgid_index >= SOFT_GIDS)
		return call_failed_null(REFUSE(EINVAL, "ibv_create_ah",
					       "is_global %d, port_num %d, sgid_index %d; expected "
					       "a GRH, port 1, index 0 to %d",
					       attr->is_global, attr->port_num,
					       attr->grh.sgid_index, SOFT_GIDS - 1));
	ah = calloc(1, sizeof(*ah));
	if (ah == NULL)
		return NULL;
	ah->ibv.context = pd->ibv.context;
	ah->ibv.pd = &pd->ibv;
	ah->gid = attr->grh.dgid;
	ah->traffic_class = attr->grh.traffic_class;
	ah->hop_limit = attr->grh.hop_limit;
	ah->generation = pd->generation;
	atomic_fetch_add(&pd->users, 1);
	objects_made(OBJECT_AH, &ah->ibv, 0);
	return &ah->ibv;
}

SOFT_EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	ENTER_NULL(pd_of(pd)->generation);
	return create(pd_of(pd), attr);
}

SOFT_EXPORT int ibv_destroy_ah(struct ibv_ah *ibv)
{
	struct ah *ah = (struct ah *)ibv;

	if (OBJECT_IS_GONE(OBJECT_AH, ibv))
		return call_error(EINVAL);
	ENTER(ah->generation);
	atomic_fetch_sub(&pd_of(ibv->pd)->users, 1);
	objects_gone(OBJECT_AH, ibv);
	objects_free(ah);
	return 0;
}

/* The way back to who sent what completed with `wc`. 0 or an errno. */
static int init_from_wc(const struct device *device, uint8_t port_num, const struct ibv_wc *wc,
			const struct ibv_grh *bytes, struct ibv_ah_attr *attr)
{
	struct grh grh;

	memset(attr, 0, sizeof(*attr));
	attr->dlid = wc->slid;
	attr->sl = wc->sl;
	attr->src_path_bits = wc->dlid_path_bits;
	attr->port_num = port_num;
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	if (!grh_get((const unsigned char *)bytes, &grh))
		return REFUSE(EPROTONOSUPPORT, "ibv_init_ah_from_wc",
			      "the first 40 bytes are no GRH of IPv4 or IPv6");
	/* what was sent to a group, or to another device, has no GID of ours */
	if (port_num != 1 || memcmp(&grh.to, &device->gid, sizeof(grh.to)) != 0)
		return REFUSE_OF(EINVAL, "ibv_init_ah_from_wc",
				 "%s: port %u, or the message was sent to another GID",
				 device->ibv.name, port_num);
	attr->is_global = 1;
	attr->grh.dgid = grh.from;
	attr->grh.sgid_index = SOFT_CM_GID; /* RoCE v2 */
	attr->grh.flow_label = grh.flow_label;
	attr->grh.traffic_class = grh.traffic_class;
	attr->grh.hop_limit = grh.hop_limit;
	return 0;
}

SOFT_EXPORT int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num,
				    struct ibv_wc *wc, struct ibv_grh *grh,
				    struct ibv_ah_attr *attr)
{
	int error;

	ENTER_MINUS(context_of(context)->generation);
	error = init_from_wc(context_of(context)->device, port_num, wc, grh, attr);
	return error == 0 ? 0 : call_failed(error);
}

SOFT_EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
						 struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attr;
	int error;

	ENTER_NULL(pd_of(pd)->generation);
	error = init_from_wc(context_of(pd->context)->device, port_num, wc, grh, &attr);
	return error == 0 ? create(pd_of(pd), &attr) : call_failed_null(error);
}
