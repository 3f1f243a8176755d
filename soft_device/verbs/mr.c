/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mr.c -- memory regions: registering, changing and taking back.
 *
 * The kernel's core and rxe decide what may be registered. A region is in force while
 * its key is in the table; taking the key out then waits for all that may have seen it:
 * operations on memory hold the lock of the queue pair they came to.
 */
#include "mr.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_DEFINED(addr, length) ((void)0)
#endif

#include "held.h"
#include "objects.h"
#include "qp_check.h"
#include "soft_device/check/objects.h"
#include "soft_device/datapath/settle.h"
#include "soft_device/faults/call.h"
#include "soft_device/powerfail/powerfail.h"
#include "soft_device/process/mapping.h"
#include "soft_device/process/names.h"
#include "soft_device/transport/request.h"
#include "unmap.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define ACCESS_OPTIONAL 0x3ff00000u /* IB_UVERBS_ACCESS_OPTIONAL_RANGE: ignored if unknown */
/* include/rdma/ib_verbs.h: IB_ACCESS_SUPPORTED */
#define ACCESS_KNOWN ((SOFT_ACCESS_FLUSH_PERSISTENT << 1) - 1)
/* the rest is what drivers/infiniband/sw/rxe takes, RXE_ACCESS_SUPPORTED_MR, and ZERO_BASED */
#define ACCESS_REFUSED ((uint32_t)IBV_ACCESS_HUGETLB)
/* include/rdma/ib_verbs.h: ib_access_writable() */
#define ACCESS_WRITABLE                                                                            \
	((uint32_t)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |  \
		    IBV_ACCESS_MW_BIND))

static const char reg_mr[] = "ibv_reg_mr", rereg_mr[] = "ibv_rereg_mr";

#define BOUND "key %#x: a memory window is bound to it"

/* Both under the objects lock. */
static uint8_t key_generation[SEGMENT_MRS];
static bool withdrawn[SEGMENT_MRS]; /* without a key, but not free yet */
static uint32_t next_slot;

/* A region that a call cannot make of this memory. */
#define REFUSE_MEMORY(error, call, memory, format, ...)                                            \
	REFUSE_OF(error, call, "%llu bytes at %#llx: " format,                                     \
		  (unsigned long long)(memory)->length, (unsigned long long)(memory)->addr,        \
		  __VA_ARGS__)

/* include/rdma/ib_verbs.h: ib_check_mr_access(), then rxe_reg_user_mr() */
static int check_access(const char *call, const struct shared_mr *memory, uint32_t access)
{
	const uint32_t needs_local = (uint32_t)(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	const uint32_t unknown = access & (uint32_t) ~(ACCESS_KNOWN | ACCESS_OPTIONAL);
	char names[NAMES_BYTES];

	if ((access & needs_local) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)
		return REFUSE_MEMORY(-EINVAL, call, memory,
				     "%s needs IBV_ACCESS_LOCAL_WRITE as well",
				     names_of_access(access & needs_local, names));
	if (unknown != 0)
		return REFUSE_MEMORY(-EINVAL, call, memory, "unknown access flags %#x", unknown);
	if ((access & ACCESS_REFUSED) != 0)
		return REFUSE_MEMORY(-EOPNOTSUPP, call, memory, "%s is not supported",
				     names_of_access(access & ACCESS_REFUSED, names));
	return 0;
}

/* ib_uverbs_reg_mr() and ib_umem_get() */
static int check_range(const char *call, const struct shared_mr *memory)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t end;

	if (memory->length == 0)
		return REFUSE_MEMORY(-EINVAL, call, memory, "%s", "no bytes");
	if (memory->addr % page != memory->iova % page)
		return REFUSE_MEMORY(-EINVAL, call, memory,
				     "iova %#llx has another offset in a page",
				     (unsigned long long)memory->iova);
	if (__builtin_add_overflow(memory->addr, memory->length, &end) ||
	    __builtin_add_overflow(memory->iova, memory->length, &end))
		return REFUSE_MEMORY(-EINVAL, call, memory,
				     "they end beyond the last address (iova %#llx)",
				     (unsigned long long)memory->iova);
	return 0;
}

static int check_mapped(const char *call, const struct shared_mr *memory, uint32_t access)
{
	const bool writable = (access & ACCESS_WRITABLE) != 0;
	int error = 0;

	if ((access & IBV_ACCESS_ON_DEMAND) == 0)
		error = mapping_check(memory->addr, memory->length, writable);
	if (error != 0)
		return REFUSE_MEMORY(error, call, memory, "not all of it is mapped%s",
				     writable ? " and may be written" : "");
	/* rxe: "unable to register persistent access to non-pmem" */
	if ((access & SOFT_ACCESS_FLUSH_PERSISTENT) != 0 &&
	    !mapping_is_file(memory->addr, memory->length))
		return REFUSE_MEMORY(-EINVAL, call, memory, "%s",
				     "IBV_ACCESS_FLUSH_PERSISTENT, but it is not a file's");
	return 0;
}

