/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mr.c -- local memory regions: what usage means in verbs, registration and
 * its fall-backs, descriptors and advice.
 */
#include "mr.h"
#include "log.h"
#include "native.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static const int usage_flush =
	RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;

static const int usage_all = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST |
			     RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST |
			     RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
			     RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT | RPMA_MR_USAGE_SEND |
			     RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_ATOMIC;

/* The access that usage needs of every device; a flush by read is a read. */
static unsigned access_plain(const struct rpma_device_caps *caps, int usage)
{
	unsigned access = 0;

	if (usage & (RPMA_MR_USAGE_READ_SRC | usage_flush))
		access |= IBV_ACCESS_REMOTE_READ;
	if (usage & (RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_RECV))
		access |= IBV_ACCESS_LOCAL_WRITE;
	if (usage & RPMA_MR_USAGE_WRITE_DST)
		access |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
	if (usage & RPMA_MR_USAGE_ATOMIC)
		access |= IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE;
	if (caps->iwarp && (usage & RPMA_MR_USAGE_READ_DST))
		access |= IBV_ACCESS_REMOTE_WRITE;
	return access;
}

/* The access that usage needs in addition for the native flush, 0 if there is none. */
static unsigned access_native_flush(const struct rpma_device_caps *caps, int usage)
{
	unsigned access = 0;

	if (caps->flush && (usage & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY))
		access |= RPMA_ACCESS_FLUSH_GLOBAL;
	if (caps->flush && (usage & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT))
		access |= RPMA_ACCESS_FLUSH_PERSISTENT;
	return access;
}

struct ibv_mr *rpma_mr_register(const struct rpma_peer *peer, void *ptr, size_t size, int usage,
				bool *native_flush)
{
	unsigned access = access_plain(&peer->caps, usage);
	unsigned flush = access_native_flush(&peer->caps, usage);
	struct ibv_mr *mr;

	/*
	 * Both ways at once: readers flush by read, peers with native flush
	 * natively. A device refuses the persistent type for memory that is
	 * none (EINVAL of rxe_reg_user_mr() in Linux); reading serves there.
	 */
	if (flush) {
		mr = ibv_reg_mr(peer->pd, ptr, size, access | flush);
		if (mr != NULL) {
			*native_flush = true;
			return mr;
		}
		if (errno != EINVAL && errno != EOPNOTSUPP)
			return NULL;
		RPMA_LOG_INFO("not registered for the native flush, only for the flush by read: %s",
			      strerror(errno));
	}

	mr = ibv_reg_mr(peer->pd, ptr, size, access);
	if (mr == NULL && errno == EOPNOTSUPP && peer->caps.odp)
		mr = ibv_reg_mr(peer->pd, ptr, size, access | IBV_ACCESS_ON_DEMAND);
	return mr;
}

int rpma_mr_reg(struct rpma_peer *peer, void *ptr, size_t size, int usage,
		struct rpma_mr_local **mr_ptr)
{
	bool native_flush = false;

	if (peer == NULL || ptr == NULL || mr_ptr == NULL)
		return RPMA_FAIL_NULL(peer, ptr, mr_ptr);
	if (size == 0)
		return RPMA_FAIL(RPMA_E_INVAL, "size is 0");
	if (usage == 0 || (usage & ~usage_all) != 0)
		return RPMA_FAIL(RPMA_E_INVAL, "usage is 0x%x, expected some of the bits 0x%x",
				 (unsigned)usage, (unsigned)usage_all);
	if ((usage & RPMA_MR_USAGE_ATOMIC) && !peer->caps.atomics) {
		RPMA_LOG_ERROR("the device %s has no atomics", peer->pd->context->device->name);
		return RPMA_E_NOSUPP;
	}

	struct rpma_mr_local *mr = malloc(sizeof(*mr));
	if (mr == NULL)
		return RPMA_FAIL_NOMEM(sizeof(*mr));

