/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * domain.c -- parent domains and thread domains.
 *
 * A parent domain is its PD for keys and queue pairs: it has the number of that. Its allocator
 * gives the memory of send queues, the only queues that are not shared with other processes. A
 * thread domain changes nothing: all objects stay safe for several threads.
 */
#include <errno.h>
#include <stdlib.h>

#include "objects.h"
#include "soft_device/faults/call.h"

struct td {
	struct ibv_td ibv; /* first */
	_Atomic uint32_t users;
	uint32_t generation;
};

static struct td *td_of(struct ibv_td *ibv)
{
	return (struct td *)ibv;
}

struct ibv_td *td_alloc(struct ibv_context *ibv, struct ibv_td_init_attr *attr)
{
	struct context *context = context_of(ibv);
	struct td *td;

	ENTER_WITH("ibv_alloc_td", context->generation, call_failed_null);
	if (attr->comp_mask != 0)
		return call_failed_null(
			REFUSE(EINVAL, "ibv_alloc_td", "unknown comp_mask %#x", attr->comp_mask));
	td = calloc(1, sizeof(*td));
	if (td == NULL)
		return NULL;
	td->ibv.context = ibv;
	td->generation = context->generation;
	atomic_fetch_add(&context->users, 1);
	return &td->ibv;
}

int td_dealloc(struct ibv_td *ibv)
{
	struct td *td = td_of(ibv);

	ENTER_AS("ibv_dealloc_td", td->generation);
	if (atomic_load(&td->users) != 0)
		return REFUSE(EBUSY, "ibv_dealloc_td", "%u parent domains use it",
			      atomic_load(&td->users));
	atomic_fetch_sub(&context_of(ibv->context)->users, 1);
	free(td);
	return 0;
}

static const char alloc_parent_domain[] = "ibv_alloc_parent_domain";

static int check(struct ibv_context *ibv, const struct ibv_parent_domain_init_attr *attr)
{
	const uint32_t known = (uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			       (uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;

	if ((attr->comp_mask & ~known) != 0)
		return REFUSE(EINVAL, alloc_parent_domain, "unknown comp_mask %#x",
			      attr->comp_mask & ~known);
	if (attr->pd == NULL || attr->pd->context != ibv)
		return REFUSE(EINVAL, alloc_parent_domain, "no PD of this context");
	if (pd_of(attr->pd)->parent_of != NULL)
		return REFUSE(EINVAL, alloc_parent_domain, "PD %u: it is a parent domain itself",
			      pd_of(attr->pd)->number);
	if (attr->td != NULL && attr->td->context != ibv)
		return REFUSE(EINVAL, alloc_parent_domain,
			      "its thread domain is of another context");
	if ((attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0 &&
	    (attr->alloc == NULL || attr->free == NULL))
		return REFUSE(EINVAL, alloc_parent_domain, "%s is NULL",
			      attr->alloc == NULL ? "alloc" : "free");
	return 0;
}

struct ibv_pd *parent_domain_alloc(struct ibv_context *ibv,
				   struct ibv_parent_domain_init_attr *attr)
{
	struct context *context = context_of(ibv);
	struct pd *pd;
	int error;

	ENTER_WITH(alloc_parent_domain, context->generation, call_failed_null);
	error = check(ibv, attr);
	if (error != 0)
		return call_failed_null(error);
	pd = calloc(1, sizeof(*pd));
	if (pd == NULL)
		return NULL;
	pd->parent_of = pd_of(attr->pd);
	pd->number = pd->parent_of->number;
	pd->generation = context->generation;
	pd->ibv.context = ibv;
	pd->ibv.handle = pd->number;
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		pd->alloc = attr->alloc;
		pd->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->pd_context = attr->pd_context;
	atomic_fetch_add(&pd->parent_of->users, 1);
	if (attr->td != NULL) {
		pd->td = attr->td;
		atomic_fetch_add(&td_of(attr->td)->users, 1);
	}
	atomic_fetch_add(&context->users, 1);
	return &pd->ibv;
}

void parent_domain_free(struct pd *pd)
{
	if (pd->td != NULL)
		atomic_fetch_sub(&td_of(pd->td)->users, 1);
	atomic_fetch_sub(&pd->parent_of->users, 1);
	atomic_fetch_sub(&context_of(pd->ibv.context)->users, 1);
	free(pd);
}

/* The allocator may tell resources apart; there is one. */
#define SEND_QUEUE  1u
#define CACHE_LINE  64u
#define USE_DEFAULT IBV_ALLOCATOR_USE_DEFAULT

bool pd_memory_get(struct pd *pd, size_t bytes, void **memory)
{
	*memory = NULL;
	if (pd->alloc == NULL)
		return true;
	*memory = pd->alloc(&pd->ibv, pd->pd_context, bytes, CACHE_LINE, SEND_QUEUE);
	if (*memory == NULL)
		return false;
	if (*memory == USE_DEFAULT)
		*memory = NULL;
	return true;
}

void pd_memory_put(struct pd *pd, void *memory)
{
	if (memory != NULL)
		pd->free(&pd->ibv, pd->pd_context, memory, SEND_QUEUE);
}