/* A free slot of the table; the last one freed is used again as late as possible. */
static struct shared_mr *claim_slot(struct segment *segment, uint32_t *key)
{
	for (uint32_t tried = 0; tried < SEGMENT_MRS; tried++) {
		uint32_t index = next_slot;

		next_slot = (next_slot + 1) % SEGMENT_MRS;
		if (atomic_load(&segment->mr[index].key) != 0 || withdrawn[index])
			continue;
		key_generation[index] = (uint8_t)(key_generation[index] % UINT8_MAX + 1);
		*key = index << 8 | key_generation[index];
		return &segment->mr[index];
	}
	return NULL;
}

/* Pages that the program takes away from it are to be noticed. Objects lock held. */
static void watch(const struct shared_mr *shared, uint32_t key)
{
	if ((shared->access & ((uint32_t)IBV_ACCESS_ON_DEMAND | MR_NULL)) == 0)
		unmap_watch(key >> 8, shared->addr, shared->length);
}

/* Fills an entry of the table and puts it in force. */
static struct shared_mr *publish(const struct pd *pd, const struct shared_mr *wanted, uint32_t *key)
{
	struct process *process = process_current;
	struct shared_mr *shared;

	pthread_mutex_lock(&process_objects);
	shared = claim_slot(process->segment, key);
	if (shared != NULL) {
		shared->pd = pd->number | wanted->pd;
		shared->access = wanted->access;
		shared->file = wanted->file;
		shared->addr = wanted->addr;
		shared->length = wanted->length;
		shared->iova = wanted->iova;
		shared->last = (uint8_t)*key;
		shared->window = 0;
		watch(shared, *key);
		atomic_store_explicit(&shared->key, *key, memory_order_release);
	}
	pthread_mutex_unlock(&process_objects);
	return shared;
}

struct shared_mr *mr_take_window(const struct pd *pd, enum ibv_mw_type type, uint32_t *key)
{
	struct segment *segment = process_current->segment;
	struct shared_mr *window;

	pthread_mutex_lock(&process_objects);
	window = claim_slot(segment, key);
	if (window == segment->mr)
		window = claim_slot(segment, key); /* there a key of the program's could be 0 */
	if (window != NULL && window != segment->mr) {
		withdrawn[window - segment->mr] = true;
		window->pd = pd->number | MR_WINDOW;
		window->file = 0;
		window->last = (uint8_t)*key;
		window->length = 0;
		segment->window[window - segment->mr] = (struct shared_window){0, 0};
		window->window = (uint8_t)type;
	}
	pthread_mutex_unlock(&process_objects);
	return window == segment->mr ? NULL : window;
}

void mr_give_window(struct shared_mr *window)
{
	window->window = 0;
	withdrawn[window - process_current->segment->mr] = false;
}

bool mr_settle(struct mr *mr, uint64_t deadline_ns)
{
	return settle_qps(&mr->settled, deadline_ns);
}

/* The program has no rkey of a null region. */
static uint32_t key_of(const struct mr *mr)
{
	const uint32_t index = (uint32_t)(mr->shared - process_current->segment->mr);

	return index << 8 | mr->shared->last;
}

void mr_let_go(struct mr *mr)
{
	unmap_forget(key_of(mr));
	if (mr->memory_users != NULL)
		atomic_fetch_sub(mr->memory_users, 1);
	withdrawn[mr->shared - process_current->segment->mr] = false;
	objects_free(mr);
}

/*
 * Takes the key out and waits, without any lock, until no operation uses it. The entry is not used
 * again meanwhile. False: an operation of a process that is stopped may still be under way.
 */
static bool withdraw(struct mr *mr)
{
	const uint64_t deadline_ns = process_now_ns() + MR_SETTLE_NS;

	pthread_mutex_lock(&process_objects);
	withdrawn[mr->shared - process_current->segment->mr] = true;
	atomic_store(&mr->shared->key, 0);
	pthread_mutex_unlock(&process_objects);
	atomic_thread_fence(memory_order_seq_cst);
	mr->settled = 0;
	return mr_settle(mr, deadline_ns);
}

struct mr *mr_new(const char *call, struct pd *pd, const struct shared_mr *wanted)
{
	struct mr *mr = calloc(1, sizeof(*mr));
	uint32_t key;

