/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traffic.c -- see sequence.h: a batch of requests in both directions. Each request has a slot of
 * the memory of either end for itself, so that nothing depends on the order in which devices move
 * bytes; nothing is looked at before all completions are there.
 */
#include "sequence.h"

#define MOST_PIECES   4u
#define MOST_REQUESTS (SLOTS / 2)
#define MOST_TAKEN    128u
#define LIMIT_MS      20000

struct job {
	enum ibv_wr_opcode opcode;
	unsigned length;
	unsigned near_slot, far_slot; /* the requester's, the responder's */
	struct ibv_send_wr wr;
	struct ibv_sge pieces[MOST_PIECES];
	struct ibv_recv_wr receive; /* if it takes one */
	struct ibv_sge receive_pieces[MOST_PIECES];
};

/* The requests of one end to the other one. */
struct flow {
	struct end *from, *to;
	struct job jobs[MOST_REQUESTS];
	unsigned count;
	unsigned signaled;
	unsigned receives;
	bool is_late; /* the receives are posted behind the requests */
};

static const char *const opcodes[] = {
	[IBV_WR_RDMA_WRITE] = "RDMA_WRITE",
	[IBV_WR_RDMA_WRITE_WITH_IMM] = "RDMA_WRITE_WITH_IMM",
	[IBV_WR_SEND] = "SEND",
	[IBV_WR_SEND_WITH_IMM] = "SEND_WITH_IMM",
	[IBV_WR_RDMA_READ] = "RDMA_READ",
	[IBV_WR_ATOMIC_CMP_AND_SWP] = "ATOMIC_CMP_AND_SWP",
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = "ATOMIC_FETCH_AND_ADD",
};

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool has_immediate(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_SEND_WITH_IMM;
}

