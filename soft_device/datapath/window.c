/* SPDX-License-Identifier: BSD-3-Clause */
/* window.c -- see window.h. What is checked, and what its failure is, is as in rxe_mw.c. */
#include "window.h"

#include "mr_check.h"
#include "settle.h"
#include "soft_device/process/process.h"

/* A process that executes a request now is done soon, or it is stopped. */
#define SETTLE_NS UINT64_C(1000000)

#define REMOTE                                                                                     \
	((uint32_t)IBV_ACCESS_REMOTE_WRITE | (uint32_t)IBV_ACCESS_REMOTE_READ |                    \
	 (uint32_t)IBV_ACCESS_REMOTE_ATOMIC)
#define KNOWN                                                                                      \
	(REMOTE | (uint32_t)IBV_ACCESS_LOCAL_WRITE | (uint32_t)IBV_ACCESS_MW_BIND |                \
	 (uint32_t)IBV_ACCESS_ZERO_BASED)

pthread_mutex_t window_binding = PTHREAD_MUTEX_INITIALIZER;

const struct process_part window_part = {.lock = &window_binding};

const char *window_take(struct send_work *work, const struct ibv_mw *mw, uint32_t rkey,
			const struct ibv_mw_bind_info *info)
{
	if (mw == NULL)
		return "bind_mw.mw is NULL";
	if (rkey >> 8 != mw->rkey >> 8)
		return "bind_mw.rkey differs from that of the window in more than its last byte";
	if (info->mr == NULL && info->length != 0)
		return "bind_info.mr is NULL, and the length is not 0";
	if ((info->mw_access_flags & ~KNOWN) != 0)
		return "bind_info.mw_access_flags has an unknown flag";
	work->num_sge = 0;
	work->bind = (struct send_bind){.addr = info->addr,
					.length = info->length,
					.rkey = rkey,
					.lkey = info->mr == NULL ? 0 : info->mr->rkey,
					.access = info->mw_access_flags};
	return NULL;
}

/* The entry of this key, if that is a window of this domain. */
static struct shared_mr *find(uint32_t key, uint32_t pd)
{
	const uint32_t index = key >> 8;
	struct shared_mr *window = &process_current->segment->mr[index < SEGMENT_MRS ? index : 0];

	return index < SEGMENT_MRS && window->window != 0 && window->pd == (pd | MR_WINDOW) ? window
											    : NULL;
}

static struct shared_window *more_of(const struct shared_mr *window)
{
	struct segment *segment = process_current->segment;

	return &segment->window[window - segment->mr];
}

/* Checks the region that is to be seen through it; *memory is where it lies. */
static enum vendor_err check_region(const struct send_queue *sq, const struct send_bind *bind,
				    uint64_t *memory)
{
	const bool writes =
		(bind->access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
	const uint32_t access =
		(uint32_t)IBV_ACCESS_MW_BIND | (writes ? (uint32_t)IBV_ACCESS_LOCAL_WRITE : 0);
	const struct segment *segment = process_current->segment;
	const struct shared_mr *region =
		mr_check(segment, bind->lkey, sq->pd, bind->addr, bind->length, access, memory);

	if (region == NULL)
		return mr_reason(segment, bind->lkey, sq->pd, bind->addr, bind->length, access);
	return (region->access & ((uint32_t)IBV_ACCESS_ZERO_BASED | MR_NULL)) == 0
		       ? VENDOR_NONE
		       : VENDOR_WINDOW_STATE;
}

static bool may_bind(const struct shared_mr *window, const struct send_bind *bind)
{
	if (window->window == IBV_MW_TYPE_1)
		return (bind->access & IBV_ACCESS_ZERO_BASED) == 0;
	return atomic_load(&window->key) == 0 && bind->length != 0;
}

/* Out of force, and used by no request any more. False: not yet. */
static bool withdraw(struct shared_mr *window)
{
	uint32_t settled = 0;

	if (window->window != IBV_MW_TYPE_1 || more_of(window)->region == 0)
		return true;
	atomic_store(&window->key, 0);
	atomic_thread_fence(memory_order_seq_cst);
	if (!settle_qps(&settled, process_now_ns() + SETTLE_NS))
		return false;
	more_of(window)->region = 0;
	return true;
}

static void publish(const struct send_queue *sq, const struct send_bind *bind,
		    struct shared_mr *window, uint64_t memory)
{
	window->access = bind->access & REMOTE;
	window->addr = memory;
	window->length = bind->length;
	window->iova = bind->access & IBV_ACCESS_ZERO_BASED ? 0 : bind->addr;
	more_of(window)->region = bind->lkey;
	more_of(window)->qp = window->window == IBV_MW_TYPE_1
				      ? 0
				      : shared_qp_name(process_current->segment, sq->shared);
	window->last = (uint8_t)bind->rkey;
	atomic_store_explicit(&window->key, bind->rkey, memory_order_release);
}

static struct outcome bind_window(const struct send_queue *sq, const struct send_bind *bind)
{
	struct shared_mr *window = find(bind->rkey, sq->pd);
	enum vendor_err why = VENDOR_NONE;
	uint64_t memory = 0;

	if (window == NULL || !may_bind(window, bind))
		why = VENDOR_WINDOW_STATE;
	else if (bind->length != 0)
		why = check_region(sq, bind, &memory);
	if (why != VENDOR_NONE)
		return outcome_failed(IBV_WC_MW_BIND_ERR, why);
	if (!withdraw(window))
		return outcome_busy();
	if (bind->length != 0)
		publish(sq, bind, window, memory);
	return outcome_done();
}

/* Once more is no error. */
static struct outcome invalidate(const struct send_queue *sq, uint32_t rkey)
{
	struct segment *segment = process_current->segment;
	struct shared_mr *window = find(rkey, sq->pd);
	uint32_t key = rkey;
	struct shared_qp *user;

	if (window == NULL || window->window != IBV_MW_TYPE_2)
		return outcome_failed(IBV_WC_LOC_QP_OP_ERR, VENDOR_WINDOW_STATE);
	user = &segment->qp[more_of(window)->qp >> QP_LOW_BITS];
	if (!shared_lock_take_soon(&user->lock))
		return outcome_busy();
	atomic_compare_exchange_strong(&window->key, &key, 0);
	shared_lock_release(&user->lock);
	if (key == rkey || (key == 0 && window->last == (uint8_t)rkey))
		return outcome_done();
	return outcome_failed(IBV_WC_LOC_QP_OP_ERR, VENDOR_WINDOW_UNBOUND);
}

struct outcome window_execute(const struct send_queue *sq, const struct send_work *work)
{
	struct outcome outcome;

	if (work->opcode == IBV_WR_LOCAL_INV)
		return invalidate(sq, work->request.rkey);
	pthread_mutex_lock(&window_binding);
	outcome = bind_window(sq, &work->bind);
	pthread_mutex_unlock(&window_binding);
	return outcome;
}

bool window_is_bound(const struct shared_mr *window, uint32_t region_key)
{
	const struct segment *segment = process_current->segment;
	const struct shared_window *more = more_of(window);
	const struct shared_qp *user = &segment->qp[more->qp >> QP_LOW_BITS];

	if (atomic_load(&window->key) == 0 || more->region != region_key)
		return false;
	return window->window == IBV_MW_TYPE_1 ||
	       (atomic_load(&user->qpn) != 0 && shared_qp_name(segment, user) == more->qp);
}
