/* SPDX-License-Identifier: BSD-3-Clause */
/* qp_states.h -- the states of a QP of each type: which follow each other, and what they take. */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

/* RC, UC and UD. */
bool qp_type_is_known(enum ibv_qp_type type);

/* The attributes of a change, bits of enum ibv_qp_attr_mask. */
struct qp_transition {
	bool allowed;
	int needed; /* besides IBV_QP_STATE */
	int optional;
};

/* How such a QP gets from one state to the other; NULL: not at all. */
const struct qp_transition *qp_transition(enum ibv_qp_type type, enum ibv_qp_state from,
					  enum ibv_qp_state to);