	struct ibv_mr *ibv_mr = rpma_mr_register(peer, ptr, size, usage, &native_flush);
	if (ibv_mr == NULL) {
		RPMA_LOG_ERRNO(errno, "ibv_reg_mr(%s, addr=%p, length=%zu, usage=0x%x)",
			       peer->pd->context->device->name, ptr, size, (unsigned)usage);
		free(mr);
		return RPMA_E_PROVIDER;
	}

	*mr = (struct rpma_mr_local){
		.addr = (uint64_t)(uintptr_t)ibv_mr->addr,
		.lkey = ibv_mr->lkey,
		.usage = (uint16_t)usage,
		.native_flush = native_flush,
		.ibv_mr = ibv_mr,
	};
	*mr_ptr = mr;
	return 0;
}

int rpma_mr_dereg(struct rpma_mr_local **mr_ptr)
{
	int ret = 0;

	if (mr_ptr == NULL)
		return RPMA_FAIL_NULL(mr_ptr);
	struct rpma_mr_local *mr = *mr_ptr;
	if (mr == NULL)
		return 0;

	int err = ibv_dereg_mr(mr->ibv_mr);
	if (err) {
		RPMA_LOG_ERRNO(err, "ibv_dereg_mr(addr=0x%" PRIx64 ")", mr->addr);
		ret = RPMA_E_PROVIDER;
	}
	free(mr);
	*mr_ptr = NULL;
	return ret;
}

int rpma_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc)
{
	if (mr == NULL || desc == NULL)
		return RPMA_FAIL_NULL(mr, desc);

	const struct rpma_mr_remote seen_from_there = {
		.addr = mr->addr,
		.size = mr->ibv_mr->length,
		.rkey = mr->ibv_mr->rkey,
		.usage = mr->usage,
		.native_flush = mr->native_flush,
	};
	rpma_mr_desc_encode(&seen_from_there, desc);
	return 0;
}

int rpma_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size)
{
	if (mr == NULL || desc_size == NULL)
		return RPMA_FAIL_NULL(mr, desc_size);

	*desc_size = RPMA_MR_DESC_SIZE;
	return 0;
}

int rpma_mr_get_ptr(const struct rpma_mr_local *mr, void **ptr)
{
	if (mr == NULL || ptr == NULL)
		return RPMA_FAIL_NULL(mr, ptr);

	*ptr = mr->ibv_mr->addr;
	return 0;
}

int rpma_mr_get_size(const struct rpma_mr_local *mr, size_t *size)
{
	if (mr == NULL || size == NULL)
		return RPMA_FAIL_NULL(mr, size);

	*size = mr->ibv_mr->length;
	return 0;
}

int rpma_mr_advise(struct rpma_mr_local *mr, size_t offset, size_t len, int advice, uint32_t flags)
{
	if (mr == NULL)
		return RPMA_FAIL_NULL(mr);
	if (offset > mr->ibv_mr->length || len > mr->ibv_mr->length - offset)
		return RPMA_FAIL(RPMA_E_INVAL, "offset %zu and len %zu are not in a region of %zu",
				 offset, len, mr->ibv_mr->length);
	if (len > UINT32_MAX)
		return RPMA_FAIL(RPMA_E_INVAL, "len is %zu, expected at most %" PRIu32, len,
				 UINT32_MAX);

	struct ibv_sge sge = {
		.addr = mr->addr + offset,
		.length = (uint32_t)len,
		.lkey = mr->lkey,
	};
	int err = ibv_advise_mr(mr->ibv_mr->pd, (enum ibv_advise_mr_advice)advice, flags, &sge, 1);
	if (err == 0)
		return 0;

	RPMA_LOG_ERRNO(err, "ibv_advise_mr(offset=%zu, length=%zu, advice=%d, flags=0x%" PRIx32 ")",
		       offset, len, advice, flags);
	switch (err) {
	case EOPNOTSUPP: /* is ENOTSUP too */
		return RPMA_E_NOSUPP;
	case EFAULT:
	case EINVAL:
		return RPMA_E_INVAL;
	default:
		return RPMA_E_PROVIDER;
	}
}
