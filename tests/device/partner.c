/* SPDX-License-Identifier: BSD-3-Clause */
/* partner.c -- see partner.h. */
#include "partner.h"

#include "cm.h"

#include <stdlib.h>
#include <unistd.h>

/* The memory of the order; without a key when it is registered no more. */
static struct ibv_sge piece_of(const struct end *end, const struct partner_order *order)
{
	return (struct ibv_sge){(uintptr_t)(end->memory + order->offset), (uint32_t)order->length,
				end->mr != NULL ? end->mr->lkey : 0};
}

static bool has_qp(const struct end *end)
{
	if (end->qp == NULL)
		fail_msg("the partner has no queue pair");
	return end->qp != NULL;
}

static void post_recv(struct end *end, const struct partner_order *order)
{
	struct ibv_sge sge = piece_of(end, order);
	struct ibv_recv_wr wr = {.wr_id = order->wr_id, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad = NULL;

	if (has_qp(end))
		OK(ibv_post_recv(end->qp, &wr, &bad));
}

static void post_send(struct end *end, const struct partner_order *order)
{
	struct ibv_sge sge = piece_of(end, order);
	struct ibv_send_wr wr = {.wr_id = order->wr_id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad = NULL;

	if (order->solicited)
		wr.send_flags |= IBV_SEND_SOLICITED;
	if (has_qp(end))
		OK(ibv_post_send(end->qp, &wr, &bad));
}

static uint32_t register_extra(struct partner *partner, const struct partner_order *order)
{
	assert_null(partner->extra);
	partner->extra = ibv_reg_mr(partner->end.pd, partner->end.memory + order->offset,
				    order->length, (unsigned)order->access);
	assert_non_null(partner->extra);
	return partner->extra->rkey;
}

static void deregister(struct partner *partner)
{
	struct ibv_mr **mr = partner->extra != NULL ? &partner->extra : &partner->end.mr;

	assert_non_null(*mr);
	OK(ibv_dereg_mr(*mr));
	*mr = NULL;
}

static void destroy_qp(struct end *end)
{
	OK(ibv_destroy_qp(end->qp));
	end->qp = NULL;
}

static uint16_t cm_open(void)
{
	setup_cm(NULL);
	return cm.port;
}

static void cm_accept_next(void)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	cm.server.id = cm_take_request().id;
	cm_accept(cm.server.id, &param);
}

static void cm_connect_to(uint16_t port)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	cm_open();
	cm.port = port;
	cm_connect(cm.client.id, &param);
}

static void dealloc_mw(struct partner *partner)
{
	OK(ibv_dealloc_mw(partner->mw));
	partner->mw = NULL;
}

static void close_all(struct partner *partner)
{
	if (partner->mw != NULL)
		dealloc_mw(partner);
	if (partner->extra != NULL)
		deregister(partner);
	end_close(&partner->end);
	if (cm.listener != NULL)
		teardown_cm(NULL);
}

/* Binds, invalidates: a request that completes well. */
static void do_local(struct end *end, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;

	wr->wr_id = 4711;
	wr->send_flags = IBV_SEND_SIGNALED;
	OK(ibv_post_send(end->qp, wr, &bad));
	EXPECT_WC(end->cq, wr->wr_id, IBV_WC_SUCCESS);
}

