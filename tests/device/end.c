/* SPDX-License-Identifier: BSD-3-Clause */
/* end.c -- see end.h. */
#include "end.h"

#include <sys/mman.h>

#define PSN 0x1234

/*
 * Far from where the kernel and sanitizers put mappings: a page that a test unmaps stays unmapped,
 * whatever other threads map meanwhile. Only a hint: where it cannot be had, any place does.
 */
#define MEMORY_PLACE 0x200000000000
#define MEMORY_APART 0x40000000

struct end_options end_defaults(void)
{
	return (struct end_options){
		.type = IBV_QPT_RC,
		.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 4, .max_recv_sge = 4},
		.cqe = 64,
		.rnr_retry = 7,
		.retry_cnt = 6,
		.timeout = 14,
		.min_rnr_timer = 12,
		.reads = 4,
		.mtu = IBV_MTU_1024,
		.gid_type = IBV_GID_TYPE_ROCE_V2,
		.mr_access = END_ACCESS,
		.qp_access = END_ACCESS,
		.memory_size = END_MEMORY,
	};
}

struct ibv_qp *end_make_qp(struct end *end)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.srq = end->srq,
		.cap = end->options.cap,
		.qp_type = end->options.type,
		.sq_sig_all = end->options.sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = end->pd,
		.send_ops_flags = end->options.send_ops,
	};

	if (end->options.send_ops != 0)
		return ibv_create_qp_ex(end->context, &attr);
	/* the first members are those of ibv_qp_init_attr, as in verbs.h */
	return ibv_create_qp(end->pd, (struct ibv_qp_init_attr *)&attr);
}

static struct ibv_cq *make_cq(struct end *end)
{
	struct ibv_cq_init_attr_ex attr;

	if (end->options.cq_ex == NULL)
		return ibv_create_cq(end->context, end->options.cqe, end, end->channel, 0);
	attr = *end->options.cq_ex;
	attr.channel = end->channel;
	attr.cq_context = end;
	return ibv_cq_ex_to_cq(ibv_create_cq_ex(end->context, &attr));
}

void end_open(struct end *end, const struct end_options *options, int memory_fd)
{
	static uintptr_t place = MEMORY_PLACE;
	int sharing = memory_fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	void *memory = NULL;

	end->options = *options;
	end->context = open_device_of(test_addr(), &end->gid_index, &end->gid);
	if (options->gid_type != IBV_GID_TYPE_ROCE_V2)
		end->gid_index = find_gid_of_type(end->context, &end->gid, options->gid_type);
	assert_true(end->gid_index >= 0);
	end->pd = ibv_alloc_pd(end->context);
	assert_non_null(end->pd);
	end->channel = ibv_create_comp_channel(end->context);
	assert_non_null(end->channel);
	end->cq = make_cq(end);
	assert_non_null(end->cq);
	memory = mmap((void *)place, options->memory_size, PROT_READ | PROT_WRITE, sharing,
		      memory_fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	place += MEMORY_APART;
	end->memory = memory;
	end->mr = ibv_reg_mr(end->pd, end->memory, options->memory_size,
			     (unsigned)options->mr_access);
	assert_non_null(end->mr);
	end->qp = end_make_qp(end);
	assert_non_null(end->qp);
	end_to_init(end);
}

struct end_address end_address(const struct end *end)
{
	return (struct end_address){
		.gid = end->gid,
		.qp_num = end->qp->qp_num,
		.rkey = end->mr->rkey,
		.memory = (uintptr_t)end->memory,
	};
}

void end_to_init(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = (unsigned)end->options.qp_access,
		.qkey = END_QKEY,
	};
	int kind = end->options.type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;

	OK(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | kind));
}

static int rtr_mask(enum ibv_qp_type type)
{
	int path = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	if (type == IBV_QPT_UD)
		return IBV_QP_STATE;
	return type == IBV_QPT_UC ? path : path | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

void end_to_rtr(struct end *end, const struct end_address *of)
{
	static const struct end_address none;
	const struct end_address *peer = of != NULL ? of : &none;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = end->options.mtu,
		.dest_qp_num = peer->qp_num,
		.rq_psn = PSN,
		.max_dest_rd_atomic = (uint8_t)end->options.reads,
		.min_rnr_timer = (uint8_t)end->options.min_rnr_timer,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid = peer->gid,
				    .sgid_index = (uint8_t)end->gid_index,
				    .hop_limit = 64}},
	};

	OK(ibv_modify_qp(end->qp, &attr, rtr_mask(end->options.type)));
}

void end_to_rts(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = PSN,
		.max_rd_atomic = (uint8_t)end->options.reads,
		.retry_cnt = (uint8_t)end->options.retry_cnt,
		.rnr_retry = (uint8_t)end->options.rnr_retry,
		.timeout = (uint8_t)end->options.timeout,
	};

	int reliable =
		IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT;

	OK(ibv_modify_qp(end->qp, &attr,
			 IBV_QP_STATE | IBV_QP_SQ_PSN |
				 (end->options.type == IBV_QPT_RC ? reliable : 0)));
}

struct ibv_qp *end_to_another(struct end *end)
{
	struct ibv_qp *first = end->qp, *second = end_make_qp(end);
	struct end_address address = end_address(end);

	assert_non_null(second);
	end->qp = second;
	end_to_init(end);
	end_to_rtr(end, &address);
	end_to_rts(end);
	address = end_address(end);
	end->qp = first;
	end_to_rtr(end, &address);
	end_to_rts(end);
	return second;
}

void end_to_error(struct end *end)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	OK(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE));
}

void end_recv(const struct end *end, uint64_t wr_id, size_t offset, size_t length)
{
	struct ibv_sge sge = {(uintptr_t)(end->memory + offset), (uint32_t)length, end->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad = NULL;

	if (end->srq != NULL)
		OK(ibv_post_srq_recv(end->srq, &wr, &bad));
	else
		OK(ibv_post_recv(end->qp, &wr, &bad));
}

void end_send(const struct end *end, struct ibv_qp *qp, uint64_t wr_id, size_t length)
{
	struct ibv_sge sge = {(uintptr_t)end->memory, (uint32_t)length, end->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .sg_list = &sge,
				 .num_sge = length > 0,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad = NULL;

	OK(ibv_post_send(qp, &wr, &bad));
}

enum ibv_qp_state end_state(const struct end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	OK(ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

void end_expect_error(const struct end *end)
{
	double until = deadline();

	while (end_state(end) != IBV_QPS_ERR)
		wait_a_little(until, "the state ERR");
}

void end_close(struct end *end)
{
	if (end->qp != NULL)
		OK(ibv_destroy_qp(end->qp));
	if (end->srq != NULL)
		OK(ibv_destroy_srq(end->srq));
	if (end->mr != NULL)
		OK(ibv_dereg_mr(end->mr));
	if (end->memory != NULL)
		OK(munmap(end->memory, end->options.memory_size));
	if (end->cq != NULL)
		OK(ibv_destroy_cq(end->cq));
	if (end->channel != NULL)
		OK(ibv_destroy_comp_channel(end->channel));
	if (end->pd != NULL)
		OK(ibv_dealloc_pd(end->pd));
	if (end->context != NULL)
		OK(ibv_close_device(end->context));
	*end = (struct end){0};
}
