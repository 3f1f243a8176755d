/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pool_header.c -- headers byte for byte as PMDK writes them, and the ring of parts. */
#include "common/base/failure.h"
#include "golden_headers.h"
#include "tests/lib/test.h"
#include "tools/rpmemd/pool_header.h"

static struct pool_header decoded(enum golden which)
{
	uint8_t bytes[POOL_HEADER_BYTES];
	struct pool_header header;

	golden_header(which, bytes);
	assert_int_equal(pool_header_decode("/a", bytes, &header), 0);
	return header;
}

TEST(checksums_are_those_of_pmdk)
{
	uint8_t bytes[POOL_HEADER_BYTES];

	for (enum golden i = 0; i < GOLDEN_HEADERS; i++) {
		golden_header(i, bytes);
		assert_int_equal(pool_header_checksum(bytes), golden_headers[i].checksum);
	}
}

TEST(headers_come_back_byte_for_byte)
{
	uint8_t golden[POOL_HEADER_BYTES], bytes[POOL_HEADER_BYTES];

	for (enum golden i = 0; i < GOLDEN_HEADERS; i++) {
		const struct pool_header header = decoded(i);

		golden_header(i, golden);
		memset(bytes, 0, sizeof(bytes));
		pool_header_encode(&header, bytes);
		assert_memory_equal(bytes, golden, sizeof(bytes));
	}
}

/* The values that `pmempool info` printed of the header. */
TEST(fields_are_those_of_the_remote_part)
{
	static const unsigned char uuid[] = {0xea, 0x33, 0x87, 0x24, 0xb6, 0x47, 0xaa, 0x48,
					     0x91, 0xeb, 0xe7, 0x9a, 0xfa, 0xa9, 0x35, 0x97};
	const struct pool_header header = decoded(GOLDEN_REMOTE);
	const struct rpmem_pool_attr *attr = &header.attr;

	assert_memory_equal(attr->signature, "PMEMOBJ", 8);
	EQUAL((attr->major, 6), (attr->compat_features, 1), (attr->incompat_features, 6),
	      (attr->ro_compat_features, 0), (attr->poolset_uuid[0], 0x70));
	assert_memory_equal(attr->uuid, uuid, sizeof(uuid));
	assert_memory_equal(header.previous_part, uuid, sizeof(uuid));
	assert_memory_equal(header.next_part, uuid, sizeof(uuid));
	EQUAL((attr->prev_uuid[0], 0x14), (attr->next_uuid[0], 0x14),
	      (header.created_s, 0x6b035aa2), (attr->user_flags[0], 0x10));
}

/* prev_uuid is before next_uuid in the file, and after it in the struct. */
TEST(neighbours_are_not_mixed_up)
{
	struct pool_header header = decoded(GOLDEN_REMOTE);
	uint8_t bytes[POOL_HEADER_BYTES] = {0};

	memset(header.attr.prev_uuid, 1, 16);
	memset(header.attr.next_uuid, 2, 16);
	memset(header.previous_part, 3, 16);
	memset(header.next_part, 4, 16);
	pool_header_encode(&header, bytes);
	EQUAL((bytes[56], 3), (bytes[72], 4), (bytes[88], 1), (bytes[104], 2));
}

TEST(golden_rings_verify)
{
	const struct pool_header single = decoded(GOLDEN_FIRST_4K);
	const struct pool_header ring[] = {decoded(GOLDEN_RING_2K_1), decoded(GOLDEN_RING_2K_2),
					   decoded(GOLDEN_RING_2K_3)};

	EQUAL((pool_header_verify("p", &single, 1), 0), (pool_header_verify("p", ring, 3), 0),
	      (pool_header_verify("p", ring, 1), -EINVAL),
	      (pool_header_verify("p", ring, 2), -EINVAL));
}

TEST(a_pool_made_like_pmdks_has_its_bytes)
{
	const enum golden which[] = {GOLDEN_RING_2K_1, GOLDEN_RING_2K_2, GOLDEN_RING_2K_3};
	const struct rpmem_pool_attr attr = decoded(which[0]).attr;
	struct pool_header headers[3];
	uint8_t golden[POOL_HEADER_BYTES], bytes[POOL_HEADER_BYTES];

	memset(headers, 0, sizeof(headers));
	for (size_t i = 0; i < 3; i++) {
		headers[i].attr = decoded(which[i]).attr;
		headers[i].created_s = decoded(which[i]).created_s;
	}
	pool_header_change(headers, 3, &attr);
	for (size_t i = 0; i < 3; i++) {
		golden_header(which[i], golden);
		memset(bytes, 0, sizeof(bytes));
		pool_header_encode(&headers[i], bytes);
		assert_memory_equal(bytes, golden, sizeof(bytes));
	}
}

/* The checksum covers them, or not; the shutdown state of PMDK is among them. */
TEST(bytes_of_others_stay)
{
	static const struct {
		enum golden which;
		bool is_covered;
	} cases[] = {{GOLDEN_FIRST_2K, false}, {GOLDEN_FIRST_4K, true}};
	uint8_t bytes[POOL_HEADER_BYTES];

	for (size_t i = 0; i < 2; i++) {
		struct pool_header header = decoded(cases[i].which);

		golden_header(cases[i].which, bytes);
		bytes[4024] = 0x5a;
		assert_int_equal(pool_header_decode("/a", bytes, &header),
				 cases[i].is_covered ? -EINVAL : 0);
		pool_header_encode(&header, bytes);
		EQUAL((bytes[4024], 0x5a), (pool_header_decode("/a", bytes, &header), 0));
	}
}

