/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_header.c -- the codec of headers, and the ring of a pool's parts. */
#include "pool_header.h"

#include <elf.h>
#include <errno.h>
#include <stdalign.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

#include "common/base/bytes.h"
#include "reason.h"

#define UUID_BYTES	   RPMEM_POOL_HDR_UUID_LEN
#define FIELDS_BYTES	   144
#define CHECKSUM_OFFSET	   4088
#define SHORT_CK_BYTES	   2048
#define INCOMPAT_OFFSET	   16
#define ARCH_DATA_LITTLE   1
#define ARCH_CLASS_64_BITS 2

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__powerpc64__)
#define MACHINE EM_PPC64
#elif defined(__riscv)
#define MACHINE EM_RISCV
#else
#define MACHINE EM_NONE
#endif

static bool is_zero(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++) {
		if (at[i] != 0)
			return false;
	}
	return true;
}

bool pool_header_is_empty(const uint8_t bytes[POOL_HEADER_BYTES])
{
	return is_zero(bytes, POOL_HEADER_BYTES);
}

bool pool_header_no_attr(const struct rpmem_pool_attr *attr)
{
	return attr == NULL || is_zero(attr, sizeof(*attr));
}

static uint32_t word_at(const uint8_t *bytes, size_t offset)
{
	struct bytes_reader r = {bytes + offset, 4, false};

	return (uint32_t)bytes_get_int(&r, 4);
}

/* Fletcher's over words of 32 bits; what is not covered counts as zeros. */
uint64_t pool_header_checksum(const uint8_t bytes[POOL_HEADER_BYTES])
{
	const bool is_short = word_at(bytes, INCOMPAT_OFFSET) & POOL_HEADER_SHORT_CK;
	const size_t end = is_short ? SHORT_CK_BYTES : CHECKSUM_OFFSET;
	uint32_t low = 0, high = 0;

	for (size_t at = 0; at < POOL_HEADER_BYTES; at += 4) {
		low += at < end ? word_at(bytes, at) : 0;
		high += low;
	}
	return (uint64_t)high << 32 | low;
}

/* --- architecture flags --------------------------------------------------------------- */

/* Four bits for each basic type: its alignment - 1. */
static uint64_t alignment_flags(void)
{
	static const size_t alignments[] = {
		alignof(char),	    alignof(short),	  alignof(int),	   alignof(long),
		alignof(long long), alignof(size_t),	  alignof(off_t),  alignof(float),
		alignof(double),    alignof(long double), alignof(void *),
	};
	uint64_t flags = 0;

	for (size_t i = 0; i < sizeof(alignments) / sizeof(alignments[0]); i++)
		flags |= (uint64_t)(alignments[i] - 1) << (4 * i);
	return flags;
}

static void put_arch_flags(unsigned char flags[RPMEM_POOL_USER_FLAGS_LEN])
{
	struct bytes_writer w = bytes_write_to(flags, RPMEM_POOL_USER_FLAGS_LEN);

	bytes_put_int(&w, alignment_flags(), 8);
	bytes_put_int(&w, ARCH_CLASS_64_BITS, 1);
	bytes_put_int(&w, ARCH_DATA_LITTLE, 1);
	bytes_put_int(&w, 0, 4);
	bytes_put_int(&w, MACHINE, 2);
}

/* --- uuids ---------------------------------------------------------------------------- */

/* Version 4 of RFC 4122, section 4.4, its first three fields little-endian as PMDK's are. */
static int make_uuid(unsigned char uuid[UUID_BYTES])
{
	if (getrandom(uuid, UUID_BYTES, 0) != UUID_BYTES)
		return reason_set(errno, "no random numbers for a uuid: %s", strerror(errno));
	uuid[7] = (unsigned char)((uuid[7] & 0x0f) | 0x40);
	uuid[8] = (unsigned char)((uuid[8] & 0x3f) | 0x80);
	return 0;
}

static int make_uuid_if_zero(unsigned char uuid[UUID_BYTES])
{
	return is_zero(uuid, UUID_BYTES) ? make_uuid(uuid) : 0;
}

static void copy_if_zero(unsigned char uuid[UUID_BYTES], const unsigned char from[UUID_BYTES])
{
	if (is_zero(uuid, UUID_BYTES))
		memcpy(uuid, from, UUID_BYTES);
}

static void make_ring(struct pool_header headers[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pool_header *previous = &headers[(i + count - 1) % count];
		const struct pool_header *next = &headers[(i + 1) % count];

		memcpy(headers[i].previous_part, previous->attr.uuid, UUID_BYTES);
		memcpy(headers[i].next_part, next->attr.uuid, UUID_BYTES);
	}
}

