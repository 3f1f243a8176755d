/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mr_desc.c -- a memory region on the wire. All integers little endian,
 * nothing aligned:
 *
 *	 0  u64  address of the first byte
 *	 8  u64  length in bytes
 *	16  u32  rkey
 *	20  u8   usage, the first eight RPMA_MR_USAGE_* bits
 *	21  u8   flags, ours: bit 0 the region accepts the native flush as well,
 *		 bit 1 it is for atomics
 *
 * The first 21 bytes are what every librpma writes, and readers of that form
 * ignore what follows. The flags are trusted only in a descriptor of exactly
 * 22 bytes: a longer one is a 21-byte descriptor in a larger field, whose tail
 * may be anything.
 *
 * Readers of 21 bytes look at no usage but the flush types. So where a program has room for no
 * more, READ_SRC tells how the region flushes: it is cleared if the region accepts the native
 * flush, and set if it has to be read.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>

#include "log.h"
#include "mr.h"

enum { FLAG_NATIVE_FLUSH = 1, FLAG_ATOMIC = 2 };

static const int usage_flush =
	RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;

void rpma_mr_desc_encode(const struct rpma_mr_remote *mr, uint8_t *desc)
{
	uint64_t addr = htole64(mr->addr);
	uint64_t size = htole64(mr->size);
	uint32_t rkey = htole32(mr->rkey);

	memcpy(desc, &addr, sizeof(addr));
	memcpy(desc + 8, &size, sizeof(size));
	memcpy(desc + 16, &rkey, sizeof(rkey));
	desc[20] = (uint8_t)mr->usage;
	desc[21] = (uint8_t)((mr->native_flush ? FLAG_NATIVE_FLUSH : 0) |
			     (mr->usage & RPMA_MR_USAGE_ATOMIC ? FLAG_ATOMIC : 0));
}

void rpma_mr_desc_shorten(uint8_t *desc)
{
	if (!(desc[20] & usage_flush))
		return;
	if (desc[21] & FLAG_NATIVE_FLUSH)
		desc[20] &= (uint8_t)~RPMA_MR_USAGE_READ_SRC;
	else
		desc[20] |= RPMA_MR_USAGE_READ_SRC;
}

/* RPMA_E_INVAL: too short. RPMA_E_NOSUPP: no valid region. *mr is set on success. */
static int rpma_mr_desc_decode(const uint8_t *desc, size_t desc_size, struct rpma_mr_remote *mr)
{
	uint64_t addr, size;
	uint32_t rkey;

	if (desc_size < RPMA_MR_DESC_BASE_SIZE) {
		RPMA_LOG_ERROR("a memory region descriptor of %zu bytes, at least %d needed",
			       desc_size, RPMA_MR_DESC_BASE_SIZE);
		return RPMA_E_INVAL;
	}

	memcpy(&addr, desc, sizeof(addr));
	memcpy(&size, desc + 8, sizeof(size));
	memcpy(&rkey, desc + 16, sizeof(rkey));
	*mr = (struct rpma_mr_remote){
		.addr = le64toh(addr),
		.size = le64toh(size),
		.rkey = le32toh(rkey),
		.usage = desc[20],
	};
	if (desc_size == RPMA_MR_DESC_SIZE && (desc[21] & FLAG_ATOMIC))
		mr->usage |= RPMA_MR_USAGE_ATOMIC;
	if (mr->usage == 0 || mr->size == 0 || mr->size - 1 > UINT64_MAX - mr->addr) {
		RPMA_LOG_ERROR("no valid memory region: address 0x%" PRIx64 ", length %" PRIu64
			       ", usage 0x%x",
			       mr->addr, mr->size, mr->usage);
		return RPMA_E_NOSUPP;
	}

	/*
	 * A peer of 1.2 allows reads only; one of 1.3 on a device with native flush allows that,
	 * and reads only for READ_SRC; ours has set the bit. Reading suits all three where it is
	 * there, but in a peer of 1.3 it is weaker than what 1.3 would do.
	 */
	if (desc_size == RPMA_MR_DESC_SIZE) {
		mr->native_flush = (desc[21] & FLAG_NATIVE_FLUSH) != 0;
		return 0;
	}
	mr->native_flush = (mr->usage & RPMA_MR_USAGE_READ_SRC) == 0;
	mr->may_be_1_3 = !mr->native_flush;
	return 0;
}

int rpma_mr_remote_from_descriptor(const void *desc, size_t desc_size,
				   struct rpma_mr_remote **mr_ptr)
{
	struct rpma_mr_remote decoded;

	if (desc == NULL || mr_ptr == NULL)
		return RPMA_FAIL_NULL(desc, mr_ptr);

	int ret = rpma_mr_desc_decode(desc, desc_size, &decoded);
	if (ret)
		return ret;

	struct rpma_mr_remote *mr = malloc(sizeof(*mr));
	if (mr == NULL)
		return RPMA_FAIL_NOMEM(sizeof(*mr));
	*mr = decoded;
	*mr_ptr = mr;

	RPMA_LOG_DEBUG("remote region: address 0x%" PRIx64 ", length %" PRIu64 ", rkey 0x%" PRIx32
		       ", usage 0x%x, flush %s",
		       mr->addr, mr->size, mr->rkey, mr->usage,
		       mr->native_flush ? "native or read" : "read");
	return 0;
}

int rpma_mr_remote_get_size(const struct rpma_mr_remote *mr, size_t *size)
{
	if (mr == NULL || size == NULL)
		return RPMA_FAIL_NULL(mr, size);

	*size = mr->size;
	return 0;
}

int rpma_mr_remote_get_flush_type(const struct rpma_mr_remote *mr, int *flush_type)
{
	if (mr == NULL || flush_type == NULL)
		return RPMA_FAIL_NULL(mr, flush_type);

	*flush_type = mr->usage & usage_flush;
	return 0;
}

int rpma_mr_remote_delete(struct rpma_mr_remote **mr_ptr)
{
	if (mr_ptr == NULL)
		return RPMA_FAIL_NULL(mr_ptr);

	free(*mr_ptr);
	*mr_ptr = NULL;
	return 0;
}