TEST(every_covered_bit_counts)
{
	uint8_t bytes[POOL_HEADER_BYTES];
	struct pool_header header;

	golden_header(GOLDEN_FIRST_4K, bytes);
	for (size_t at = 0; at < POOL_HEADER_BYTES; at++) {
		if (at == 16) /* its bits choose what is covered */
			continue;
		bytes[at] ^= 0x10;
		assert_int_equal(pool_header_decode("/a", bytes, &header), -EINVAL);
		bytes[at] ^= 0x10;
	}
	assert_non_null(strstr(failure_get()->text, "/a"));
}

TEST(zeros_are_no_header)
{
	uint8_t bytes[POOL_HEADER_BYTES] = {0};
	struct pool_header header;

	EQUAL((pool_header_is_empty(bytes), true),
	      (pool_header_decode("/mnt/a", bytes, &header), -EINVAL),
	      (failure_get()->text, HAS("/mnt/a has no pool header")));
	bytes[4095] = 1;
	assert_false(pool_header_is_empty(bytes));
}

/* Each field that all headers of a pool share. */
TEST(headers_of_two_pools_are_refused)
{
	struct pool_header ring[3];
	unsigned char *shared[] = {
		(unsigned char *)ring[1].attr.signature,
		(unsigned char *)&ring[1].attr.major,
		(unsigned char *)&ring[1].attr.compat_features,
		(unsigned char *)&ring[1].attr.incompat_features,
		(unsigned char *)&ring[1].attr.ro_compat_features,
		ring[1].attr.poolset_uuid,
		ring[1].attr.prev_uuid,
		ring[1].attr.next_uuid,
		ring[1].attr.user_flags,
		ring[1].attr.uuid,
		ring[1].previous_part,
		ring[1].next_part,
		ring[0].next_part,
		ring[2].previous_part,
		ring[2].next_part,
	};

	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		ring[0] = decoded(GOLDEN_RING_2K_1);
		ring[1] = decoded(GOLDEN_RING_2K_2);
		ring[2] = decoded(GOLDEN_RING_2K_3);
		*shared[i] ^= 1;
		assert_int_equal(pool_header_verify("p", ring, 3), -EINVAL);
	}
}

TEST(create_fills_in_what_is_zero)
{
	static const unsigned char zeros[16];
	struct rpmem_pool_attr attr = {.signature = "ABC", .major = 1};
	struct pool_header headers[2];
	uint8_t first[POOL_HEADER_BYTES] = {0}, golden[POOL_HEADER_BYTES];

	memset(headers, 0, sizeof(headers));
	EQUAL((pool_header_create(headers, 2, &attr), 0), (pool_header_verify("p", headers, 2), 0));
	assert_memory_not_equal(headers[0].attr.uuid, zeros, 16);
	assert_memory_not_equal(headers[0].attr.poolset_uuid, zeros, 16);
	assert_memory_not_equal(headers[0].attr.uuid, headers[0].attr.poolset_uuid, 16);
	assert_memory_not_equal(headers[1].attr.uuid, headers[0].attr.uuid, 16);
	assert_memory_equal(headers[0].attr.prev_uuid, headers[0].attr.uuid, 16);
	assert_memory_equal(headers[0].attr.next_uuid, headers[0].attr.uuid, 16);
	pool_header_encode(&headers[0], first);
	golden_header(GOLDEN_FIRST_2K, golden);
#ifdef __x86_64__
	assert_memory_equal(first + 128, golden + 128, 16);
#endif
}

TEST(create_keeps_what_is_given)
{
	const struct rpmem_pool_attr attr = decoded(GOLDEN_REMOTE).attr;
	struct pool_header header;

	memset(&header, 0, sizeof(header));
	header.created_s = 0x6b035aa2;
	assert_int_equal(pool_header_create(&header, 1, &attr), 0);
	assert_memory_equal(&header.attr, &attr, sizeof(attr));
}

/* A new uuid of the first part changes two fields of the ring beside it. */
TEST(change_keeps_the_uuids_of_other_parts)
{
	struct pool_header ring[] = {decoded(GOLDEN_RING_2K_1), decoded(GOLDEN_RING_2K_2),
				     decoded(GOLDEN_RING_2K_3)};
	const struct pool_header old = ring[1];
	struct rpmem_pool_attr attr = {.signature = "NEW"};

	memset(attr.uuid, 7, sizeof(attr.uuid));
	pool_header_change(ring, 3, &attr);
	assert_int_equal(pool_header_verify("p", ring, 3), 0);
	assert_memory_equal(&ring[0].attr, &attr, sizeof(attr));
	assert_memory_equal(ring[1].attr.uuid, old.attr.uuid, 16);
	assert_memory_equal(ring[1].attr.signature, "NEW", 4);
	assert_memory_equal(ring[1].previous_part, attr.uuid, 16);
	assert_memory_equal(ring[2].next_part, attr.uuid, 16);
	assert_memory_equal(ring[1].next_part, old.next_part, 16);
	assert_int_equal(ring[1].created_s, old.created_s);
}
