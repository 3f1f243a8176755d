/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dm.c -- device memory: memory of this process, which the program reaches by the two copies and
 * by regions that begin at 0.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mr.h"
#include "objects.h"
#include "soft_device/faults/call.h"

#define ALIGNMENT 4u  /* copies have it in offset and length, as with NICs */
#define LOG_MOST  12u /* log_align_req goes up to a page */

struct dm {
	struct ibv_dm ibv; /* first */
	unsigned char *memory;
	size_t length;
	_Atomic uint32_t users; /* regions */
};

static _Atomic size_t used; /* bytes, by all of them */

static struct dm *dm_of(struct ibv_dm *ibv)
{
	return (struct dm *)ibv;
}

static int check_copy(const char *call, const struct dm *dm, uint64_t offset, size_t length)
{
	if (offset % ALIGNMENT != 0 || length % ALIGNMENT != 0)
		return REFUSE(EINVAL, call, "%zu bytes at %llu; expected multiples of %u", length,
			      (unsigned long long)offset, ALIGNMENT);
	if (offset > dm->length || length > dm->length - offset)
		return REFUSE(EINVAL, call, "%zu bytes at %llu of %zu", length,
			      (unsigned long long)offset, dm->length);
	return 0;
}

static int copy_to(struct ibv_dm *ibv, uint64_t offset, const void *host, size_t length)
{
	int error = FAULT_CALL_AS("ibv_memcpy_to_dm");

	if (error == 0)
		error = check_copy("ibv_memcpy_to_dm", dm_of(ibv), offset, length);
	if (error != 0)
		return call_error(error);
	memcpy(dm_of(ibv)->memory + offset, host, length);
	return 0;
}

static int copy_from(void *host, struct ibv_dm *ibv, uint64_t offset, size_t length)
{
	int error = FAULT_CALL_AS("ibv_memcpy_from_dm");

	if (error == 0)
		error = check_copy("ibv_memcpy_from_dm", dm_of(ibv), offset, length);
	if (error != 0)
		return call_error(error);
	memcpy(host, dm_of(ibv)->memory + offset, length);
	return 0;
}

/* Zeroed, and NULL where the device has no more of it. */
static void *take(size_t length, uint32_t log_alignment)
{
	const size_t alignment = log_alignment < 6 ? 64 : (size_t)1 << log_alignment;
	void *memory = NULL;

	if (atomic_fetch_add(&used, length) + length <= SOFT_MAX_DM &&
	    posix_memalign(&memory, alignment, length) == 0)
		return memset(memory, 0, length);
	atomic_fetch_sub(&used, length);
	return NULL;
}

static const char alloc_dm[] = "ibv_alloc_dm";

/* In the child of a fork(), too: no process but this one has to do with it. */
struct ibv_dm *dm_alloc(struct ibv_context *ibv, struct ibv_alloc_dm_attr *attr)
{
	int error = FAULT_CALL_AS(alloc_dm);
	struct dm *dm;

	if (error == 0 && attr->comp_mask != 0)
		error = REFUSE(EINVAL, alloc_dm, "unknown comp_mask %#x", attr->comp_mask);
	if (error == 0 && (attr->length == 0 || attr->length > SOFT_MAX_DM))
		error = REFUSE(EINVAL, alloc_dm, "%zu bytes, expected 1 to %u", attr->length,
			       SOFT_MAX_DM);
	if (error == 0 && attr->log_align_req > LOG_MOST)
		error = REFUSE(EINVAL, alloc_dm, "log_align_req %u, expected 0 to %u",
			       attr->log_align_req, LOG_MOST);
	if (error != 0)
		return call_failed_null(error);
	dm = calloc(1, sizeof(*dm));
	if (dm == NULL)
		return NULL;
	dm->memory = take(attr->length, attr->log_align_req);
	if (dm->memory == NULL) {
		free(dm);
		return call_failed_null(
			REFUSE(ENOMEM, alloc_dm, "%zu bytes, of %u", attr->length, SOFT_MAX_DM));
	}
	dm->length = attr->length;
	dm->ibv.context = ibv;
	dm->ibv.memcpy_to_dm = copy_to;
	dm->ibv.memcpy_from_dm = copy_from;
	atomic_fetch_add(&context_of(ibv)->users, 1);
	return &dm->ibv;
}

int dm_free(struct ibv_dm *ibv)
{
	struct dm *dm = dm_of(ibv);
	int error = FAULT_CALL_AS("ibv_free_dm");

	if (error != 0)
		return call_error(error);
	if (atomic_load(&dm->users) != 0)
		return REFUSE(EBUSY, "ibv_free_dm", "%u memory regions are in it",
			      atomic_load(&dm->users));
	atomic_fetch_sub(&used, dm->length);
	atomic_fetch_sub(&context_of(ibv->context)->users, 1);
	free(dm->memory);
	free(dm);
	return 0;
}

static const char reg_dm_mr[] = "ibv_reg_dm_mr";

struct ibv_mr *dm_reg_mr(struct ibv_pd *ibv, struct ibv_dm *ibv_dm, uint64_t offset, size_t length,
			 unsigned int access)
{
	const unsigned known = (unsigned)IBV_ACCESS_LOCAL_WRITE |
			       (unsigned)IBV_ACCESS_REMOTE_WRITE |
			       (unsigned)IBV_ACCESS_REMOTE_READ |
			       (unsigned)IBV_ACCESS_REMOTE_ATOMIC | (unsigned)IBV_ACCESS_ZERO_BASED;
	struct dm *dm = dm_of(ibv_dm);
	struct shared_mr wanted = {.access = access, .length = length};
	struct mr *mr;

	ENTER_WITH(reg_dm_mr, pd_of(ibv)->generation, call_failed_null);
	/* UVERBS_METHOD_DM_MR_REG */
	if ((access & IBV_ACCESS_ZERO_BASED) == 0 || (access & ~known) != 0)
		return call_failed_null(REFUSE(EINVAL, reg_dm_mr,
					       "access %#x; IBV_ACCESS_ZERO_BASED has to be in "
					       "it, and no on-demand paging or window",
					       access));
	if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0 &&
	    (access & IBV_ACCESS_LOCAL_WRITE) == 0)
		return call_failed_null(REFUSE(EINVAL, reg_dm_mr,
					       "access %#x needs IBV_ACCESS_LOCAL_WRITE as well",
					       access));
	if (offset > dm->length || length > dm->length - offset)
		return call_failed_null(REFUSE(EINVAL, reg_dm_mr, "%zu bytes at %llu of %zu",
					       length, (unsigned long long)offset, dm->length));
	wanted.addr = (uint64_t)(uintptr_t)dm->memory + offset;
	mr = mr_new(reg_dm_mr, pd_of(ibv), &wanted);
	if (mr == NULL)
		return NULL;
	mr->memory_users = &dm->users;
	atomic_fetch_add(&dm->users, 1);
	mr->ibv.addr = NULL; /* none that the program could use */
	return &mr->ibv;
}
