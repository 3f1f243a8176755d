/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_rules.c -- see rules.h: rules about memory, of the peer and of one's own. */
#include "rules.h"

/* Post it; it fails at the far end, which fails, too. */
static void post_refused(struct ibv_send_wr *wr)
{
	post_near(wr);
	note_next(&near, near.cq, "");
	note_failed(&near);
	note_failed(&far);
}

/* --- rules about the memory of the peer --- */

static void unknown_rkey(void)
{
	struct ibv_send_wr wr = any_request(any_one_sided());

	wr.wr.rdma.rkey = ~there.rkey;
	post_refused(&wr);
}

static void stale_rkey(void)
{
	struct ibv_mr *mr = HAVE(ibv_reg_mr(far.pd, far.memory, SIZE, ACCESS));
	struct ibv_send_wr wr = any_request(any_one_sided()), *bad;

	wr.wr.rdma.rkey = mr->rkey;
	if (one_in(2)) {
		MUST(ibv_post_send(near.qp, &wr, &bad));
		note_next(&near, near.cq, "");
	}
	MUST(ibv_dereg_mr(mr));
	post_refused(&wr);
}

static void rkey_of_another_pd(void)
{
	struct ibv_pd *pd = HAVE(ibv_alloc_pd(far.context));
	struct ibv_mr *mr = HAVE(ibv_reg_mr(pd, far.memory, SIZE, ACCESS));
	struct ibv_send_wr wr = any_request(any_one_sided());

	wr.wr.rdma.rkey = mr->rkey;
	post_refused(&wr);
	MUST(ibv_dereg_mr(mr));
	MUST(ibv_dealloc_pd(pd));
}

static void beyond(void)
{
	struct ibv_send_wr wr = any_request(any_one_sided());
	const unsigned length = wr.sg_list->length;

	wr.wr.rdma.remote_addr = there.memory + SIZE - length + any(1, length);
	if (one_in(3))
		wr.wr.rdma.remote_addr = there.memory - any(1, length);
	post_refused(&wr);
	note_memory();
}

static void without_a_right(void)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		unsigned right;
	} cases[] = {
		{IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE},
		{IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC},
		{IBV_WR_ATOMIC_CMP_AND_SWP, IBV_ACCESS_REMOTE_ATOMIC},
	};
	const unsigned which = any(0, 3);
	struct ibv_mr *mr =
		HAVE(ibv_reg_mr(far.pd, far.memory, SIZE, ACCESS & ~cases[which].right));
	struct ibv_send_wr wr =
		request(cases[which].opcode, one_piece(&near, 0, 8), there.memory, mr->rkey);

	note("opcode %d", cases[which].opcode);
	post_refused(&wr);
	MUST(ibv_dereg_mr(mr));
	note_memory();
}

static void no_qp_access(struct options *of_near, struct options *of_far)
{
	(void)of_near;
	of_far->qp_access = 0;
	of_far->srq_wr = 0;
}

static void without_the_right_of_the_qp(void)
{
	struct ibv_send_wr wr = any_request(any_one_sided());

	post_refused(&wr);
	note_memory();
}

/* Refused when it is posted, as rxe's provider does, or by the peer, as in IBTA 9.4.5. */
static void unaligned_atomic(void)
{
	struct ibv_send_wr *bad;
	struct ibv_send_wr wr =
		request(one_in(2) ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP,
			one_piece(&near, 0, 8), there.memory + any(1, 7), there.rkey);
	int result = ibv_post_send(near.qp, &wr, &bad);
	bool is_refused = result == EINVAL;

	if (result == 0)
		is_refused = next_wc(near.cq).status == IBV_WC_REM_INV_REQ_ERR;
	note("%s", is_refused ? "refused" : "not refused");
	note_memory();
}

/* --- rules about the own memory --- */

static enum ibv_wr_opcode any_with_memory(void)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
						     IBV_WR_SEND};

	return opcodes[any(0, 2)];
}

