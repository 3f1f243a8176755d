/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * explain.h -- with the option `verbose`, a line on stderr about each request or receive that
 * fails.
 *
 * Requests that are flushed behind it are not named.
 */
#pragma once

#include "soft_device/process/segment.h"
#include "soft_device/transport/vendor_err.h"
#include "sq.h"

/* A send work request is about to complete with this status; callers hold sq.lock. */
void explain_request(const struct send_queue *sq, const struct send_work *work,
		     enum ibv_wc_status status, enum vendor_err why) __attribute__((cold));
/*
 * A message of a UC or UD queue pair was lost, which its sender is not told otherwise; callers hold
 * sq.lock.
 */
void explain_loss(const struct send_queue *sq, const struct send_work *work, enum vendor_err why)
	__attribute__((cold));
/* A queue pair of ours went to ERR: the request of its peer that was refused, if one was. */
void explain_refusal(uint32_t qpn, const struct shared_refusal *refusal) __attribute__((cold));