/* All but the part's own uuid. */
static void set_attr(struct pool_header *header, const struct rpmem_pool_attr *attr)
{
	unsigned char own[UUID_BYTES];

	memcpy(own, header->attr.uuid, UUID_BYTES);
	header->attr = *attr;
	memcpy(header->attr.uuid, own, UUID_BYTES);
}

int pool_header_create(struct pool_header headers[], size_t count,
		       const struct rpmem_pool_attr *attr)
{
	struct rpmem_pool_attr full = *attr;
	int ret = make_uuid_if_zero(full.poolset_uuid);

	if (ret == 0)
		ret = make_uuid_if_zero(full.uuid);
	copy_if_zero(full.prev_uuid, full.uuid);
	copy_if_zero(full.next_uuid, full.uuid);
	if (is_zero(full.user_flags, sizeof(full.user_flags)))
		put_arch_flags(full.user_flags);
	for (size_t i = 1; ret == 0 && i < count; i++)
		ret = make_uuid(headers[i].attr.uuid);
	if (ret)
		return ret;
	pool_header_change(headers, count, &full);
	return 0;
}

void pool_header_change(struct pool_header headers[], size_t count,
			const struct rpmem_pool_attr *attr)
{
	for (size_t i = 0; i < count; i++)
		set_attr(&headers[i], attr);
	memcpy(headers[0].attr.uuid, attr->uuid, UUID_BYTES);
	make_ring(headers, count);
}

/* --- codec ---------------------------------------------------------------------------- */

static void code_fields(struct bytes_codec *c, struct pool_header *header)
{
	struct rpmem_pool_attr *attr = &header->attr;

	bytes_code(c, attr->signature, sizeof(attr->signature));
	bytes_code_int(c, attr->major, 4);
	bytes_code_int(c, attr->compat_features, 4);
	bytes_code_int(c, attr->incompat_features, 4);
	bytes_code_int(c, attr->ro_compat_features, 4);
	bytes_code(c, attr->poolset_uuid, UUID_BYTES);
	bytes_code(c, attr->uuid, UUID_BYTES);
	bytes_code(c, header->previous_part, UUID_BYTES);
	bytes_code(c, header->next_part, UUID_BYTES);
	bytes_code(c, attr->prev_uuid, UUID_BYTES);
	bytes_code(c, attr->next_uuid, UUID_BYTES);
	bytes_code_int(c, header->created_s, 8);
	bytes_code(c, attr->user_flags, sizeof(attr->user_flags));
}

void pool_header_encode(const struct pool_header *header, uint8_t bytes[POOL_HEADER_BYTES])
{
	struct bytes_writer checksum = bytes_write_to(bytes + CHECKSUM_OFFSET, 8);
	struct bytes_codec fields = bytes_writing(bytes, FIELDS_BYTES);
	struct pool_header copy = *header;

	code_fields(&fields, &copy);
	bytes_put_int(&checksum, pool_header_checksum(bytes), 8);
}

int pool_header_decode(const char *name, const uint8_t bytes[POOL_HEADER_BYTES],
		       struct pool_header *header)
{
	struct bytes_reader checksum = {bytes + CHECKSUM_OFFSET, 8, false};
	struct bytes_codec fields = bytes_reading(bytes, FIELDS_BYTES);

	if (pool_header_is_empty(bytes))
		return reason_set(EINVAL, "%s has no pool header: its first %d bytes are zeros",
				  name, POOL_HEADER_BYTES);
	if (bytes_get_int(&checksum, 8) != pool_header_checksum(bytes))
		return reason_set(EINVAL, "the pool header of %s has a wrong checksum", name);
	code_fields(&fields, header);
	return 0;
}

/* --- one pool ------------------------------------------------------------------------- */

static bool same_pool(const struct pool_header *first, const struct pool_header *other)
{
	struct rpmem_pool_attr attr = other->attr;

	memcpy(attr.uuid, first->attr.uuid, UUID_BYTES);
	return memcmp(&attr, &first->attr, sizeof(attr)) == 0;
}

int pool_header_verify(const char *name, const struct pool_header headers[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pool_header *next = &headers[(i + 1) % count];

		if (!same_pool(&headers[0], &headers[i]))
			return reason_set(EINVAL, "%s: part %zu is of another pool than part 1",
					  name, i + 1);
		if (memcmp(headers[i].next_part, next->attr.uuid, UUID_BYTES) != 0 ||
		    memcmp(next->previous_part, headers[i].attr.uuid, UUID_BYTES) != 0)
			return reason_set(EINVAL, "%s: part %zu is not followed by part %zu", name,
					  i + 1, (i + 1) % count + 1);
	}
	return 0;
}
