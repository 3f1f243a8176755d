/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schedules.c -- prints what a seed of rpma-soft --adversary has chosen where a program may see it,
 * and fails where the specification allows no choice; test_schedules.py runs it with many seeds.
 *
 * Both ends are in one process with one thread, so a seed prints the same in each run.
 */
#include "zoo.h"

#define LINE  64u
#define LINES (PAGE / LINE)
#define OLD   1u
#define NEW   2u

static struct ibv_qp *second; /* beside near.qp, and connected to another one of `far` */
static struct ibv_qp *second_far;

static volatile uint64_t *word_of(const struct end *end, size_t offset)
{
	return (volatile uint64_t *)(void *)(end->memory + offset);
}

static void clear(void)
{
	memset(near.memory, 0, SIZE);
	memset(far.memory, 0, SIZE);
}

static void open_second(void)
{
	struct address here = end_address(&near), other = end_address(&far);

	second = end_make_qp(&near);
	second_far = end_make_qp(&far);
	qp_to_init(&near, second);
	qp_to_init(&far, second_far);
	here.qp_num = second->qp_num;
	other.qp_num = second_far->qp_num;
	qp_connect(&far, second_far, &here);
	qp_connect(&near, second, &other);
}

static void post(struct ibv_qp *qp, enum ibv_wr_opcode opcode, size_t from, size_t bytes, size_t to,
		 unsigned flags)
{
	struct ibv_sge sge = piece(&near, from, bytes);
	struct ibv_send_wr wr = request(opcode, &sge, there.memory + to, there.rkey), *bad;

	wr.send_flags = flags;
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr.wr.atomic.compare_add = 1;
	MUST(ibv_post_send(qp, &wr, &bad));
}

/* One poll, and so one step; true: a good completion was there. */
static bool poll_once(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	const int count = ibv_poll_cq(cq, 1, &wc);

	CHECK(count >= 0 && (count == 0 || wc.status == IBV_WC_SUCCESS));
	return count == 1;
}

static void two_queues(void)
{
	volatile uint64_t *words = word_of(&far, 0);
	const char *first = "none";
	int left = 2;

	clear();
	*word_of(&near, 0) = NEW;
	post(near.qp, IBV_WR_RDMA_WRITE, 0, 8, 0, IBV_SEND_SIGNALED);
	if (words[0] == NEW)
		first = "first";
	post(second, IBV_WR_RDMA_WRITE, 0, 8, 8, IBV_SEND_SIGNALED);
	while (left > 0) {
		if (words[0] != words[1])
			first = words[0] == NEW ? "first" : "second";
		left -= poll_once(near.cq);
	}
	show("two-queues %s", first);
}

/* Reads a word that a later write of the same queue changes; the result. */
static uint64_t read_then_write(unsigned flags)
{
	clear();
	*word_of(&far, 0) = OLD;
	*word_of(&near, LINE) = NEW;
	post(near.qp, IBV_WR_RDMA_READ, 0, 8, 0, 0);
	post(near.qp, IBV_WR_RDMA_WRITE, LINE, 8, 0, IBV_SEND_SIGNALED | flags);
	await(near.cq);
	CHECK(*word_of(&far, 0) == NEW);
	return *word_of(&near, 0);
}

/* Sends a message from where a read, or an atomic, puts its result; what arrives. */
static uint64_t result_then_send(enum ibv_wr_opcode opcode, unsigned flags)
{
	clear();
	receive(&far, PAGE, LINE);
	*word_of(&far, 0) = OLD;
	post(near.qp, opcode, 0, 8, 0, 0);
	post(near.qp, IBV_WR_SEND, 0, 8, 0, IBV_SEND_SIGNALED | flags);
	await(near.cq);
	await(far.cq);
	CHECK(*word_of(&near, 0) == OLD);
	CHECK(*word_of(&far, 0) == (opcode == IBV_WR_RDMA_READ ? OLD : OLD + 1));
	return *word_of(&far, PAGE);
}

/* Can a line of a write be seen before one that lies before it? And what else is seen? */
static void parts_of_a_write(void)
{
	const volatile unsigned char *lines = far.memory;
	bool in_order = true, was_late = false, done = false;

	clear();
	memset(near.memory, 1, PAGE);
	post(near.qp, IBV_WR_RDMA_WRITE, 0, PAGE, 0, IBV_SEND_SIGNALED);
	while (!done) {
		unsigned there_are = 0;

		done = poll_once(near.cq);
		for (unsigned i = 0; i < LINES; i++) {
			CHECK(lines[i * LINE] == lines[(i + 1) * LINE - 1]);
			in_order = in_order && (lines[i * LINE] == 0 || there_are == i);
			there_are += lines[i * LINE];
		}
		was_late = was_late || (there_are == LINES && !done);
		CHECK(!done || there_are == LINES);
	}
	show("write %s, completion %s", in_order ? "in order" : "in parts",
	     was_late ? "late" : "at once");
}

