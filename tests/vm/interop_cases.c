/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interop_cases.c -- what two librpma of different origin do with each other.
 * Every client's part ends with one message that lets the server check; a case
 * that has no message of its own sends an empty one.
 */
#include "interop.h"

#include <arpa/inet.h>

static void say_done(struct interop_side *side)
{
	MUST(rpma_send(side->conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, side));
	struct ibv_wc wc = interop_sent(side);
	MUST_HOLD(wc.opcode == IBV_WC_SEND && wc.wr_id == (uintptr_t)side);
}

static void fill(struct interop_side *side, size_t offset, char first)
{
	for (size_t i = 0; i < INTEROP_MESSAGE_BYTES; i++)
		side->memory[offset + i] = (char)(first + (char)i);
}

static void holds(const struct interop_side *side, size_t offset, char first)
{
	for (size_t i = 0; i < INTEROP_MESSAGE_BYTES; i++)
		MUST_HOLD(side->memory[offset + i] == (char)(first + (char)i));
}

static void client_only_connects(struct interop_side *side)
{
	say_done(side);
}

static void server_got_nothing(struct interop_side *side, const struct ibv_wc *wc)
{
	(void)side;
	MUST_HOLD(wc->opcode == IBV_WC_RECV && wc->byte_len == 0);
}

static void client_writes(struct interop_side *side)
{
	fill(side, INTEROP_SCRATCH, 3);
	MUST(rpma_write(side->conn, side->remote, INTEROP_WRITTEN, side->mr, INTEROP_SCRATCH,
			INTEROP_MESSAGE_BYTES, RPMA_F_COMPLETION_ALWAYS, NULL));
	struct ibv_wc wc = interop_sent(side);
	MUST_HOLD(wc.opcode == IBV_WC_RDMA_WRITE);
	say_done(side);
}

static void server_was_written(struct interop_side *side, const struct ibv_wc *wc)
{
	server_got_nothing(side, wc);
	holds(side, INTEROP_WRITTEN, 3);
	MUST_HOLD(side->memory[INTEROP_WRITTEN + INTEROP_MESSAGE_BYTES] ==
		  interop_pattern(INTEROP_WRITTEN + INTEROP_MESSAGE_BYTES));
}

static void client_reads(struct interop_side *side)
{
	MUST(rpma_read(side->conn, side->mr, INTEROP_SCRATCH, side->remote, INTEROP_READABLE, 4000,
		       RPMA_F_COMPLETION_ALWAYS, NULL));
	struct ibv_wc wc = interop_sent(side);
	MUST_HOLD(wc.opcode == IBV_WC_RDMA_READ);
	for (size_t i = 0; i < 4000; i++)
		MUST_HOLD(side->memory[INTEROP_SCRATCH + i] ==
			  interop_pattern(INTEROP_READABLE + i));
	say_done(side);
}

static void write_and_flush(struct interop_side *side, enum rpma_flush_type type)
{
	fill(side, INTEROP_SCRATCH, 3);
	MUST(rpma_write(side->conn, side->remote, INTEROP_WRITTEN, side->mr, INTEROP_SCRATCH,
			INTEROP_MESSAGE_BYTES, RPMA_F_COMPLETION_ON_ERROR, NULL));
	MUST(rpma_flush(side->conn, side->remote, INTEROP_WRITTEN, INTEROP_MESSAGE_BYTES, type,
			RPMA_F_COMPLETION_ALWAYS, side->memory));
	struct ibv_wc wc = interop_sent(side);
	MUST_HOLD(wc.wr_id == (uintptr_t)side->memory);
}

static void client_flushes_visibly(struct interop_side *side)
{
	write_and_flush(side, RPMA_FLUSH_TYPE_VISIBILITY);
	say_done(side);
}

static void client_flushes_persistently(struct interop_side *side)
{
	MUST_GIVE(RPMA_E_NOSUPP,
		  rpma_flush(side->conn, side->remote, INTEROP_WRITTEN, INTEROP_MESSAGE_BYTES,
			     RPMA_FLUSH_TYPE_PERSISTENT, RPMA_F_COMPLETION_ALWAYS, NULL));
	MUST(rpma_conn_apply_remote_peer_cfg(side->conn, side->pcfg));
	write_and_flush(side, RPMA_FLUSH_TYPE_PERSISTENT);
	say_done(side);
}

