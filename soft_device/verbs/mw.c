/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mw.c -- memory windows: allocating and freeing them, and ibv_bind_mw(). Their entry of the
 * table is made here; what binds and invalidates them is datapath/window.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "mr.h"
#include "objects.h"
#include "qp.h"
#include "soft_device/check/objects.h"
#include "soft_device/datapath/settle.h"
#include "soft_device/datapath/window.h"
#include "soft_device/faults/call.h"

struct mw {
	struct ibv_mw ibv; /* first */
	struct shared_mr *shared;
	uint32_t generation;
	struct mw *next; /* objects lock */
};

/* All of them, those that a fork() made foreign too; objects lock. */
static struct mw *mws;

static const char alloc_mw[] = "ibv_alloc_mw", dealloc_mw[] = "ibv_dealloc_mw";

struct ibv_mw *mw_alloc(struct ibv_pd *ibv, enum ibv_mw_type type)
{
	struct pd *pd = pd_of(ibv);
	struct mw *mw;

	ENTER_WITH(alloc_mw, pd->generation, call_failed_null);
	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		return call_failed_null(
			REFUSE(EINVAL, alloc_mw, "type %d, expected 1 or 2", (int)type));
	mw = calloc(1, sizeof(*mw));
	if (mw == NULL)
		return NULL;
	mw->shared = mr_take_window(pd, type, &mw->ibv.rkey);
	if (mw->shared == NULL) {
		free(mw);
		return call_failed_null(
			REFUSE(ENOMEM, alloc_mw, "%d regions and windows exist", SEGMENT_MRS));
	}
	mw->generation = pd->generation;
	mw->ibv.context = ibv->context;
	mw->ibv.pd = ibv;
	mw->ibv.handle = mw->ibv.rkey >> 8;
	mw->ibv.type = type;
	atomic_fetch_add(&pd->users, 1);
	pthread_mutex_lock(&process_objects);
	mw->next = mws;
	mws = mw;
	pthread_mutex_unlock(&process_objects);
	objects_made(OBJECT_MW, &mw->ibv, mw->ibv.handle);
	return &mw->ibv;
}

static void forget(struct mw *mw)
{
	pthread_mutex_lock(&process_objects);
	LIST_TAKE_OUT(mws, mw, next);
	mr_give_window(mw->shared);
	pthread_mutex_unlock(&process_objects);
}

int mw_dealloc(struct ibv_mw *ibv)
{
	struct mw *mw = (struct mw *)ibv;
	uint32_t settled = 0;

	if (__builtin_expect(check_any, 0) && !objects_alive(OBJECT_MW, ibv, dealloc_mw))
		return call_error(EINVAL);
	ENTER_AS(dealloc_mw, mw->generation);
	pthread_mutex_lock(&window_binding);
	atomic_store(&mw->shared->key, 0);
	pthread_mutex_unlock(&window_binding);
	atomic_thread_fence(memory_order_seq_cst);
	if (!settle_qps(&settled, process_now_ns() + MR_SETTLE_NS))
		return REFUSE_OF(EBUSY, dealloc_mw, "key %#x: a process that is stopped may use it",
				 ibv->rkey);
	forget(mw);
	atomic_fetch_sub(&pd_of(ibv->pd)->users, 1);
	objects_gone(OBJECT_MW, ibv);
	objects_free(mw);
	return 0;
}

/* The key is that of the window from now on, though it is bound later: ibv_bind_mw(3). */
int mw_bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id, .opcode = IBV_WR_BIND_MW, .send_flags = bind->send_flags};
	struct ibv_send_wr *bad;
	int error;

	ENTER_AS("ibv_bind_mw", ((struct mw *)mw)->generation);
	if ((bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0)
		return REFUSE_OF(EINVAL, "ibv_bind_mw",
				 "key %#x: a window of type 1 cannot be zero-based", mw->rkey);
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = bind->bind_info;
	error = qp_post_send(qp, &wr, &bad);
	if (error == 0)
		mw->rkey = wr.bind_mw.rkey;
	return error;
}

bool mw_is_bound_to(uint32_t region_key)
{
	bool found = false;

	pthread_mutex_lock(&process_objects);
	pthread_mutex_lock(&window_binding);
	for (const struct mw *mw = mws; mw != NULL && !found; mw = mw->next)
		found = !process_is_foreign(mw->generation) &&
			window_is_bound(mw->shared, region_key);
	pthread_mutex_unlock(&window_binding);
	pthread_mutex_unlock(&process_objects);
	return found;
}
