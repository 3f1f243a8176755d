/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp_states.c -- see qp_states.h. The tables are those of the kernel (qp_state_table in
 * drivers/infiniband/core/verbs.c).
 */
#include "qp_states.h"

#include <stddef.h>

#define STATES (IBV_QPS_ERR + 1)

typedef const struct qp_transition state_table[STATES][STATES];

#define RETRIES	  (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY)
#define CONNECTED (IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE)
#define RUNNING	  (CONNECTED | IBV_QP_MIN_RNR_TIMER)
#define PORT	  (IBV_QP_PKEY_INDEX | IBV_QP_PORT)
/* From everywhere to RESET, and but for RESET to ERR. */
#define ENDS [IBV_QPS_RESET] = {.allowed = true}, [IBV_QPS_ERR] = {.allowed = true}

static state_table rc = {
	[IBV_QPS_RESET] = {[IBV_QPS_RESET] = {.allowed = true},
			   [IBV_QPS_INIT] = {true, PORT | IBV_QP_ACCESS_FLAGS, 0}},
	[IBV_QPS_INIT] = {ENDS, [IBV_QPS_INIT] = {true, 0, PORT | IBV_QP_ACCESS_FLAGS},
			  [IBV_QPS_RTR] = {true,
					   IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
						   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
						   IBV_QP_MIN_RNR_TIMER,
					   IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS |
						   IBV_QP_PKEY_INDEX}},
	[IBV_QPS_RTR] = {ENDS, [IBV_QPS_RTS] = {true,
						RETRIES | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
						RUNNING}},
	[IBV_QPS_RTS] = {ENDS, [IBV_QPS_RTS] = {true, 0, RUNNING},
			 [IBV_QPS_SQD] = {true, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY}},
	[IBV_QPS_SQD] = {ENDS, [IBV_QPS_RTS] = {true, 0, RUNNING},
			 [IBV_QPS_SQD] = {true, 0,
					  IBV_QP_PORT | IBV_QP_AV | RETRIES |
						  IBV_QP_MAX_QP_RD_ATOMIC |
						  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH |
						  IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX |
						  IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE}},
	[IBV_QPS_SQE] = {ENDS},
	[IBV_QPS_ERR] = {ENDS},
};

static state_table uc = {
	[IBV_QPS_RESET] = {[IBV_QPS_RESET] = {.allowed = true},
			   [IBV_QPS_INIT] = {true, PORT | IBV_QP_ACCESS_FLAGS, 0}},
	[IBV_QPS_INIT] = {ENDS, [IBV_QPS_INIT] = {true, 0, PORT | IBV_QP_ACCESS_FLAGS},
			  [IBV_QPS_RTR] = {true,
					   IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
						   IBV_QP_RQ_PSN,
					   IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS |
						   IBV_QP_PKEY_INDEX}},
	[IBV_QPS_RTR] = {ENDS, [IBV_QPS_RTS] = {true, IBV_QP_SQ_PSN, CONNECTED}},
	[IBV_QPS_RTS] = {ENDS, [IBV_QPS_RTS] = {true, 0, CONNECTED},
			 [IBV_QPS_SQD] = {true, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY}},
	[IBV_QPS_SQD] = {ENDS, [IBV_QPS_RTS] = {true, 0, CONNECTED},
			 [IBV_QPS_SQD] = {true, 0,
					  IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS |
						  IBV_QP_PKEY_INDEX | IBV_QP_PATH_MIG_STATE}},
	[IBV_QPS_SQE] = {ENDS, [IBV_QPS_RTS] = {true, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS}},
	[IBV_QPS_ERR] = {ENDS},
};

static state_table ud = {
	[IBV_QPS_RESET] = {[IBV_QPS_RESET] = {.allowed = true},
			   [IBV_QPS_INIT] = {true, PORT | IBV_QP_QKEY, 0}},
	[IBV_QPS_INIT] = {ENDS, [IBV_QPS_INIT] = {true, 0, PORT | IBV_QP_QKEY},
			  [IBV_QPS_RTR] = {true, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY}},
	[IBV_QPS_RTR] = {ENDS, [IBV_QPS_RTS] = {true, IBV_QP_SQ_PSN,
						IBV_QP_CUR_STATE | IBV_QP_QKEY}},
	[IBV_QPS_RTS] = {ENDS, [IBV_QPS_RTS] = {true, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
			 [IBV_QPS_SQD] = {true, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY}},
	[IBV_QPS_SQD] = {ENDS, [IBV_QPS_RTS] = {true, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
			 [IBV_QPS_SQD] = {true, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY}},
	[IBV_QPS_SQE] = {ENDS, [IBV_QPS_RTS] = {true, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
	[IBV_QPS_ERR] = {ENDS},
};

static const struct qp_transition (*table_of(enum ibv_qp_type type))[STATES]
{
	switch (type) {
	case IBV_QPT_RC:
		return rc;
	case IBV_QPT_UC:
		return uc;
	case IBV_QPT_UD:
		return ud;
	default:
		return NULL;
	}
}

bool qp_type_is_known(enum ibv_qp_type type)
{
	return table_of(type) != NULL;
}

const struct qp_transition *qp_transition(enum ibv_qp_type type, enum ibv_qp_state from,
					  enum ibv_qp_state to)
{
	const struct qp_transition *transition;

	if ((unsigned)from >= STATES || (unsigned)to >= STATES)
		return NULL;
	transition = &table_of(type)[from][to];
	return transition->allowed ? transition : NULL;
}