/* A request, or a receive of ours for a message of the peer, that uses this piece. */
static void use_piece(const struct ibv_sge *of, bool as_a_receive)
{
	struct ibv_sge sge = *of;
	struct ibv_recv_wr receive = {.wr_id = 7, .sg_list = &sge, .num_sge = 1}, *bad_receive;
	struct ibv_send_wr wr = request(any_with_memory(), &sge, there.memory, there.rkey), *bad;

	if (!as_a_receive) {
		if (wr.opcode == IBV_WR_SEND)
			post_receive(&far, 8, SLOT, SLOT);
		note("opcode %d", wr.opcode);
		post_near(&wr);
		note_next(&near, near.cq, "own memory");
		note_failed(&near);
		return;
	}
	note("as a receive");
	MUST(ibv_post_recv(near.qp, &receive, &bad_receive));
	wr = request(IBV_WR_SEND, one_piece(&far, 0, sge.length), 0, 0);
	MUST(ibv_post_send(far.qp, &wr, &bad));
	note_next(&far, far.cq, "");
	note_next(&near, near.recv_cq, "receive");
	note_failed(&near);
	note_failed(&far);
}

static bool as_a_receive(void)
{
	return near.srq == NULL && one_in(3);
}

static void unknown_lkey(void)
{
	struct ibv_sge sge = piece(&near, 0, any(1, SLOT));

	sge.lkey = ~sge.lkey;
	use_piece(&sge, as_a_receive());
}

static void stale_lkey(void)
{
	struct ibv_mr *mr = HAVE(ibv_reg_mr(near.pd, near.memory, SIZE, ACCESS));
	struct ibv_sge sge = {(uintptr_t)near.memory, any(1, SLOT), mr->lkey};

	MUST(ibv_dereg_mr(mr));
	use_piece(&sge, as_a_receive());
}

static void lkey_of_another_pd(void)
{
	struct ibv_pd *pd = HAVE(ibv_alloc_pd(near.context));
	struct ibv_mr *mr = HAVE(ibv_reg_mr(pd, near.memory, SIZE, ACCESS));
	struct ibv_sge sge = {(uintptr_t)near.memory, any(1, SLOT), mr->lkey};

	use_piece(&sge, as_a_receive());
	MUST(ibv_dereg_mr(mr));
	MUST(ibv_dealloc_pd(pd));
}

static void own_beyond(void)
{
	const unsigned length = any(1, SLOT);
	struct ibv_sge sge = piece(&near, SIZE - length + any(1, length), length);

	use_piece(&sge, as_a_receive());
}

static void into_read_only(void)
{
	struct ibv_mr *mr = HAVE(ibv_reg_mr(near.pd, near.memory, SIZE, IBV_ACCESS_REMOTE_READ));
	struct ibv_sge sge = {(uintptr_t)near.memory, any(1, SLOT), mr->lkey};
	struct ibv_send_wr wr = request(IBV_WR_RDMA_READ, &sge, there.memory, there.rkey);

	if (as_a_receive()) {
		use_piece(&sge, true);
	} else {
		post_near(&wr);
		note_next(&near, near.cq, "own memory");
		note_failed(&near);
	}
	note_memory();
	MUST(ibv_dereg_mr(mr));
}

const struct rule memory_rules[MEMORY_RULES] = {
	{"an rkey of no region", "rkey-unknown", NULL, unknown_rkey},
	{"an rkey after ibv_dereg_mr()", "rkey-stale", NULL, stale_rkey},
	{"an rkey of another PD", "rkey-other-pd", NULL, rkey_of_another_pd},
	{"beyond the region", "range-beyond", NULL, beyond},
	{"a right of the region", "right-missing", NULL, without_a_right},
	{"a right of the queue pair", "right-missing", no_qp_access, without_the_right_of_the_qp},
	{"an odd address of an atomic", "atomic-unaligned", NULL, unaligned_atomic},
	{"an lkey of no region", "lkey-unknown", NULL, unknown_lkey},
	{"an lkey after ibv_dereg_mr()", "lkey-stale", NULL, stale_lkey},
	{"an lkey of another PD", "lkey-other-pd", NULL, lkey_of_another_pd},
	{"beyond the own region", "local-range-beyond", NULL, own_beyond},
	{"into a region without LOCAL_WRITE", "local-right-missing", NULL, into_read_only},
};
