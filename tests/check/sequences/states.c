/* SPDX-License-Identifier: BSD-3-Clause */
/* states.c -- see sequence.h: the steps that change the states of queue pairs, and windows. */
#include "sequence.h"

static void connect_again(void)
{
	struct address here = end_address(&near), other = end_address(&far);

	qp_to(near.qp, IBV_QPS_RESET);
	qp_to(far.qp, IBV_QPS_RESET);
	qp_to_init(&near, near.qp);
	qp_to_init(&far, far.qp);
	qp_connect(&far, far.qp, &here);
	qp_connect(&near, near.qp, &other);
	note_states();
}

/* Receives of a shared queue stay where they are. */
static unsigned post_receives(const struct end *end)
{
	const unsigned count = end->srq != NULL ? 0 : any(0, end->options.cap.max_recv_wr);

	for (unsigned i = 0; i < count; i++)
		post_receive(end, i, i * SLOT % SIZE, SLOT);
	return count;
}

static unsigned post_in_error(const struct end *end)
{
	const unsigned count = any(0, end->options.cap.max_send_wr);
	struct ibv_send_wr wr = request(IBV_WR_SEND, one_piece(end, 0, 8), 0, 0), *bad;

	for (wr.wr_id = 0; wr.wr_id < count; wr.wr_id++)
		MUST(ibv_post_send(end->qp, &wr, &bad));
	return count;
}

void error_step(void)
{
	unsigned sends[2], receives[2];

	step("to ERR and back");
	receives[0] = post_receives(&near);
	receives[1] = post_receives(&far);
	qp_to(near.qp, IBV_QPS_ERR);
	qp_to(far.qp, IBV_QPS_ERR);
	sends[0] = post_in_error(&near);
	sends[1] = post_in_error(&far);
	drain(&near, sends[0], receives[0]);
	drain(&far, sends[1], receives[1]);
	note_states();
	connect_again();
}

/* --- windows --- */

struct window {
	struct ibv_mw *mw;
	uint32_t rkey;
	struct ibv_mw_bind_info range;
};

static void done(const struct end *end, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	MUST(ibv_post_send(end->qp, wr, &bad));
	drain(end, 1, 0);
}

static void bind_window(struct window *window)
{
	struct ibv_mw_bind by_call = {.send_flags = IBV_SEND_SIGNALED, .bind_info = window->range};
	struct ibv_send_wr wr = request(IBV_WR_BIND_MW, NULL, 0, 0);

	if (window->mw->type == IBV_MW_TYPE_1) {
		MUST(ibv_bind_mw(far.qp, window->mw, &by_call));
		drain(&far, 1, 0);
		window->rkey = window->mw->rkey;
		return;
	}
	window->rkey = ibv_inc_rkey(window->mw->rkey);
	wr.bind_mw.mw = window->mw;
	wr.bind_mw.rkey = window->rkey;
	wr.bind_mw.bind_info = window->range;
	done(&far, &wr);
}

static void use_window(const struct window *window, enum ibv_wr_opcode opcode)
{
	const unsigned length = any(1, SLOT);
	uint64_t addr = window->range.addr + any(0, (unsigned)window->range.length - length);
	struct ibv_send_wr wr = request(opcode, one_piece(&near, 0, length), addr, window->rkey);

	note("%s of %u bytes", opcode == IBV_WR_RDMA_READ ? "read" : "write", length);
	fill(near.memory, length, any(0, 1000));
	done(&near, &wr);
}

/* By the end that has it, or by its peer with a message. */
static void take_back(const struct window *window)
{
	struct ibv_send_wr wr = request(IBV_WR_LOCAL_INV, NULL, 0, 0);

	if (one_in(2)) {
		wr.invalidate_rkey = window->rkey;
		done(&far, &wr);
		return;
	}
	post_receive(&far, 0, SLOT, SLOT);
	wr = request(IBV_WR_SEND_WITH_INV, one_piece(&near, 0, 16), 0, 0);
	wr.invalidate_rkey = window->rkey;
	done(&near, &wr);
	drain(&far, 0, 1);
}

void window_step(void)
{
	struct window window = {.mw = NULL};
	const enum ibv_mw_type type = one_in(2) ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2;

	step(type == IBV_MW_TYPE_1 ? "window of type 1" : "window of type 2");
	window.mw = HAVE(ibv_alloc_mw(far.pd, type));
	window.range = (struct ibv_mw_bind_info){
		.mr = far.mr,
		.addr = (uintptr_t)far.memory + any(0, SIZE / 2),
		.length = any(SLOT, SIZE / 2),
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};
	bind_window(&window);
	for (unsigned left = any(0, 3); left > 0; left--)
		use_window(&window, one_in(2) ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ);
	if (type == IBV_MW_TYPE_2 && one_in(2))
		take_back(&window);
	note("dealloc_mw: %s", result_name(ibv_dealloc_mw(window.mw)));
	note_memory();
}
