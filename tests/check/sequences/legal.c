/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * legal.c -- see sequence.h: two ends with options of any kind, and steps of any kind and order.
 * Each step leaves both ends idle and connected.
 */
#include "sequence.h"

struct options any_options(enum ibv_qp_type type)
{
	struct options options = defaults();

	options.type = type;
	options.cap = (struct ibv_qp_cap){
		.max_send_wr = any(1, 20),
		.max_recv_wr = any(1, 20),
		.max_send_sge = any(1, 4),
		.max_recv_sge = any(1, 4),
		.max_inline_data = one_in(2) ? any(0, 200) : 0,
	};
	options.cqe = 64;
	options.recv_cqe = one_in(3) ? 32 : 0;
	options.srq_wr = one_in(4) ? any(1, 20) : 0;
	options.has_channel = one_in(2);
	options.sig_all = one_in(4);
	options.mr_access |= IBV_ACCESS_MW_BIND;
	options.min_rnr_timer = 1; /* 10 us */
	options.retry_cnt = 7;	   /* rxe then waits for an answer without end */
	return options;
}

static void note_options(const struct end *end)
{
	const struct ibv_qp_cap *cap = &end->options.cap;

	note("%s %s %u %u, pieces %u %u, inline %u, %s%s%s%s", end_name(end),
	     end->options.type == IBV_QPT_UC ? "UC" : "RC", cap->max_send_wr, cap->max_recv_wr,
	     cap->max_send_sge, cap->max_recv_sge, cap->max_inline_data,
	     end->srq != NULL ? "shared receives " : "", end->recv_cq != end->cq ? "two CQs " : "",
	     end->channel != NULL ? "events " : "", end->options.sig_all ? "all signaled" : "");
}

unsigned end_depth(const struct end *end)
{
	return end->srq != NULL ? end->options.srq_wr : end->options.cap.max_recv_wr;
}

static void open_ends(void)
{
	enum ibv_qp_type type = one_in(4) ? IBV_QPT_UC : IBV_QPT_RC;
	struct options of_near, of_far;

	sequence.is_of_cm = type == IBV_QPT_RC && one_in(3);
	of_near = of_far = any_options(type);
	if (sequence.is_of_cm) {
		cm_open(&of_near, NULL, NULL);
	} else {
		of_far = any_options(type);
		of_near.mtu = of_far.mtu = (enum ibv_mtu)any(IBV_MTU_256, IBV_MTU_1024);
		pair_open_with(&of_near, &of_far);
	}
	sequence.depth = end_depth(&near) < end_depth(&far) ? end_depth(&near) : end_depth(&far);
	step(sequence.is_of_cm ? "connected by the RDMA CM" : "connected");
	note_options(&near);
	note_options(&far);
	note_states();
}

static void close_ends(void)
{
	step("closed");
	if (sequence.is_of_cm)
		cm_close();
	else
		pair_close();
}

/* Objects that come and go beside the two ends. */
static void objects_step(void)
{
	const struct end *end = one_in(2) ? &near : &far;
	const unsigned length = any(1, SIZE);
	struct ibv_pd *pd = HAVE(ibv_alloc_pd(end->context));
	struct ibv_cq *cq = HAVE(ibv_create_cq(end->context, (int)any(1, 200), NULL, NULL, 0));
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = one_in(2) ? cq : end->cq,
		.cap = {any(0, 50), any(0, 50), any(0, 5), any(0, 5), any(0, 100)},
		.qp_type = (enum ibv_qp_type)any(IBV_QPT_RC, IBV_QPT_UD),
	};
	struct ibv_mr *mr;
	struct ibv_qp *qp;

	step("objects");
	mr = ibv_reg_mr(pd, end->memory + any(0, SIZE - length), length, any(0, 15));
	note("region: %s", pointer_result(mr));
	qp = ibv_create_qp(pd, &init);
	note("queue pair: %s", pointer_result(qp));
	note("dealloc_pd: %s",
	     qp != NULL || mr != NULL ? result_name(ibv_dealloc_pd(pd)) : "not tried");
	note("destroy_cq: %s", qp != NULL ? result_name(ibv_destroy_cq(cq)) : "not tried");
	if (mr != NULL)
		MUST(ibv_dereg_mr(mr));
	if (qp != NULL)
		MUST(ibv_destroy_qp(qp));
	MUST(ibv_destroy_cq(cq));
	MUST(ibv_dealloc_pd(pd));
}

static void query_step(void)
{
	const struct end *end = one_in(2) ? &near : &far;
	const struct ibv_qp_cap *asked = &end->options.cap;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	step("query");
	MUST(ibv_query_qp(end->qp, &attr,
			  IBV_QP_STATE | IBV_QP_CAP | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MTU,
			  &init));
	note("%s state %d, access %#x, all signaled %d, enough %d %d %d", end_name(end),
	     attr.qp_state, attr.qp_access_flags & ACCESS, init.sq_sig_all,
	     init.cap.max_send_wr >= asked->max_send_wr,
	     init.cap.max_send_sge >= asked->max_send_sge,
	     init.cap.max_inline_data >= asked->max_inline_data);
	if (!sequence.is_of_cm)
		note("mtu %d", attr.path_mtu);
	if (one_in(2))
		note("resize: %s", result_name(ibv_resize_cq(end->cq, (int)any(64, 300))));
}

static void any_step(void)
{
	const bool is_reliable = near.options.type == IBV_QPT_RC;

	switch (any(0, 13)) {
	case 0:
		objects_step();
		break;
	case 1:
		query_step();
		break;
	case 2:
		if (is_reliable)
			window_step();
		break;
	case 3:
		if (!sequence.is_of_cm)
			error_step();
		break;
	case 4:
		states_step();
		break;
	case 5:
		cm_step();
		break;
	default:
		traffic();
	}
}

void legal_sequence(void)
{
	open_ends();
	for (unsigned left = any(3, 12); left > 0; left--)
		any_step();
	close_ends();
}