/* True: the first bytes of an end are seen in parts before the completion that tells of them. */
static bool comes_in_parts(const struct end *end)
{
	const volatile unsigned char *lines = end->memory;
	bool in_parts = false, done = false;

	while (!done) {
		unsigned there_are = 0;

		done = poll_once(end->cq);
		for (unsigned i = 0; i < LINES; i++)
			there_are += lines[i * LINE];
		in_parts = in_parts || (there_are != 0 && there_are != LINES);
		CHECK(!done || there_are == LINES);
	}
	return in_parts;
}

static void parts_of_a_read(void)
{
	clear();
	memset(far.memory, 1, PAGE);
	post(near.qp, IBV_WR_RDMA_READ, 0, PAGE, 0, IBV_SEND_SIGNALED);
	show("read %s", comes_in_parts(&near) ? "in parts" : "whole");
}

static void parts_of_a_message(void)
{
	bool in_parts;

	clear();
	receive(&far, 0, PAGE);
	memset(near.memory, 1, PAGE);
	post(near.qp, IBV_WR_SEND, 0, PAGE, 0, IBV_SEND_SIGNALED);
	in_parts = comes_in_parts(&far);
	await(near.cq);
	show("message %s", in_parts ? "in parts" : "whole");
}

/* The second write of a queue is not seen before the first, nor the message before either. */
static void writes_in_order(void)
{
	struct ibv_wc wc;
	bool done = false;

	clear();
	receive(&far, 2 * PAGE, LINE);
	fill(near.memory, PAGE, 1);
	post(near.qp, IBV_WR_RDMA_WRITE, 0, PAGE, 0, 0);
	post(near.qp, IBV_WR_RDMA_WRITE, 0, PAGE, PAGE, 0);
	post(near.qp, IBV_WR_SEND, 0, 8, 0, IBV_SEND_SIGNALED);
	while (!done) {
		done = ibv_poll_cq(far.cq, 1, &wc) == 1;
		for (unsigned i = 0; i < PAGE && !done; i += LINE)
			CHECK(far.memory[PAGE + i] == 0 || is_filled(far.memory, PAGE, 1));
	}
	CHECK(is_filled(far.memory, PAGE, 1) && is_filled(far.memory + PAGE, PAGE, 1));
	await(near.cq);
}

/* A read behind a write sees all of it, and completions come in the order of the posts. */
static void completions_in_order(void)
{
	clear();
	fill(near.memory, PAGE, 2);
	post(near.qp, IBV_WR_RDMA_WRITE, 0, PAGE, 0, IBV_SEND_SIGNALED);
	post(near.qp, IBV_WR_RDMA_READ, PAGE, PAGE, 0, IBV_SEND_SIGNALED);
	post(near.qp, IBV_WR_ATOMIC_FETCH_AND_ADD, 2 * PAGE, 8, 2 * PAGE, IBV_SEND_SIGNALED);
	post(near.qp, IBV_WR_RDMA_WRITE, 0, PAGE, PAGE, IBV_SEND_SIGNALED);
	CHECK(await(near.cq).opcode == IBV_WC_RDMA_WRITE);
	CHECK(is_filled(far.memory, PAGE, 2));
	CHECK(await(near.cq).opcode == IBV_WC_RDMA_READ);
	CHECK(is_filled(near.memory + PAGE, PAGE, 2));
	CHECK(await(near.cq).opcode == IBV_WC_FETCH_ADD);
	CHECK(*word_of(&near, 2 * PAGE) == 0 && *word_of(&far, 2 * PAGE) == 1);
	CHECK(await(near.cq).opcode == IBV_WC_RDMA_WRITE);
	CHECK(is_filled(far.memory + PAGE, PAGE, 2));
}

int main(void)
{
	pair_open(NULL);
	open_second();
	for (unsigned round = 0; round < 3; round++) {
		two_queues();
		show("read-write %u", (unsigned)read_then_write(0));
		CHECK(read_then_write(IBV_SEND_FENCE) == OLD);
		show("read-send %u", (unsigned)result_then_send(IBV_WR_RDMA_READ, 0));
		CHECK(result_then_send(IBV_WR_RDMA_READ, IBV_SEND_FENCE) == OLD);
		show("atomic-send %u", (unsigned)result_then_send(IBV_WR_ATOMIC_FETCH_AND_ADD, 0));
		CHECK(result_then_send(IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_SEND_FENCE) == OLD);
		parts_of_a_write();
		parts_of_a_read();
		parts_of_a_message();
		writes_in_order();
		completions_in_order();
	}
	MUST(ibv_destroy_qp(second));
	MUST(ibv_destroy_qp(second_far));
	pair_close();
	return 0;
}
