/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.c -- see sequence.h: queue pairs beside those of the two ends that are modified in any way.
 */
#include "sequence.h"

#define MAX_READS 4

/* Attributes that both devices know for all types of queue pairs. */
static const int attributes[] = {
	IBV_QP_ACCESS_FLAGS,
	IBV_QP_PKEY_INDEX,
	IBV_QP_PORT,
	IBV_QP_QKEY,
	IBV_QP_AV,
	IBV_QP_PATH_MTU,
	IBV_QP_TIMEOUT,
	IBV_QP_RETRY_CNT,
	IBV_QP_RNR_RETRY,
	IBV_QP_RQ_PSN,
	IBV_QP_SQ_PSN,
	IBV_QP_MIN_RNR_TIMER,
	IBV_QP_MAX_DEST_RD_ATOMIC,
	IBV_QP_MAX_QP_RD_ATOMIC,
	IBV_QP_DEST_QPN,
};

#define ATTRIBUTES (sizeof(attributes) / sizeof(attributes[0]))

static const enum ibv_qp_state states[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
					   IBV_QPS_ERR};

static struct ibv_qp_attr valid_values(const struct end *end, const struct ibv_qp *qp)
{
	return (struct ibv_qp_attr){
		.port_num = 1,
		.qp_access_flags = any(0, 15) & ~1u,
		.qkey = QKEY,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid = end->gid,
				    .sgid_index = end->gid_index,
				    .hop_limit = 64}},
		.path_mtu = (enum ibv_mtu)any(IBV_MTU_256, IBV_MTU_1024),
		.dest_qp_num = qp->qp_num,
		.timeout = (uint8_t)any(1, 20),
		.retry_cnt = (uint8_t)any(0, 7),
		.rnr_retry = (uint8_t)any(0, 7),
		.rq_psn = any(0, 0xffffff),
		.sq_psn = any(0, 0xffffff),
		.min_rnr_timer = (uint8_t)any(0, 31),
		.max_dest_rd_atomic = (uint8_t)any(0, MAX_READS),
		.max_rd_atomic = (uint8_t)any(0, MAX_READS),
	};
}

/* The attributes that the state needs, ibv_modify_qp(3). */
static int right_mask(enum ibv_qp_state state, enum ibv_qp_type type)
{
	const bool is_rc = type == IBV_QPT_RC, is_ud = type == IBV_QPT_UD;

	switch (state) {
	case IBV_QPS_INIT:
		return IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       (is_ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	case IBV_QPS_RTR:
		return (is_ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) |
		       (is_rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
	case IBV_QPS_RTS:
		return IBV_QP_SQ_PSN | (is_rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
							IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
					      : 0);
	default:
		return 0;
	}
}

static enum ibv_qp_state any_state(enum ibv_qp_state now)
{
	if (now < IBV_QPS_RTS && !one_in(4))
		return now + 1;
	return states[any(0, 4)];
}

static void modify_in_any_way(const struct end *end, struct ibv_qp *qp, enum ibv_qp_type type)
{
	struct ibv_qp_attr attr = valid_values(end, qp);
	struct ibv_qp_init_attr init;
	int mask, result;

	attr.qp_state = any_state(qp->state);
	mask = IBV_QP_STATE | right_mask(attr.qp_state, type);
	for (unsigned left = one_in(3) ? any(1, 2) : 0; left > 0; left--)
		mask ^= attributes[any(0, ATTRIBUTES - 1)];
	result = ibv_modify_qp(qp, &attr, mask);
	note("to state %d, mask %#x: %s", attr.qp_state, (unsigned)mask, result_name(result));
	MUST(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	if (attr.qp_state != qp->state)
		note("state %d, and the device has %d", qp->state, attr.qp_state);
}

void states_step(void)
{
	const struct end *end = one_in(2) ? &near : &far;
	struct ibv_qp_init_attr init = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = {4, 4, 1, 1, 0},
		.qp_type = (enum ibv_qp_type)any(IBV_QPT_RC, IBV_QPT_UD),
	};
	struct ibv_qp *qp = HAVE(ibv_create_qp(end->pd, &init));

	step("states");
	note("queue pair of type %d", init.qp_type);
	for (unsigned left = any(3, 12); left > 0; left--)
		modify_in_any_way(end, qp, init.qp_type);
	MUST(ibv_destroy_qp(qp));
}
