/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_life.c -- a send queue's memory, its begin, its reset and its end; see sq.h.
 */
#include "sq.h"

#include <errno.h>
#include <stdlib.h>

#include "sq_ud.h"

int sq_init(struct send_queue *sq, enum ibv_qp_type type, const struct ibv_qp_cap *cap,
	    bool sig_all)
{
	size_t data = cap->max_inline_data < 8 ? 8 : cap->max_inline_data;

	sq->opcodes = sq_opcodes_of(type);
	sq->unacknowledged = type != IBV_QPT_RC;
	if (type == IBV_QPT_UD && (sq->ud = sq_ud_new()) == NULL)
		return -ENOMEM;
	sq->max_wr = cap->max_send_wr;
	sq->max_sge = cap->max_send_sge;
	sq->max_inline = cap->max_inline_data;
	sq->sge_room = sq->max_sge == 0 ? 1 : sq->max_sge;
	sq->sig_all = sig_all;
	sq->stride = sizeof(struct send_slot) + sq->sge_room * sizeof(struct ibv_sge) + data;
	sq->stride = (sq->stride + 63) / 64 * 64;
	sq->count = power_of_two(sq->max_wr);
	sq->slots = calloc(sq->count, sq->stride);
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
	if (sq->slots == NULL)
		return;
	pthread_mutex_destroy(&sq->build);
	free(sq->slots);
}