static uint32_t bind_mw(struct partner *partner, const struct partner_order *order)
{
	struct end *end = &partner->end;
	const struct ibv_mw_bind_info info = {
		.mr = end->mr,
		.addr = (uintptr_t)end->memory + order->offset,
		.length = order->length,
		.mw_access_flags = (unsigned)order->access,
	};
	struct ibv_mw_bind bind = {
		.wr_id = 4711, .send_flags = IBV_SEND_SIGNALED, .bind_info = info};
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW};

	if (partner->mw == NULL)
		partner->mw = ibv_alloc_mw(end->pd, order->mw_type);
	assert_non_null(partner->mw);
	if (order->mw_type == IBV_MW_TYPE_1) {
		OK(ibv_bind_mw(end->qp, partner->mw, &bind));
		EXPECT_WC(end->cq, bind.wr_id, IBV_WC_SUCCESS);
	} else {
		wr.bind_mw.mw = partner->mw;
		wr.bind_mw.rkey = ibv_inc_rkey(partner->mw->rkey);
		wr.bind_mw.bind_info = info;
		do_local(end, &wr);
		partner->mw->rkey = wr.bind_mw.rkey;
	}
	return partner->mw->rkey;
}

/* False, as of obey_cm(): the order is about something else. */
static bool obey_mw(struct partner *partner, const struct partner_order *order,
		    struct partner_answer *answer)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_LOCAL_INV};

	switch (order->verb) {
	case PARTNER_MW_BIND:
		answer->rkey = bind_mw(partner, order);
		return true;
	case PARTNER_MW_INVALIDATE:
		wr.invalidate_rkey = partner->mw->rkey;
		do_local(&partner->end, &wr);
		return true;
	case PARTNER_MW_DEALLOC:
		dealloc_mw(partner);
		return true;
	default:
		return false;
	}
}

/* False: the order is about something else. */
static bool obey_cm(const struct partner_order *order, struct partner_answer *answer)
{
	switch (order->verb) {
	case PARTNER_CM_LISTEN:
		answer->port = cm_open();
		return true;
	case PARTNER_CM_ACCEPT:
		cm_accept_next();
		return true;
	case PARTNER_CM_CONNECT:
		cm_connect_to(order->port);
		return true;
	case PARTNER_CM_EVENT:
		cm_expect(cm.server.id != NULL ? cm.server.channel : cm.client.channel,
			  order->cm_event);
		return true;
	default:
		return false;
	}
}

void partner_obey(struct partner *partner, const struct partner_order *order,
		  struct partner_answer *answer)
{
	struct end *end = &partner->end;

	if (obey_cm(order, answer) || obey_mw(partner, order, answer))
		return;
	switch (order->verb) {
	case PARTNER_OPEN:
		end_open(end, &order->options, partner->memory_fd);
		answer->address = end_address(end);
		break;
	case PARTNER_CONNECT:
		end_to_rtr(end, &order->peer);
		end_to_rts(end);
		break;
	case PARTNER_RECV:
		post_recv(end, order);
		break;
	case PARTNER_SEND:
		post_send(end, order);
		break;
	case PARTNER_WC:
		answer->wc = next_wc(end->cq);
		break;
	case PARTNER_NO_WC:
		expect_no_wc(end->cq);
		break;
	case PARTNER_REG:
		answer->rkey = register_extra(partner, order);
		break;
	case PARTNER_DEREG:
		deregister(partner);
		break;
	case PARTNER_STATE:
		answer->state = end_state(end);
		break;
	case PARTNER_ASYNC:
		expect_async(end->context, order->event);
		break;
	case PARTNER_TO_ERROR:
		end_to_error(end);
		break;
	case PARTNER_DESTROY_QP:
		destroy_qp(end);
		break;
	case PARTNER_CLOSE:
		close_all(partner);
		break;
	default:
		fail_msg("order %d: unknown", order->verb);
	}
}

/* The descriptor after FD is the memory, see pair.c. */
int partner_serve(int fd)
{
	static struct partner partner;
	struct partner_order order;

	partner.memory_fd = fd + 1;
	/* outside a test cmocka keeps the message of a failure to itself, but for this */
	setenv("CMOCKA_TEST_ABORT", "1", 1);
	while (read(fd, &order, sizeof(order)) == (ssize_t)sizeof(order)) {
		struct partner_answer answer = {0};

		partner_obey(&partner, &order, &answer);
		if (write(fd, &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
			return 1;
	}
	return 0;
}
