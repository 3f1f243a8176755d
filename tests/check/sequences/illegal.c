/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * illegal.c -- see sequence.h: some legal traffic, and then one broken rule. A rule has the kind of
 * finding that `rpma-soft --check` is to give, and breaks it with any size, place and operation.
 */
#include "rules.h"

/* --- what rxe answers differently --- */

/*
 * Each row: what the specification has, and what rxe gives in its place. The transcript has the
 * former for both.
 */
struct difference {
	const char *of;
	enum ibv_wc_status standard, on_rxe;
};

static const struct difference differences[] = {
	{"own memory", IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR},
	{"receive", IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR},
	{"short receive", IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR},
	{"sender of a short receive", IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR},
};

static enum ibv_wc_status as_specified(const char *of, enum ibv_wc_status status)
{
	for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++)
		if (sequence.is_on_rxe && strcmp(of, differences[i].of) == 0 &&
		    status == differences[i].on_rxe)
			return differences[i].standard;
	return status;
}

/* --- what is noted --- */

void note_next(const struct end *end, struct ibv_cq *cq, const char *of)
{
	struct ibv_wc wc = next_wc(cq);

	note("%s completion of %u: %s", end_name(end), (unsigned)wc.wr_id,
	     status_name(as_specified(of, wc.status)));
}

/* rxe tells of an error before it changes the state. */
void note_failed(const struct end *end)
{
	struct limit limit = limit_of(10000);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	do
		MUST(ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init));
	while (attr.qp_state != IBV_QPS_ERR && is_left(&limit));
	note("%s is %s", end_name(end), attr.qp_state == IBV_QPS_ERR ? "in ERR" : "not in ERR");
}

void post_near(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int result = ibv_post_send(near.qp, wr, &bad);

	if (result != 0)
		note("post: %s, of %s", result_name(result), bad == wr ? "it" : "another");
}

enum ibv_wr_opcode any_one_sided(void)
{
	return one_in(2) ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
}

/* It uses our first slot and any part of their memory. */
struct ibv_send_wr any_request(enum ibv_wr_opcode opcode)
{
	const unsigned length = any(1, SLOT);
	const uint64_t addr = there.memory + any(0, SIZE - length);

	note("%s of %u bytes", opcode == IBV_WR_RDMA_READ ? "read" : "write", length);
	return request(opcode, one_piece(&near, 0, length), addr, there.rkey);
}

/* --- rules about queues --- */

static void no_retry(struct options *of_near, struct options *of_far)
{
	of_near->rnr_retry = of_far->rnr_retry = 0;
}

static void no_receive(void)
{
	struct ibv_send_wr wr =
		request(one_in(2) ? IBV_WR_SEND : IBV_WR_RDMA_WRITE_WITH_IMM,
			one_piece(&near, 0, any(1, SLOT)), there.memory, there.rkey);

	post_near(&wr);
	note_next(&near, near.cq, "");
	note_failed(&near);
	note_memory();
}

static void short_receive(void)
{
	const unsigned length = any(2, SLOT);
	struct ibv_send_wr wr = request(IBV_WR_SEND, one_piece(&near, 0, length), 0, 0);

	post_receive(&far, 3, 0, any(1, length - 1));
	post_near(&wr);
	note_next(&near, near.cq, "sender of a short receive");
	note_next(&far, far.recv_cq, "short receive");
	note_failed(&near);
	note_failed(&far);
}

static struct ibv_qp_cap granted(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(ibv_query_qp(near.qp, &attr, IBV_QP_CAP, &init));
	return init.cap;
}

/* Messages wait for a receive, and so does what is behind them. */
static void full_send_queue(void)
{
	struct ibv_send_wr wr = request(IBV_WR_SEND, one_piece(&near, 0, any(1, 64)), 0, 0), *bad;

	for (unsigned left = granted().max_send_wr; left > 0; left--)
		MUST(ibv_post_send(near.qp, &wr, &bad));
	post_near(&wr);
}