static void client_writes_atomically(struct interop_side *side)
{
	const char word[RPMA_ATOMIC_WRITE_ALIGNMENT] = "atomic!";

	MUST_GIVE(RPMA_E_INVAL, rpma_atomic_write(side->conn, side->remote, INTEROP_WRITTEN + 4,
						  word, RPMA_F_COMPLETION_ALWAYS, NULL));
	MUST(rpma_atomic_write(side->conn, side->remote, INTEROP_WRITTEN + 8, word,
			       RPMA_F_COMPLETION_ALWAYS, NULL));
	(void)interop_sent(side);
	say_done(side);
}

static void server_was_written_atomically(struct interop_side *side, const struct ibv_wc *wc)
{
	server_got_nothing(side, wc);
	MUST_HOLD(memcmp(side->memory + INTEROP_WRITTEN + 8, "atomic!", 8) == 0);
	for (size_t i = 0; i < 24; i++)
		MUST_HOLD(i / 8 == 1 || side->memory[INTEROP_WRITTEN + i] ==
						interop_pattern(INTEROP_WRITTEN + i));
}

static void client_sends(struct interop_side *side)
{
	fill(side, INTEROP_OUTBOX, 7);
	MUST(rpma_send(side->conn, side->mr, INTEROP_OUTBOX, INTEROP_MESSAGE_BYTES,
		       RPMA_F_COMPLETION_ALWAYS, NULL));
	(void)interop_sent(side);
}

static void server_got_message(struct interop_side *side, const struct ibv_wc *wc)
{
	MUST_HOLD(wc->opcode == IBV_WC_RECV && wc->byte_len == INTEROP_MESSAGE_BYTES);
	MUST_HOLD(!(wc->wc_flags & IBV_WC_WITH_IMM));
	holds(side, INTEROP_INBOX, 7);
}

static void client_sends_with_imm(struct interop_side *side)
{
	fill(side, INTEROP_OUTBOX, 7);
	MUST(rpma_send_with_imm(side->conn, side->mr, INTEROP_OUTBOX, INTEROP_MESSAGE_BYTES,
				RPMA_F_COMPLETION_ALWAYS, INTEROP_IMM, NULL));
	(void)interop_sent(side);
}

static void server_got_message_with_imm(struct interop_side *side, const struct ibv_wc *wc)
{
	MUST_HOLD(wc->opcode == IBV_WC_RECV && wc->byte_len == INTEROP_MESSAGE_BYTES);
	MUST_HOLD((wc->wc_flags & IBV_WC_WITH_IMM) && ntohl(wc->imm_data) == INTEROP_IMM);
	holds(side, INTEROP_INBOX, 7);
}

static void client_writes_with_imm(struct interop_side *side)
{
	fill(side, INTEROP_SCRATCH, 3);
	MUST(rpma_write_with_imm(side->conn, side->remote, INTEROP_WRITTEN, side->mr,
				 INTEROP_SCRATCH, INTEROP_MESSAGE_BYTES, RPMA_F_COMPLETION_ALWAYS,
				 INTEROP_IMM, NULL));
	(void)interop_sent(side);
}

static void server_was_written_with_imm(struct interop_side *side, const struct ibv_wc *wc)
{
	MUST_HOLD(wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM);
	MUST_HOLD(wc->byte_len == INTEROP_MESSAGE_BYTES);
	MUST_HOLD((wc->wc_flags & IBV_WC_WITH_IMM) && ntohl(wc->imm_data) == INTEROP_IMM);
	holds(side, INTEROP_WRITTEN, 3);
}

const struct interop_case interop_cases[] = {
	{"private-data", INTEROP_MAIN_CQ, client_only_connects, server_got_nothing},
	{"write", INTEROP_MAIN_CQ, client_writes, server_was_written},
	{"read", INTEROP_MAIN_CQ, client_reads, server_got_nothing},
	{"flush-visibility", INTEROP_MAIN_CQ, client_flushes_visibly, server_was_written},
	{"flush-persistent", INTEROP_MAIN_CQ, client_flushes_persistently, server_was_written},
	{"atomic-write", INTEROP_MAIN_CQ, client_writes_atomically, server_was_written_atomically},
	{"send", INTEROP_MAIN_CQ, client_sends, server_got_message},
	{"send-with-imm", INTEROP_MAIN_CQ, client_sends_with_imm, server_got_message_with_imm},
	{"write-with-imm", INTEROP_MAIN_CQ, client_writes_with_imm, server_was_written_with_imm},
	{"own-rcq", INTEROP_OWN_RCQ, client_sends_with_imm, server_got_message_with_imm},
	{"srq-with-rcq", INTEROP_SRQ, client_sends, server_got_message},
	{"shared-channel", INTEROP_SHARED_CHANNEL, client_sends, server_got_message},
};

const size_t interop_case_count = sizeof(interop_cases) / sizeof(interop_cases[0]);