	if (mr == NULL)
		return NULL;
	mr->shared = publish(pd, wanted, &key);
	if (mr->shared == NULL) {
		free(mr);
		return call_failed_null(
			REFUSE_MEMORY(ENOMEM, call, wanted, "%d regions exist", SEGMENT_MRS));
	}
	mr->generation = pd->generation;
	mr->ibv.context = pd->ibv.context;
	mr->ibv.pd = &pd->ibv;
	mr->ibv.addr = (void *)(uintptr_t)wanted->addr;
	mr->ibv.length = wanted->length;
	mr->ibv.handle = key >> 8;
	mr->ibv.lkey = check_lkey_given(key);
	mr->ibv.rkey = key;
	atomic_fetch_add(&pd->users, 1);
	if (check_any)
		qp_check_region(mr);
	return mr;
}

/* All memory of the process that there is, or will be. */
static bool is_implicit(const struct shared_mr *memory)
{
	return memory->addr == 0 && memory->length == UINT64_MAX;
}

static struct ibv_mr *reg(struct ibv_pd *ibv, void *start, size_t length, uint64_t iova,
			  uint32_t access)
{
	struct pd *pd = pd_of(ibv);
	struct shared_mr wanted = {.access = access & ~ACCESS_OPTIONAL,
				   .addr = (uint64_t)(uintptr_t)start,
				   .length = length,
				   .iova = iova};
	struct mr *mr = NULL;
	int error = fault_any ? -fault_register() : 0;

	if (error == 0)
		error = check_access(reg_mr, &wanted, access);
	if (error == 0 && is_implicit(&wanted) && (access & IBV_ACCESS_ON_DEMAND) == 0)
		error = REFUSE_MEMORY(-EINVAL, reg_mr, &wanted, "%s",
				      "an implicit region needs IBV_ACCESS_ON_DEMAND");
	if (error == 0)
		error = check_range(reg_mr, &wanted);
	if ((access & IBV_ACCESS_ZERO_BASED) != 0)
		wanted.iova = 0; /* any alignment of the address will do */
	if (error == 0)
		error = check_mapped(reg_mr, &wanted, access);
	if (error != 0)
		return call_failed_null(-error);
	if (powerfail_any)
		wanted.file = (uint16_t)powerfail_file(start, length);
	mr = mr_new(reg_mr, pd, &wanted);
	if (mr == NULL)
		return NULL;
	if ((access & IBV_ACCESS_LOCAL_WRITE) != 0 && !is_implicit(&wanted))
		VALGRIND_MAKE_MEM_DEFINED(start, length); /* peers write: memcheck cannot see it */
	return &mr->ibv;
}

SOFT_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	ENTER_NULL(pd_of(pd)->generation);
	return reg(pd, addr, length, (uint64_t)(uintptr_t)addr, (uint32_t)access);
}

SOFT_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
					   uint64_t iova, int access)
{
	ENTER_NULL(pd_of(pd)->generation);
	return reg(pd, addr, length, iova, (uint32_t)access);
}

SOFT_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
					    uint64_t iova, unsigned int access)
{
	/* verbs.h calls it by that name */
	ENTER_WITH("ibv_reg_mr", pd_of(pd)->generation, call_failed_null);
	return reg(pd, addr, length, iova, access);
}

