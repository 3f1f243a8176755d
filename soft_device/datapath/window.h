/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h -- binding and invalidating memory windows: requests of a send queue that no other
 * process has to do with.
 *
 * A window is an entry of segment.mr with a type. It is in force while it has a key, and then has
 * a part of a region, which is checked behind it (mr_check_window()). One of type 1 changes
 * while any queue pair of its domain may use it, so those are waited for; one of type 2 is for
 * one queue pair and changes under the lock of that.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "sq.h"

extern const struct process_part window_part;

/* Held while a window gets a key, and around window_is_bound(); no lock is taken under it. */
extern pthread_mutex_t window_binding;

/* The request to bind, for sq.c and qp_ex.c. NULL, or what is wrong with it. */
const char *window_take(struct send_work *work, const struct ibv_mw *mw, uint32_t rkey,
			const struct ibv_mw_bind_info *info);

/* Executes a request that is for this queue alone, sq_is_local(). Callers hold sq.lock. */
struct outcome window_execute(const struct send_queue *sq, const struct send_work *work);

/* True if the window gives access to this region; callers hold window_binding. */
bool window_is_bound(const struct shared_mr *window, uint32_t region_key);
