/* SPDX-License-Identifier: BSD-3-Clause */
/* sq_life.c -- a send queue's memory, its begin, its reset and its end; see sq.h. */
#include "sq.h"

#include <errno.h>
#include <stdlib.h>

#include "sq_adversary.h"
#include "sq_ud.h"

static uint32_t sge_room(const struct ibv_qp_cap *cap)
{
	return cap->max_send_sge == 0 ? 1 : cap->max_send_sge;
}

/* A slot with its parts, and bytes of data. */
static size_t stride_of(const struct ibv_qp_cap *cap)
{
	const size_t data = cap->max_inline_data < 8 ? 8 : cap->max_inline_data;
	const size_t bytes =
		sizeof(struct send_slot) + sge_room(cap) * sizeof(struct ibv_sge) + data;

	return (bytes + 63) / 64 * 64;
}

size_t sq_bytes(const struct ibv_qp_cap *cap)
{
	return power_of_two(cap->max_send_wr) * stride_of(cap);
}

int sq_init(struct send_queue *sq, enum ibv_qp_type type, const struct ibv_qp_cap *cap,
	    bool sig_all, void *memory)
{
	sq->opcodes = sq_opcodes_of(type);
	sq->unacknowledged = type != IBV_QPT_RC;
	if (type == IBV_QPT_UD && (sq->ud = sq_ud_new()) == NULL)
		return -ENOMEM;
	sq->max_wr = cap->max_send_wr;
	sq->max_sge = cap->max_send_sge;
	sq->max_inline = cap->max_inline_data;
	sq->sge_room = sge_room(cap);
	sq->sig_all = sig_all;
	sq->stride = stride_of(cap);
	sq->count = power_of_two(sq->max_wr);
	sq->borrowed = memory != NULL;
	sq->slots = sq->borrowed ? memory : calloc(1, sq_bytes(cap));
	if (sq->slots == NULL)
		return -ENOMEM;
	shared_lock_init(&sq->lock);
	pthread_mutex_init(&sq->build, NULL);
	return 0;
}

void sq_begin(struct send_queue *sq)
{
	sq->released = &sq_released[sq->index];
	sq_reset(sq);
}

void sq_reset(struct send_queue *sq)
{
	if (adversary_any)
		sq_adversary_end(sq);
	sq->posted = sq->next = sq->completed = 0;
	atomic_store(sq->released, 0);
	sq->life++;
	sq->established = false;
	sq->drain_notify = false;
	sq->lost_ns = 0;
	sq->operations = 0;
	sq->last_due_ns = 0;
}

void sq_destroy(struct send_queue *sq)
{
	sq_ud_delete(sq->ud);
	sq->ud = NULL;
	if (sq->slots == NULL)
		return;
	pthread_mutex_destroy(&sq->build);
	if (!sq->borrowed)
		free(sq->slots);
	sq->slots = NULL;
}
