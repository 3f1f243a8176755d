/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq_ex.c -- extended completion queues: ibv_create_cq_ex(), and polling them completion by
 * completion.
 *
 * A poll copies the completion out, and the read functions look at the copy: a thread holds
 * cq->polling from ibv_start_poll() to ibv_end_poll(), as others may poll the same queue. The
 * clock of the device is CLOCK_MONOTONIC in nanoseconds: query_rt_values() reads it, and
 * completions are stamped with it when they are pushed, if the CQ was made for stamps.
 */
#include <errno.h>
#include <time.h>

#include "cq.h"
#include "objects.h"
#include "soft_device/faults/call.h"

#define STAMPS                                                                                     \
	((uint64_t)IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |                                           \
	 (uint64_t)IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
#define READABLE ((uint64_t)IBV_WC_STANDARD_FLAGS | STAMPS)
#define FLAGS                                                                                      \
	((uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED | (uint32_t)IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)

static struct cq *cq_of_ex(struct ibv_cq_ex *ex)
{
	return (struct cq *)ex;
}

/* --- the completion it has come to --- */

#define READ(type, field)                                                                          \
	static type read_##field(struct ibv_cq_ex *ex)                                             \
	{                                                                                          \
		return cq_of_ex(ex)->current.field;                                                \
	}
READ(enum ibv_wc_opcode, opcode)
READ(uint32_t, vendor_err)
READ(uint32_t, byte_len)
READ(__be32, imm_data)
READ(uint32_t, qp_num)
READ(uint32_t, src_qp)
READ(unsigned int, wc_flags)
READ(uint32_t, slid)
READ(uint8_t, sl)
READ(uint8_t, dlid_path_bits)
#undef READ

static uint64_t read_completion_ts(struct ibv_cq_ex *ex)
{
	return cq_of_ex(ex)->stamp_ns;
}

static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *ex)
{
	const uint64_t age_ns = process_now_ns() - cq_of_ex(ex)->stamp_ns;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - age_ns;
}

/* --- the iterator --- */

static int poll_one(struct cq *cq)
{
	if (!cq_poll_one(cq))
		return ENOENT;
	cq->ex.wr_id = cq->current.wr_id;
	cq->ex.status = cq->current.status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct cq *cq = cq_of_ex(ex);
	int error;

	ENTER_AS("ibv_start_poll", cq->generation);
	if (attr->comp_mask != 0)
		return REFUSE_OF(EINVAL, "ibv_start_poll", "CQ %u: unknown comp_mask %#x",
				 cq->index, attr->comp_mask);
	pthread_mutex_lock(&cq->polling);
	error = poll_one(cq);
	cq->in_poll = error == 0;
	if (error != 0)
		pthread_mutex_unlock(&cq->polling);
	return error;
}

static int next_poll(struct ibv_cq_ex *ex)
{
	struct cq *cq = cq_of_ex(ex);

	if (!cq->in_poll)
		return REFUSE_OF(EINVAL, "ibv_next_poll", "CQ %u: no ibv_start_poll() before it",
				 cq->index);
	return poll_one(cq);
}

/* After ibv_start_poll() failed it should not be called, but programs do. */
static void end_poll(struct ibv_cq_ex *ex)
{
	struct cq *cq = cq_of_ex(ex);

	if (!cq->in_poll)
		return;
	cq->in_poll = false;
	pthread_mutex_unlock(&cq->polling);
}

/* --- making --- */

/* A field that was not asked for may not be read: as with a NIC, the pointer stays NULL. */
static void fill(struct ibv_cq_ex *ex, uint64_t wc_flags)
{
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;
#define SET(flag, pointer)                                                                         \
	do {                                                                                       \
		if (wc_flags & (uint64_t)(flag))                                                   \
			ex->pointer = pointer;                                                     \
	} while (0)
	SET(IBV_WC_EX_WITH_BYTE_LEN, read_byte_len);
	SET(IBV_WC_EX_WITH_IMM, read_imm_data);
	SET(IBV_WC_EX_WITH_QP_NUM, read_qp_num);
	SET(IBV_WC_EX_WITH_SRC_QP, read_src_qp);
	SET(IBV_WC_EX_WITH_SLID, read_slid);
	SET(IBV_WC_EX_WITH_SL, read_sl);
	SET(IBV_WC_EX_WITH_DLID_PATH_BITS, read_dlid_path_bits);
	SET(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, read_completion_ts);
	SET(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK, read_completion_wallclock_ns);
#undef SET
}

static const char create_cq_ex[] = "ibv_create_cq_ex";

static int check(const struct ibv_context *ibv, const struct ibv_cq_init_attr_ex *attr,
		 uint32_t flags)
{
	const uint32_t known =
		(uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS | (uint32_t)IBV_CQ_INIT_ATTR_MASK_PD;

	if ((attr->comp_mask & ~known) != 0)
		return REFUSE(EOPNOTSUPP, create_cq_ex, "comp_mask %#x is not supported",
			      attr->comp_mask & ~known);
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0 &&
	    (attr->parent_domain == NULL || attr->parent_domain->context != ibv ||
	     pd_of(attr->parent_domain)->parent_of == NULL))
		return REFUSE(EINVAL, create_cq_ex, "no parent domain of this context");
	if ((attr->wc_flags & ~READABLE) != 0)
		return REFUSE(EOPNOTSUPP, create_cq_ex, "wc_flags %#llx are not supported",
			      (unsigned long long)(attr->wc_flags & ~READABLE));
	if ((flags & ~FLAGS) != 0)
		return REFUSE(EOPNOTSUPP, create_cq_ex, "unknown flags %#x", flags & ~FLAGS);
	return 0;
}

struct ibv_cq_ex *cq_create_ex(struct ibv_context *ibv, struct ibv_cq_init_attr_ex *attr)
{
	const uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
	struct cq *cq;
	int error;

	ENTER_WITH(create_cq_ex, context_of(ibv)->generation, call_failed_null);
	error = check(ibv, attr, flags);
	if (error != 0)
		return call_failed_null(error);
	cq = cq_make(create_cq_ex, context_of(ibv), attr, (attr->wc_flags & STAMPS) != 0,
		     (flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) != 0);
	if (cq == NULL)
		return NULL;
	fill(&cq->ex, attr->wc_flags);
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
		cq->parent_domain = pd_of(attr->parent_domain);
		atomic_fetch_add(&cq->parent_domain->users, 1);
	}
	return &cq->ex;
}

int query_rt_values(struct ibv_context *ibv, struct ibv_values_ex *values)
{
	const uint32_t known = IBV_VALUES_MASK_RAW_CLOCK;

	ENTER_AS("ibv_query_rt_values_ex", context_of(ibv)->generation);
	if ((values->comp_mask & ~known) != 0)
		return REFUSE(EINVAL, "ibv_query_rt_values_ex", "unknown comp_mask %#x",
			      values->comp_mask & ~known);
	/* ticks, as from mlx4 and mlx5; there is a second's room in tv_nsec and far more */
	if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK)
		values->raw_clock = (struct timespec){.tv_nsec = (long)process_now_ns()};
	return 0;
}
