/* SPDX-License-Identifier: BSD-3-Clause */
/* mr_more.c -- advice about regions with on-demand paging, and null regions. */
#include <errno.h>
#include <sys/mman.h>

#include "mr.h"
#include "objects.h"
#include "soft_device/datapath/mr_check.h"
#include "soft_device/faults/call.h"
#include "soft_device/process/mapping.h"

/* --- advice --- */

static const char advise_mr[] = "ibv_advise_mr";

static bool is_known(enum ibv_advise_mr_advice advice)
{
	return advice == IBV_ADVISE_MR_ADVICE_PREFETCH ||
	       advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE ||
	       advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
}

/* The errors of ibv_advise_mr(3). */
static int error_of(enum vendor_err why)
{
	switch (why) {
	case VENDOR_NONE:
		return 0;
	case VENDOR_KEY_PD:
	case VENDOR_KEY_RIGHT:
		return EPERM;
	case VENDOR_KEY_RANGE:
	case VENDOR_UNMAPPED:
		return EFAULT;
	case VENDOR_WINDOW_USE:
		return EINVAL;
	default:
		return ENOENT;
	}
}

static int check_part(const struct pd *pd, const struct ibv_sge *sge, bool write)
{
	const struct segment *segment = process_current->segment;
	const uint32_t key = check_lkey_taken(sge->lkey);
	const enum vendor_err why = mr_reason(segment, key, pd->number, sge->addr, sge->length,
					      write ? (uint32_t)IBV_ACCESS_LOCAL_WRITE : 0);

	if (why != VENDOR_NONE)
		return REFUSE_OF(error_of(why), advise_mr, "key %#x: %u bytes at %#llx: %s", key,
				 sge->length, (unsigned long long)sge->addr, vendor_err_text(why));
	if ((segment->mr[key >> 8].access & IBV_ACCESS_ON_DEMAND) == 0)
		return REFUSE_OF(ENOENT, advise_mr,
				 "key %#x: registered without IBV_ACCESS_ON_DEMAND", key);
	return 0;
}

static int prefetch(const struct pd *pd, const struct ibv_sge *sge, bool write)
{
	const uint32_t key = check_lkey_taken(sge->lkey);
	uint64_t memory;

	if (sge->length == 0 || mr_check(process_current->segment, key, pd->number, sge->addr,
					 sge->length, 0, &memory) == NULL)
		return 0;
	return -mapping_populate(memory, sge->length, write);
}

/*
 * The pages are there when it returns, with IBV_ADVISE_MR_FLAG_FLUSH and without; what cannot be
 * had is told with the flag alone, as where the kernel postpones it.
 */
int mr_advise(struct ibv_pd *ibv, enum ibv_advise_mr_advice advice, uint32_t flags,
	      struct ibv_sge *sge, uint32_t num_sge)
{
	const bool write = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	const struct pd *pd = pd_of(ibv);
	int error = 0;

	ENTER_AS(advise_mr, pd->generation);
	if (!is_known(advice))
		return REFUSE(EOPNOTSUPP, advise_mr, "unknown advice %d", (int)advice);
	if ((flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH) != 0)
		return REFUSE(EINVAL, advise_mr, "unknown flags %#x", flags);
	if (num_sge == 0)
		return REFUSE(EINVAL, advise_mr, "num_sge is 0");
	for (uint32_t i = 0; i < num_sge && error == 0; i++)
		error = check_part(pd, &sge[i], write);
	if (error != 0 || advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return error;
	for (uint32_t i = 0; i < num_sge && error == 0; i++)
		error = prefetch(pd, &sge[i], write);
	if (error == 0 || (flags & IBV_ADVISE_MR_FLAG_FLUSH) == 0)
		return 0;
	return REFUSE(error, advise_mr, "not all of the range is mapped%s",
		      write ? " and may be written" : "");
}

/* --- null regions --- */

/* The region behind all of them, made once: see MR_NULL. Objects lock. */
static void *nowhere;

static void *make_nowhere(void)
{
	const size_t bytes = SOFT_MAX_MESSAGE;
	void *made = nowhere;

	if (made != NULL)
		return made;
	made = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	if (mprotect((unsigned char *)made + bytes, bytes, PROT_READ) != 0) {
		munmap(made, 2 * bytes);
		return NULL;
	}
	return nowhere = made;
}

struct ibv_mr *mr_alloc_null(struct ibv_pd *ibv)
{
	struct shared_mr wanted = {.pd = MR_UNMAPPED,
				   .access = (uint32_t)IBV_ACCESS_LOCAL_WRITE | MR_NULL,
				   .length = UINT64_MAX};
	struct mr *mr;
	void *memory;

	ENTER_WITH("ibv_alloc_null_mr", pd_of(ibv)->generation, call_failed_null);
	pthread_mutex_lock(&process_objects);
	memory = make_nowhere();
	pthread_mutex_unlock(&process_objects);
	if (memory == NULL)
		return NULL;
	wanted.addr = (uint64_t)(uintptr_t)memory;
	mr = mr_new("ibv_alloc_null_mr", pd_of(ibv), &wanted);
	if (mr == NULL)
		return NULL;
	mr->ibv.addr = NULL;
	mr->ibv.rkey = 0; /* it has none */
	return &mr->ibv;
}
