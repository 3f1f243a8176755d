/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq_check.h -- what `rpma-soft --check` looks at in completion queues and channels; called only
 * with check_any.
 */
#pragma once

#include "cq.h"

/* A poll begins, and has taken completions. */
void cq_check_poll(struct cq *cq);
void cq_check_polled(struct cq *cq, const struct ibv_wc *wc, int count);
/* It is about to be armed. */
void cq_check_armed(struct cq *cq, bool solicited_only);
/* It overflowed; objects lock held. */
void cq_check_overrun(const struct cq *cq);
/* A queue pair goes with the completions that it has there. */
void cq_check_end_of_some(struct cq *cq);
/* It is destroyed, or the process ends. */
void cq_check_end(struct cq *cq);

/* A thread is about to wait for an event of the channel, at this place, and has; no lock held. */
void cq_check_wait(struct channel *channel, uint32_t stack);
void cq_check_wait_end(struct channel *channel);
/* In a child of fork(). */
void cq_check_forget(void);
/* Events were acknowledged; the mutex of the CQ is held. */
void cq_check_acknowledged(struct cq *cq);
