/* SPDX-License-Identifier: BSD-3-Clause */
/* pd.c -- protection domains: a number that regions and queue pairs have to share. */
#include <errno.h>
#include <stdlib.h>

#include "objects.h"
#include "soft_device/check/objects.h"
#include "soft_device/faults/call.h"
#include "soft_device/process/process.h"

/* Numbers are not used again, so that a stale one matches nothing. */
static _Atomic uint32_t last_number;

struct pd *pd_make(struct context *context)
{
	struct pd *pd = NULL;

	if (atomic_fetch_add(&process_current->pds, 1) < SOFT_MAX_PD)
		pd = calloc(1, sizeof(*pd));
	if (pd == NULL) {
		atomic_fetch_sub(&process_current->pds, 1);
		return call_failed_null(
			REFUSE(ENOMEM, "ibv_alloc_pd", "no memory, or %d exist", SOFT_MAX_PD));
	}
	pd->number = atomic_fetch_add(&last_number, 1) + 1;
	pd->generation = context->generation;
	pd->ibv.context = &context->verbs.context;
	pd->ibv.handle = pd->number;
	objects_made(OBJECT_PD, &pd->ibv, pd->number);
	atomic_fetch_add(&context->users, 1);
	return pd;
}

SOFT_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *ibv)
{
	struct context *context = context_of(ibv);
	struct pd *pd;

	ENTER_NULL(context->generation);
	pd = pd_make(context);
	return pd == NULL ? NULL : &pd->ibv;
}

SOFT_EXPORT int ibv_dealloc_pd(struct ibv_pd *ibv)
{
	struct pd *pd = pd_of(ibv);

	if (OBJECT_IS_GONE(OBJECT_PD, ibv))
		return call_error(EINVAL);
	ENTER(pd->generation);
	if (atomic_load(&pd->users) != 0)
		return REFUSE_OF(EBUSY, "ibv_dealloc_pd",
				 "PD %u: %u memory regions, QPs or SRQs are in it", pd->number,
				 atomic_load(&pd->users));
	if (pd->parent_of != NULL) {
		parent_domain_free(pd);
		return 0;
	}
	atomic_fetch_sub(&context_of(ibv->context)->users, 1);
	atomic_fetch_sub(&process_current->pds, 1);
	objects_gone(OBJECT_PD, ibv);
	objects_free(pd);
	return 0;
}
