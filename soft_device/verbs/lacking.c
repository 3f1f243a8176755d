/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lacking.c -- what verbs.h calls through a pointer, and this device does not have.
 *
 * verbs.h itself fails with EOPNOTSUPP where a pointer is NULL, but then nothing names the call. A
 * call that the device has is put into the context before: only what is NULL is filled here.
 */
#include <errno.h>

#include "objects.h"
#include "soft_device/faults/call.h"

/* LACKS(what it gives, member, name, the type of its first parameter, the others) */
#define LACKS(type, member, name, first, ...)                                                      \
	static type *lack_##member(first *of, ##__VA_ARGS__)                                       \
	{                                                                                          \
		(void)of;                                                                          \
		return call_failed_null(REFUSE(EOPNOTSUPP, name, "not supported"));                \
	}
#define LACKS_INT(member, name, first, ...)                                                        \
	static int lack_##member(first *of, ##__VA_ARGS__)                                         \
	{                                                                                          \
		(void)of;                                                                          \
		return REFUSE(EOPNOTSUPP, name, "not supported");                                  \
	}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

LACKS(struct ibv_srq, create_srq_ex, "ibv_create_srq_ex", struct ibv_context,
      struct ibv_srq_init_attr_ex *attr)
LACKS(struct ibv_xrcd, open_xrcd, "ibv_open_xrcd", struct ibv_context,
      struct ibv_xrcd_init_attr *attr)
LACKS(struct ibv_qp, open_qp, "ibv_open_qp", struct ibv_context, struct ibv_qp_open_attr *attr)
LACKS(struct ibv_wq, create_wq, "ibv_create_wq", struct ibv_context, struct ibv_wq_init_attr *attr)
LACKS(struct ibv_rwq_ind_table, create_rwq_ind_table, "ibv_create_rwq_ind_table",
      struct ibv_context, struct ibv_rwq_ind_table_init_attr *attr)
LACKS(struct ibv_flow, ibv_create_flow, "ibv_create_flow", struct ibv_qp,
      struct ibv_flow_attr *attr)
LACKS(struct ibv_flow_action, create_flow_action_esp, "ibv_create_flow_action_esp",
      struct ibv_context, struct ibv_flow_action_esp_attr *attr)
LACKS(struct ibv_counters, create_counters, "ibv_create_counters", struct ibv_context,
      struct ibv_counters_init_attr *attr)
LACKS_INT(modify_qp_rate_limit, "ibv_modify_qp_rate_limit", struct ibv_qp,
	  struct ibv_qp_rate_limit_attr *attr)
LACKS_INT(get_srq_num, "ibv_get_srq_num", struct ibv_srq, uint32_t *number)
LACKS_INT(post_srq_ops, "ibv_post_srq_ops", struct ibv_srq, struct ibv_ops_wr *op,
	  struct ibv_ops_wr **bad_op)

#pragma GCC diagnostic pop

void context_fill_lacking(struct verbs_context *verbs)
{
#define FILL(of, member)                                                                           \
	do {                                                                                       \
		if ((of)->member == NULL)                                                          \
			(of)->member = lack_##member;                                              \
	} while (0)
	FILL(verbs, create_srq_ex);
	FILL(verbs, open_xrcd);
	FILL(verbs, open_qp);
	FILL(verbs, create_wq);
	FILL(verbs, create_rwq_ind_table);
	FILL(verbs, ibv_create_flow);
	FILL(verbs, create_flow_action_esp);
	FILL(verbs, create_counters);
	FILL(verbs, modify_qp_rate_limit);
	FILL(verbs, get_srq_num);
	FILL(verbs, post_srq_ops);
#undef FILL
}