/* Fills in the region, but for its domain; 0, or -errno. */
static int plan(const struct mr *mr, int flags, const struct shared_mr *changes,
		struct shared_mr *wanted)
{
	const bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
	const bool has_access = (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0;
	int error = 0;

	wanted->access = has_access ? changes->access : mr->shared->access;
	wanted->addr = moves ? changes->addr : mr->shared->addr;
	wanted->length = moves ? changes->length : mr->shared->length;
	wanted->iova = moves ? changes->addr : mr->shared->iova;
	if (mr->memory_users != NULL || (mr->shared->access & MR_NULL) != 0)
		return REFUSE_OF(-EINVAL, rereg_mr,
				 "key %#x: a null region, and one of device memory, stay as they "
				 "are",
				 mr->ibv.rkey);
	if (mw_is_bound_to(mr->ibv.rkey))
		return REFUSE_OF(-EINVAL, rereg_mr, BOUND, mr->ibv.rkey);
	if (has_access)
		error = check_access(rereg_mr, wanted, wanted->access);
	if (error == 0 && moves)
		error = check_range(rereg_mr, wanted);
	if (error == 0 && (moves || has_access))
		error = check_mapped(rereg_mr, wanted, wanted->access);
	if (moves && (wanted->access & IBV_ACCESS_ZERO_BASED) != 0)
		wanted->iova = 0;
	if (powerfail_any)
		wanted->file =
			(uint16_t)powerfail_file((void *)(uintptr_t)wanted->addr, wanted->length);
	wanted->access &= ~ACCESS_OPTIONAL;
	return error;
}

/* Without a key it is not in force: fills its entry again, and puts that in force. */
static void change(struct mr *mr, int flags, struct pd *new_pd, const struct shared_mr *wanted)
{
	const bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
	struct pd *old = pd_of(mr->ibv.pd);
	struct pd *pd = (flags & IBV_REREG_MR_CHANGE_PD) != 0 ? new_pd : old;
	struct shared_mr *shared = mr->shared;

	pthread_mutex_lock(&process_objects);
	withdrawn[shared - process_current->segment->mr] = false;
	if (moves)
		unmap_forget(mr->ibv.rkey);
	shared->pd = pd->number | (moves ? 0 : shared->pd & MR_UNMAPPED);
	shared->access = wanted->access;
	shared->file = wanted->file;
	shared->addr = wanted->addr;
	shared->length = wanted->length;
	shared->iova = wanted->iova;
	watch(shared, mr->ibv.rkey);
	mr->ibv.addr = (void *)(uintptr_t)wanted->addr;
	mr->ibv.length = wanted->length;
	mr->ibv.pd = &pd->ibv;
	atomic_fetch_sub(&old->users, 1);
	atomic_fetch_add(&pd->users, 1);
	atomic_store_explicit(&shared->key, mr->ibv.rkey, memory_order_release);
	pthread_mutex_unlock(&process_objects);
}

/* Errors before anything was changed. */
static int rereg(struct mr *mr, int flags, struct pd *pd, const struct shared_mr *changes)
{
	struct shared_mr *shared = mr->shared, wanted = {.pd = 0};
	pthread_mutex_t *objects = &process_objects;
	int error = plan(mr, flags, changes, &wanted);

	if (error != 0)
		return error;
	if (!withdraw(mr)) {
		pthread_mutex_lock(objects);
		atomic_store(&shared->key, mr->ibv.rkey); /* as it was */
		withdrawn[shared - process_current->segment->mr] = false;
		pthread_mutex_unlock(objects);
		return REFUSE_OF(-EBUSY, rereg_mr, "key %#x: a process that is stopped may use it",
				 mr->ibv.rkey);
	}
	change(mr, flags, pd, &wanted);
	if (check_any)
		qp_check_region_changed(mr);
	if ((wanted.access & IBV_ACCESS_LOCAL_WRITE) != 0)
		VALGRIND_MAKE_MEM_DEFINED(mr->ibv.addr, mr->ibv.length);
	return 0;
}

SOFT_EXPORT int ibv_rereg_mr(struct ibv_mr *ibv, int flags, struct ibv_pd *pd, void *addr,
			     size_t length, int access)
{
	const struct shared_mr changes = {
		.access = (uint32_t)access, .addr = (uint64_t)(uintptr_t)addr, .length = length};
	struct mr *mr = (struct mr *)ibv;
	int error = FAULT_CALL();

	if (error != 0) {
		errno = error;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (flags == 0 || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0 ||
	    ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0 && (addr == NULL || length == 0)) ||
	    ((flags & IBV_REREG_MR_CHANGE_PD) != 0 && pd == NULL) ||
	    (access != 0 && (flags & IBV_REREG_MR_CHANGE_ACCESS) == 0)) {
		REFUSE_OF(EINVAL, rereg_mr,
			  "key %#x: flags %#x and the arguments do not go together", ibv->rkey,
			  (unsigned)flags);
		return IBV_REREG_MR_ERR_INPUT;
	}
	error = process_is_foreign(mr->generation)
			? REFUSE_OF(-EIO, rereg_mr, "key %#x: " CALL_OF_PARENT, ibv->rkey)
			: rereg(mr, flags, pd_of(pd), &changes);
	if (error == 0)
		return 0;
	errno = -error;
	return IBV_REREG_MR_ERR_CMD;
}

SOFT_EXPORT int ibv_dereg_mr(struct ibv_mr *ibv)
{
	struct mr *mr = (struct mr *)ibv;
	bool settled;

	if (OBJECT_IS_GONE(OBJECT_MR, ibv))
		return call_error(EINVAL);
	ENTER(mr->generation);
	if (mw_is_bound_to(ibv->rkey))
		return REFUSE_OF(EINVAL, __func__, BOUND, ibv->rkey);
	if (check_any)
		qp_check_in_flight(key_of(mr));
	objects_gone(OBJECT_MR, ibv);
	atomic_fetch_sub(&pd_of(ibv->pd)->users, 1);
	settled = withdraw(mr);
	pthread_mutex_lock(&process_objects);
	if (settled)
		mr_let_go(mr);
	else
		held_add_mr(mr);
	pthread_mutex_unlock(&process_objects);
	return 0;
}
