/* SPDX-License-Identifier: BSD-3-Clause */
/* provider_verbs.c -- the scripted device, its protection domains and its memory regions. */
#include "provider_objects.h"

static struct ibv_device device;
static struct verbs_context verbs_context;
static uint32_t next_key;

/* --- device -------------------------------------------------------------- */

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *in,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	if (calls_fail("ibv_query_device_ex"))
		return errno;
	memcpy(attr, &provider.device_attr, attr_size < sizeof(*attr) ? attr_size : sizeof(*attr));
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	if (calls_fail(__func__))
		return errno;
	*attr = provider.device_attr.orig_attr;
	return 0;
}

/* --- protection domains and memory --------------------------------------- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct pd *pd;

	if (calls_fail(__func__))
		return NULL;
	pd = calls_own_memory(sizeof(*pd));
	pd->base.context = context;
	provider.pd = &pd->base;
	provider.live.pd++;
	return &pd->base;
}

int ibv_dealloc_pd(struct ibv_pd *base)
{
	struct pd *pd = (struct pd *)base;
	bool failed = calls_fail(__func__);

	if (pd->users > 0)
		return EBUSY;
	provider.live.pd--;
	calls_own_free(pd);
	return failed ? errno : 0;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr;
	bool failed = calls_fail("ibv_reg_mr");

	provider.reg_mr.addr = addr;
	provider.reg_mr.length = length;
	provider.reg_mr.access = access;
	if (failed)
		return NULL;
	if (provider.reg_mr_errno_without_odp != 0 && !(access & IBV_ACCESS_ON_DEMAND)) {
		errno = provider.reg_mr_errno_without_odp;
		return NULL;
	}
	mr = calls_own_memory(sizeof(*mr));
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->lkey = 0x10000 + next_key;
	mr->rkey = 0x20000 + next_key;
	next_key++;
	((struct pd *)pd)->users++;
	provider.live.mr++;
	return mr;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return reg_mr(pd, addr, length, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	if (iova != (uintptr_t)addr)
		provider_break_rule("a region was registered at a foreign iova");
	return reg_mr(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	bool failed = calls_fail(__func__);

	((struct pd *)mr->pd)->users--;
	provider.live.mr--;
	calls_own_free(mr);
	return failed ? errno : 0;
}

static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		     struct ibv_sge *sg_list, uint32_t num_sge)
{
	provider.advise_mr.advice = advice;
	provider.advise_mr.flags = flags;
	provider.advise_mr.sge = sg_list[0];
	provider.advise_mr.num_sge = num_sge;
	return calls_fail("ibv_advise_mr") ? errno : 0;
}

/* --- start of a test ----------------------------------------------------- */

void provider_reset_verbs(void)
{
	next_key = 0;
	memset(&device, 0, sizeof(device));
	strcpy(device.name, "scripted0");
	device.node_type = IBV_NODE_CA;
	device.transport_type = IBV_TRANSPORT_IB;
	memset(&verbs_context, 0, sizeof(verbs_context));
	verbs_context.sz = sizeof(verbs_context);
	verbs_context.query_device_ex = query_device_ex;
	verbs_context.advise_mr = advise_mr;
	verbs_context.modify_cq = provider_modify_cq;
	verbs_context.context.device = &device;
	verbs_context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	provider.context = &verbs_context.context;
	provider.transport = &device.transport_type;
}