static void own_receives(struct options *of_near, struct options *of_far)
{
	of_near->srq_wr = of_far->srq_wr = 0;
}

static void full_receive_queue(void)
{
	struct ibv_sge sge = piece(&near, 0, 64);
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
	int result = 0;

	for (unsigned left = granted().max_recv_wr; left > 0; left--)
		MUST(ibv_post_recv(near.qp, &wr, &bad));
	result = ibv_post_recv(near.qp, &wr, &bad);
	note("receive: %s", result_name(result));
}

#define MOST_PIECES 64

static void too_many_pieces(void)
{
	const struct ibv_qp_cap cap = granted();
	struct ibv_sge pieces[MOST_PIECES];
	struct ibv_recv_wr receive = {.sg_list = pieces}, *bad = NULL;
	struct ibv_send_wr wr = request(any_one_sided(), pieces, there.memory, there.rkey);

	CHECK(cap.max_send_sge < MOST_PIECES && cap.max_recv_sge < MOST_PIECES);
	for (unsigned i = 0; i < MOST_PIECES; i++)
		pieces[i] = piece(&near, i, 1);
	if (near.srq == NULL && one_in(2)) {
		receive.num_sge = (int)cap.max_recv_sge + 1;
		note("receive: %s", result_name(ibv_post_recv(near.qp, &receive, &bad)));
		return;
	}
	wr.num_sge = (int)cap.max_send_sge + 1;
	post_near(&wr);
}

static void long_inline(void)
{
	const unsigned length = granted().max_inline_data + any(1, 64);
	struct ibv_send_wr wr =
		request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, length), there.memory, there.rkey);

	wr.send_flags |= IBV_SEND_INLINE;
	post_near(&wr);
}

static void smaller_mtu(struct options *of_near, struct options *of_far)
{
	of_near->mtu = IBV_MTU_1024;
	of_far->mtu = one_in(2) ? IBV_MTU_512 : IBV_MTU_256;
}

static void unequal_mtu(void)
{
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, any(513, SLOT)),
					there.memory, there.rkey);

	post_near(&wr);
	note_next(&near, near.cq, "");
	note_failed(&near);
}

static const struct rule queue_rules[] = {
	{"no receive and no retry", "rnr", no_retry, no_receive},
	{"a receive that is too short", "receive-too-small", NULL, short_receive},
	{"a full send queue", "sq-full", NULL, full_send_queue},
	{"a full receive queue", "rq-full", own_receives, full_receive_queue},
	{"too many pieces", "too-many-sges", NULL, too_many_pieces},
	{"too much inline", "inline-too-long", NULL, long_inline},
	{"a write over unequal MTUs", "path-mtu", smaller_mtu, unequal_mtu},
};

#define RULES (MEMORY_RULES + sizeof(queue_rules) / sizeof(queue_rules[0]))

static const struct rule *rule_of(unsigned number)
{
	return number < MEMORY_RULES ? &memory_rules[number] : &queue_rules[number - MEMORY_RULES];
}

static void open_for(const struct rule *rule)
{
	struct options of_near = any_options(IBV_QPT_RC), of_far = any_options(IBV_QPT_RC);

	of_near.mtu = of_far.mtu = (enum ibv_mtu)any(IBV_MTU_256, IBV_MTU_1024);
	if (rule->prepare != NULL)
		rule->prepare(&of_near, &of_far);
	pair_open_with(&of_near, &of_far);
	sequence.depth = end_depth(&near) < end_depth(&far) ? end_depth(&near) : end_depth(&far);
}

void illegal_sequence(void)
{
	const struct rule *rule = rule_of(sequence.seed % RULES);

	note("%s: %s", rule->kind, rule->name);
	open_for(rule);
	for (unsigned left = any(0, 2); left > 0 && rule->prepare == NULL; left--)
		traffic();
	step(rule->name);
	rule->break_it();
}