static bool is_send(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

static bool takes_a_receive(enum ibv_wr_opcode opcode)
{
	return is_send(opcode) || has_immediate(opcode);
}

static enum ibv_wr_opcode any_opcode(const struct flow *flow, bool is_last)
{
	const bool is_unreliable = flow->from->options.type == IBV_QPT_UC;
	/* the last one of an unreliable connection is a message: it tells that all have come */
	const unsigned kept = is_unreliable && !is_last ? 1 : 0;
	enum ibv_wr_opcode opcode = (enum ibv_wr_opcode)any(0, is_unreliable ? 3 : 6);

	if (is_unreliable && is_last)
		return IBV_WR_SEND;
	if (takes_a_receive(opcode) && flow->receives + kept >= sequence.depth)
		return IBV_WR_RDMA_WRITE;
	return opcode;
}

static unsigned any_length(void)
{
	switch (any(0, 4)) {
	case 0:
		return any(0, 1);
	case 1:
		return any(1, 64);
	case 2:
		return any(65, 1024);
	case 3:
		return any(1025, SLOT - 1);
	default:
		return SLOT;
	}
}

/* LENGTH bytes of a slot in up to MOST pieces, in any order; returns how many. */
static unsigned split(const struct end *end, unsigned slot, unsigned length, unsigned most,
		      struct ibv_sge *pieces)
{
	unsigned count = any(1, most), done = 0;

	if (length == 0)
		return 0;
	if (count > length)
		count = length;
	for (unsigned i = 0; i < count; i++) {
		unsigned left = count - 1 - i;
		unsigned bytes = left == 0 ? length - done : any(1, length - done - left);

		pieces[i] = piece(end, slot * SLOT + done, bytes);
		done += bytes;
	}
	if (count > 1 && one_in(2)) {
		struct ibv_sge first = pieces[0];

		pieces[0] = pieces[count - 1];
		pieces[count - 1] = first;
	}
	return count;
}

static void make_receive(struct flow *flow, struct job *job)
{
	const struct end *to = flow->to;
	const unsigned most = to->srq != NULL ? 1 : to->options.cap.max_recv_sge;
	unsigned room = is_send(job->opcode) ? job->length : 0;

	if (room < SLOT && one_in(2))
		room = any(room, SLOT);
	/* a write with immediate data puts nothing there */
	job->receive = (struct ibv_recv_wr){
		.wr_id = OF_RECEIVE | flow->receives,
		.sg_list = job->receive_pieces,
		.num_sge = (int)split(to, job->far_slot, room, most, job->receive_pieces),
	};
	flow->receives++;
}

static void aim(struct job *job, const struct end *to)
{
	const uint64_t slot = (uintptr_t)to->memory + job->far_slot * SLOT;

	if (is_atomic(job->opcode)) {
		job->wr.wr.atomic.remote_addr = slot + 8 * any(0, SLOT / 8 - 1);
		job->wr.wr.atomic.rkey = to->mr->rkey;
		job->wr.wr.atomic.compare_add = any_word();
		job->wr.wr.atomic.swap = any_word();
		if (job->opcode == IBV_WR_ATOMIC_CMP_AND_SWP && one_in(2))
			memcpy(&job->wr.wr.atomic.compare_add,
			       (void *)(uintptr_t)job->wr.wr.atomic.remote_addr, 8);
	} else if (!is_send(job->opcode)) {
		job->wr.wr.rdma.remote_addr = slot + any(0, SLOT - job->length);
		job->wr.wr.rdma.rkey = to->mr->rkey;
	}
}

static void set_flags(struct flow *flow, struct job *job, bool is_last)
{
	const struct options *options = &flow->from->options;
	unsigned flags = 0;

	if (is_last || one_in(2))
		flags |= IBV_SEND_SIGNALED;
	/* rxe of Linux 6.1 may never go on at a fence once it had to send again for want of a
	 * receive */
	if (one_in(6) && options->type == IBV_QPT_RC && !flow->is_late)
		flags |= IBV_SEND_FENCE;
	if (one_in(6) && takes_a_receive(job->opcode))
		flags |= IBV_SEND_SOLICITED;
	if (job->opcode != IBV_WR_RDMA_READ && !is_atomic(job->opcode) && one_in(2) &&
	    job->length <= options->cap.max_inline_data) {
		flags |= IBV_SEND_INLINE;
		for (int i = 0; i < job->wr.num_sge; i++)
			job->pieces[i].lkey = 0; /* not looked at, ibv_post_send(3) */
	}
	job->wr.send_flags = flags;
	if (options->sig_all || flags & IBV_SEND_SIGNALED)
		flow->signaled++;
}

static void note_job(const struct flow *flow, const struct job *job)
{
	const unsigned flags = job->wr.send_flags;

	note("%s %u %s %u bytes in %d%s%s%s%s", end_name(flow->from), (unsigned)job->wr.wr_id,
	     opcodes[job->opcode], job->length, job->wr.num_sge,
	     flags & IBV_SEND_SIGNALED ? " signaled" : "", flags & IBV_SEND_FENCE ? " fenced" : "",
	     flags & IBV_SEND_SOLICITED ? " solicited" : "",
	     flags & IBV_SEND_INLINE ? " inline" : "");
}

static void make_job(struct flow *flow, struct job *job, bool is_last)
{
	const struct end *from = flow->from;

	job->opcode = any_opcode(flow, is_last);
	job->length = is_atomic(job->opcode) ? 8 : any_length();
	job->wr = (struct ibv_send_wr){
		.wr_id = (uint64_t)(job - flow->jobs),
		.opcode = job->opcode,
		.sg_list = job->pieces,
		.imm_data = has_immediate(job->opcode) ? (__be32)any_word() : 0,
	};
	job->wr.num_sge = (int)split(from, job->near_slot, job->length,
				     is_atomic(job->opcode) ? 1 : from->options.cap.max_send_sge,
				     job->pieces);
	fill(from->memory + job->near_slot * SLOT, SLOT, any(0, 1000));
	aim(job, flow->to);
	set_flags(flow, job, is_last);
	if (takes_a_receive(job->opcode))
		make_receive(flow, job);
	note_job(flow, job);
}

static int post_one_receive(const struct end *end, struct ibv_recv_wr *wr)
{
	struct ibv_recv_wr *bad;

	return end->srq != NULL ? ibv_post_srq_recv(end->srq, wr, &bad)
				: ibv_post_recv(end->qp, wr, &bad);
}

void post_receive(const struct end *end, unsigned number, size_t offset, size_t length)
{
	struct ibv_sge sge = piece(end, offset, length);
	struct ibv_recv_wr wr = {.wr_id = OF_RECEIVE | number, .sg_list = &sge, .num_sge = 1};

	MUST(post_one_receive(end, &wr));
}

static void post_receives(struct flow *flow)
{
	struct ibv_recv_wr *first = NULL, **next = &first;
	const bool as_a_list = one_in(2);

	for (unsigned i = 0; i < flow->count; i++) {
		struct job *job = &flow->jobs[i];

		if (!takes_a_receive(job->opcode))
			continue;
		if (!as_a_list)
			MUST(post_one_receive(flow->to, &job->receive));
		*next = &job->receive;
		next = &job->receive.next;
	}
	if (as_a_list && first != NULL)
		MUST(post_one_receive(flow->to, first));
}

/* The source of an inline request is the program's again at once. */
static void use_again(const struct flow *flow, const struct job *job)
{
	if (job->wr.send_flags & IBV_SEND_INLINE)
		memset(flow->from->memory + job->near_slot * SLOT, 0x5a, SLOT);
}

static void post_requests(struct flow *flow)
{
	struct ibv_send_wr *bad;
	const bool as_a_list = one_in(2);

	for (unsigned i = 0; i < flow->count; i++) {
		struct job *job = &flow->jobs[i];

		if (as_a_list && i + 1 < flow->count)
			job->wr.next = &flow->jobs[i + 1].wr;
		if (!as_a_list)
			MUST(ibv_post_send(flow->from->qp, &job->wr, &bad));
	}
	if (as_a_list && flow->count > 0)
		MUST(ibv_post_send(flow->from->qp, &flow->jobs[0].wr, &bad));
	for (unsigned i = 0; i < flow->count; i++)
		use_again(flow, &flow->jobs[i]);
}

bool is_of_receive(const struct ibv_wc *wc)
{
	return (wc->wr_id & OF_RECEIVE) != 0;
}

static void note_completion(const struct end *end, const struct ibv_wc *wc)
{
	const bool has_imm =
		wc->status == IBV_WC_SUCCESS && is_of_receive(wc) && wc->wc_flags & IBV_WC_WITH_IMM;
	char more[64] = "";

	if (has_imm)
		snprintf(more, sizeof(more), ", immediate %08x", wc->imm_data);
	if (wc->status != IBV_WC_SUCCESS)
		note("%s %s %u: %s", end_name(end), is_of_receive(wc) ? "receive" : "request",
		     (unsigned)wc->wr_id, status_name(wc->status));
	else if (is_of_receive(wc))
		note("%s receive %u: %s of %u bytes%s", end_name(end), (unsigned)wc->wr_id,
		     opcode_name(wc->opcode), wc->byte_len, more);
	else
		note("%s request %u: %s", end_name(end), (unsigned)wc->wr_id,
		     opcode_name(wc->opcode));
}

struct taken {
	struct ibv_wc sent[MOST_TAKEN], received[MOST_TAKEN];
	unsigned sends, receives;
};

static bool poll_into(struct ibv_cq *cq, struct taken *taken)
{
	struct ibv_wc wc;
	int count = ibv_poll_cq(cq, 1, &wc);

	CHECK(count >= 0 && taken->sends < MOST_TAKEN && taken->receives < MOST_TAKEN);
	if (count == 0)
		return false;
	if (is_of_receive(&wc))
		taken->received[taken->receives++] = wc;
	else
		taken->sent[taken->sends++] = wc;
	return true;
}

void drain(const struct end *end, unsigned sends, unsigned receives)
{
	struct taken taken = {.sends = 0};
	struct limit limit = limit_of(LIMIT_MS);

	while (taken.sends < sends || taken.receives < receives) {
		bool is_one = poll_into(end->cq, &taken);

		if (end->recv_cq != end->cq)
			is_one |= poll_into(end->recv_cq, &taken);
		if (!is_one && !is_left(&limit))
			break;
	}
	for (unsigned i = 0; i < taken.sends; i++)
		note_completion(end, &taken.sent[i]);
	for (unsigned i = 0; i < taken.receives; i++)
		note_completion(end, &taken.received[i]);
	if (taken.sends != sends || taken.receives != receives)
		note("%s: %u and %u completions instead of %u and %u", end_name(end), taken.sends,
		     taken.receives, sends, receives);
}

/* An event of the queue that requests of END complete into, if it has a channel. */
struct watch {
	const struct end *end;
	bool is_due;
};

static struct watch arm(const struct flow *out, const struct flow *in)
{
	const struct end *end = out->from;
	const bool is_shared = end->recv_cq == end->cq;
	struct watch watch = {.end = end};

	if (end->channel == NULL || one_in(2))
		return watch;
	MUST(ibv_req_notify_cq(end->cq, 0));
	watch.is_due = out->signaled > 0 || (is_shared && in->receives > 0);
	return watch;
}

static void take_event(const struct watch *watch)
{
	struct ibv_cq *cq;
	void *context;

	if (!watch->is_due)
		return;
	CHECK(becomes_readable(watch->end->channel->fd, LIMIT_MS));
	MUST(ibv_get_cq_event(watch->end->channel, &cq, &context));
	note("%s event%s", end_name(watch->end),
	     cq == watch->end->cq && context == watch->end ? "" : " of another queue");
	ibv_ack_cq_events(cq, 1);
}

/* One slot of each end for each request of both flows. */
static void give_slots(struct flow *flows)
{
	unsigned slots[2][SLOTS], used = 0;

	for (unsigned end = 0; end < 2; end++) {
		for (unsigned i = 0; i < SLOTS; i++) {
			unsigned place = any(0, i);

			slots[end][i] = slots[end][place];
			slots[end][place] = i;
		}
	}
	for (unsigned f = 0; f < 2; f++) {
		for (unsigned i = 0; i < flows[f].count; i++, used++) {
			flows[f].jobs[i].near_slot = slots[f][used];
			flows[f].jobs[i].far_slot = slots[1 - f][used];
		}
	}
}

static unsigned any_count(const struct end *from)
{
	unsigned most = from->options.cap.max_send_wr;

	return any(0, most < MOST_REQUESTS ? most : MOST_REQUESTS);
}

void traffic(void)
{
	static struct flow flows[2];
	struct watch watches[2];
	/*
	 * A reliable connection tries again until the receive is there; one of the RDMA CM after
	 * 655 ms, as its min_rnr_timer is 0, so it is left out.
	 */
	const bool is_late = near.options.type == IBV_QPT_RC && !sequence.is_of_cm && one_in(4);

	flows[0] = (struct flow){.from = &near, .to = &far, .count = any_count(&near)};
	flows[1] = (struct flow){.from = &far, .to = &near, .count = any_count(&far)};
	flows[0].is_late = flows[1].is_late = is_late;
	step(is_late ? "traffic, and the receives are late" : "traffic");
	give_slots(flows);
	for (unsigned f = 0; f < 2; f++)
		for (unsigned i = 0; i < flows[f].count; i++)
			make_job(&flows[f], &flows[f].jobs[i], i + 1 == flows[f].count);
	watches[0] = arm(&flows[0], &flows[1]);
	watches[1] = arm(&flows[1], &flows[0]);
	for (unsigned f = 0; f < 2 && !is_late; f++)
		post_receives(&flows[f]);
	post_requests(&flows[0]);
	post_requests(&flows[1]);
	for (unsigned f = 0; f < 2 && is_late; f++)
		post_receives(&flows[f]);
	drain(&near, flows[0].signaled, flows[1].receives);
	drain(&far, flows[1].signaled, flows[0].receives);
	take_event(&watches[0]);
	take_event(&watches[1]);
	note_memory();
}
